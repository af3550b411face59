"""The page to read to extend anything: every Protocol an extension may implement, its registry beside it.

One class, one decorator:

    @RETRIEVERS.register("bm25")
    class Bm25(Component):
        \"\"\"Okapi BM25 over lower-cased words (Robertson & Zaragoza 2009).\"\"\"
        k1: float = Field(1.5, ge=0, description="how fast repeated terms stop adding score")

A user's own modules are named in the settings (`plugins: [my_evaluators]`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from core.corpus import Catalog, Chunk, Document
from core.records import Case, Hit, Judgement, Output, Result
from core.registry import Registry

# --- systems: Case → Output ------------------------------------------------------------------------------------


@runtime_checkable
class System(Protocol):
    """What is being evaluated.

    `concurrency` is how many cases may be asked at once (1: one after another). `ask` raises SystemFailure for
    a failure of the case; whatever else it raises is recorded as an exception of that case. `close` frees
    what `ask` holds (clients, pools) and may be called twice.
    """

    concurrency: int

    def ask(self, case: Case) -> Output: ...

    def close(self) -> None: ...


@runtime_checkable
class BatchSystem(System, Protocol):
    """A system that answers many cases cheaper than one by one. Yields outputs in any order; a case that fails
    yields an Output with `failure`, so that one failure costs one case."""

    def ask_many(self, cases: Sequence[Case]) -> Iterator[Output]: ...


SYSTEMS: Registry[System] = Registry("system")


# --- retrieval ------------------------------------------------------------------------------------------------


class Chunker(Protocol):
    """Cuts a document into chunks whose text is `document.text[start:end]`."""

    def chunk(self, document: Document) -> list[Chunk]: ...


class Index(Protocol):
    """A searchable corpus.

    `search` returns, for each query, at most `k` hits, best first, ties broken by corpus order; a score of 0 is
    not a hit. `allowed` restricts each query to positions in the corpus (None: all); it is exact.
    `all_scores` is (queries × corpus), for fusion.
    """

    def search(
        self, queries: Sequence[str], k: int, allowed: Sequence[Sequence[int] | None] | None = None
    ) -> list[list[Hit]]: ...

    def all_scores(self, queries: Sequence[str]) -> Any: ...


class Retriever(Protocol):
    """Builds an index over chunks (or any items with `chunk_id`, `text`, `title`)."""

    def index(self, chunks: Sequence[Chunk]) -> Index: ...


class Reranker(Protocol):
    """Reorders the first hits of a ranking; never adds or drops one."""

    def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]: ...


CHUNKERS: Registry[Chunker] = Registry("chunking", shipped=["core.retrieval.chunking"])
RETRIEVERS: Registry[Retriever] = Registry(
    "retriever", shipped=["core.retrieval.lexical", "core.retrieval.dense", "core.retrieval.hybrid"]
)
RERANKERS: Registry[Reranker] = Registry("reranker", shipped=["core.retrieval.rerank"])


# --- answers --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Draft:
    """An answerer's reply: the text, the ids of the hits it cites, and how it came about (published mode name)."""

    text: str
    cited_ids: tuple[str, ...] = ()
    mode: str = ""
    signals: Mapping[str, Any] = field(default_factory=dict)


class Answerer(Protocol):
    """Writes an answer from the context it is given. The seam for LLM answers."""

    def answer(self, case: Case, context: Sequence[Hit]) -> Draft: ...


ANSWERERS: Registry[Answerer] = Registry("answer mode", shipped=["core.systems.answering"])


# --- metrics --------------------------------------------------------------------------------------------------

MetricKind = Literal["binary", "bounded", "count", "unbounded", "duration", "money"]


@dataclass(frozen=True, slots=True)
class Metric:
    """What a number means. `direction` is +1 (higher is better), -1 or 0 (neither); `kind` decides the interval.

    `formula`, `inputs` and `empty` (the rule for empty input) are plain text for the reference page; `source`
    cites; `version` changes when the definition does. `function` is the public single-case function.
    """

    name: str
    title: str
    family: str
    kind: MetricKind = "bounded"
    direction: Literal[-1, 0, 1] = 1
    low: float | None = 0.0
    high: float | None = 1.0
    unit: str = ""
    formula: str = ""
    inputs: str = ""
    empty: str = "None when its input is empty"
    source: str = ""
    version: str = "1"
    function: Callable[..., Any] | None = None
    headline: bool = False


METRICS: dict[str, Metric] = {}


def metric(**fields: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator for a single-case metric function: files a `Metric` under its published name.

    Put it on top of another `@metric` where one function gives several published names.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        add_metric(Metric(function=function, **fields))
        return function

    return decorate


def add_metric(info: Metric) -> Metric:
    """File a metric; the same name twice with another meaning is a programming error."""
    present = METRICS.get(info.name)
    if present is not None and (present.formula, present.family) != (info.formula, info.family):
        raise ValueError(f"metric '{info.name}' is declared twice with different meanings")
    METRICS[info.name] = info
    return info


def add_metrics(
    rows: Iterable[tuple[str, str, int, str, str, str]], *, headline: Collection[str] = (), **common: Any
) -> None:
    """File a family of metrics that one function gives: (name, title, direction, kind, formula, source) a row.
    Counts have no upper bound, all others end at 1."""
    for name, title, direction, kind, formula, source in rows:
        own: Any = {"direction": direction, "kind": kind, "high": None if kind == "count" else 1.0}
        add_metric(
            Metric(
                name=name,
                title=title,
                formula=formula,
                source=source,
                headline=name in headline,
                **own,
                **common,
            )
        )


# --- judges ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Material:
    """What a judge is shown, by role ("question", "answer", "context", "claim", "source"…). All of it is
    untrusted text; `subject` says in a few words what is judged, for the record."""

    parts: Mapping[str, str]
    subject: str = ""


@runtime_checkable
class Judge(Protocol):
    """Turns (rubric, material) into a Judgement. Raises JudgeFailure when there is no usable answer: never a
    default score. `decides` is False where its scores are shown but may not decide a verdict."""

    provider: str
    model: str
    decides: bool
    concurrency: int

    def judge(self, rubric: str, material: Material) -> Judgement: ...

    def fingerprint(self, rubric: str) -> str: ...


JUDGES: Registry[Judge] = Registry("judge")


# --- evaluation -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Target:
    """What an evaluator may know about the system before cases are asked: its tools and its corpus (None where
    the system does not say), and whether documents can be planted in it."""

    tools: tuple[Any, ...] = ()
    corpus: Mapping[str, str] | None = None
    can_plant: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScoringContext:
    """What scoring may look at besides (Case, Output): the corpus the system searched, the code list, a judge.
    None means the run has none."""

    documents: Mapping[str, Document] | None = None
    chunks: Sequence[Chunk] | None = None
    catalog: Catalog | None = None
    judge: Judge | None = None
    top_k: int = 8
    settings: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Evaluator(Protocol):
    """Judges outputs. `propose` names the cases it wants asked (it never calls the system); `evaluate` is a pure
    function of its arguments and turns what it cannot decide into ERROR, never into a score."""

    def propose(self, target: Target) -> Sequence[Case]: ...

    def evaluate(self, case: Case, output: Output, material: ScoringContext) -> Result: ...


EVALUATORS: Registry[Evaluator] = Registry("evaluator")
