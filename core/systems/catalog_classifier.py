"""The local classifier: ranks the codes of a code list by their texts (`ted_cpv`).

Order of one query: clean → (translate or enrich) → rank the catalogue texts → fuse with the examples' ranking →
rerank by words, by a cross-encoder, by a language model. Scores are rankings, not probabilities: no confidence
is given.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Protocol

from core.contracts import RERANKERS, RETRIEVERS
from core.corpus import Catalog
from core.errors import ConfigError, Problem, SystemFailure
from core.records import Case, Failure, Hit, Output, Usage
from core.retrieval import dense, hybrid, lexical, rerank  # noqa: F401 - they register themselves
from core.retrieval.stages import Stages
from core.settings import RunSettings
from core.systems.catalog_texts import (
    CatalogItem,
    Example,
    code_of,
    comparable,
    labels,
    text_items,
    word_items,
)
from core.systems.tender_query import clean

RRF_K = 60
EXAMPLE_POOL = 200
WORD_RETRIEVERS = ("bm25", "tfidf")


class CodeReranker(Protocol):
    """Reorders the first hits of a ranking; returns the signals worth keeping with them."""

    def rerank(self, query: str, hits: Sequence[Hit]) -> tuple[list[Hit], dict[str, Any]]: ...


class QueryWriter(Protocol):
    """Writes another query (a translation, an enrichment): text, published status, usage."""

    def write(self, query: str, mode: str) -> tuple[str, str, Usage | None]: ...


class CatalogClassifier:
    """Ranks codes. `examples` are training texts: the caller has removed those of the test's own notices.
    `expected` are the cases that will be asked: a model encodes them all at once, which pads less.

    Raises ConfigError for components that cannot be built (a missing extra, model or key), before any case.
    """

    concurrency = 1

    def __init__(
        self,
        settings: RunSettings,
        catalog: Catalog,
        stages: Stages,
        *,
        examples: Sequence[Example] = (),
        expected: Sequence[Case] = (),
        cross_encoder: CodeReranker | None = None,
        llm: CodeReranker | None = None,
        writer: QueryWriter | None = None,
    ) -> None:
        self.settings, self.catalog, self.stages = settings, catalog, stages
        self.examples = tuple(examples)
        self.expected = tuple(expected) if writer is None else ()
        self._known: dict[str, _Asked] = {}
        self.cross_encoder, self.llm, self.writer = cross_encoder, llm, writer
        if settings.query_augmentation != "none" and writer is None:
            raise ConfigError(
                "query augmentation needs a language model",
                [Problem("query_augmentation", "no model is configured", hint="set a key, or use none")],
            )
        if settings.cpv_notice_examples_channel and not self.examples:
            raise ConfigError(
                "the channel of example notices has no examples",
                [
                    Problem(
                        "cpv_notice_examples_channel",
                        "nothing to search",
                        hint="give --cpv-notices, or examples in the code list",
                    )
                ],
            )
        used = self.examples if settings.cpv_use_examples else ()
        self.by_words = settings.retriever in WORD_RETRIEVERS
        self.stems = settings.analyzer == "stems"
        self.items = (
            word_items(catalog, settings.cpv_languages, used, stems=self.stems)
            if self.by_words
            else text_items(catalog, settings.cpv_languages, used)
        )
        self.retriever: Any = RETRIEVERS.create(
            {"type": settings.retriever, **settings.retriever_options},
            model=settings.embedding_model,
            alpha=settings.hybrid_alpha,
            fusion=settings.hybrid_fusion,
            analyzer="words" if self.by_words else settings.analyzer,
        )
        if hasattr(self.retriever, "model"):
            stages.encoder(self.retriever.model)

    @cached_property
    def index(self) -> Any:
        return self.stages.index(self.items, self.retriever.spec())

    @cached_property
    def example_items(self) -> tuple[CatalogItem, ...]:
        return tuple(
            CatalogItem(f"{each.code}#{number}", self._searched(each.text, each.language))
            for number, each in enumerate(self.examples)
        )

    @cached_property
    def example_index(self) -> Any:
        return self.stages.index(self.example_items, self.retriever.spec())

    def ask(self, case: Case) -> Output:
        """Classify one text. Raises SystemFailure where it cannot be done."""
        (output,) = self.ask_many([case])
        if output.failure is not None:
            raise SystemFailure(output.failure.message, output.failure.kind)
        return output

    def ask_many(self, cases: Sequence[Case]) -> Iterator[Output]:
        """Classify many; what a model must encode or multiply goes in one batch. A failure costs its own case
        only."""
        asked: list[tuple[Case, _Asked]] = []
        for case in cases:
            try:
                ready = self._known.pop(case.id) if case.id in self._known else self._query(case)
                asked.append((case, ready))
            except Exception as error:  # noqa: BLE001 - a writer may raise anything; it costs this case
                yield _failed(case, error)
        queries = [query.searched for _, query in asked]
        shares = {"embed": self._prepare(queries)}
        began = time.perf_counter()
        found = self._search(self.index, queries, self._pool * self._texts_a_code)
        shares["retrieve"] = (time.perf_counter() - began) * 1000 / max(1, len(queries))
        near: Sequence[list[Hit] | None] = [None] * len(queries)
        if self.settings.cpv_notice_examples_channel:
            near = self._search(self.example_index, queries, EXAMPLE_POOL)
        for (case, query), hits, examples in zip(asked, found, near, strict=True):
            try:
                yield self._classify(case, query, hits, examples, shares)
            except Exception as error:  # noqa: BLE001 - whatever happens on one case is a record of that case
                yield _failed(case, error)

    def close(self) -> None:
        """Frees what the rerankers hold; may be called any number of times."""
        for part in (self.cross_encoder, self.llm, self.writer):
            getattr(part, "close", lambda: None)()

    def _query(self, case: Case) -> _Asked:
        settings = self.settings
        cleaned = clean(case.query, case.language)
        text = cleaned.cleaned if settings.cpv_clean_query else case.query
        status, usage, began = "disabled", None, time.perf_counter()
        if self.writer is not None and settings.query_augmentation != "none":
            text, status, usage = self.writer.write(text, settings.query_augmentation)
        signals = {
            "retriever": settings.retriever,
            "cleaned_query": cleaned.cleaned,
            "object_query": cleaned.main_object,
            "retrieval_query": text,
            "query_augmentation_mode": settings.query_augmentation,
            "query_augmentation_status": status,
            "llm_rerank_status": "disabled",
        }
        searched = self._searched(text, None if status == "success" else case.language)
        return _Asked(text, searched, signals, usage, (time.perf_counter() - began) * 1000)

    def _searched(self, text: str, language: str | None) -> str:
        """A text as the index compares it."""
        return comparable(text, language, stems=self.stems) if self.by_words else text

    def _prepare(self, queries: Sequence[str]) -> float:
        """Encode all queries at once; each one's share of the time, in milliseconds."""
        prepare = getattr(self.index, "prepare", None)
        if self.by_words or prepare is None or not queries:
            return 0.0
        began = time.perf_counter()
        if self.expected:
            self._known = {case.id: self._query(case) for case in self.expected}
            prepare([query.searched for query in self._known.values()])
            self.expected = ()
        prepare(list(queries))
        return (time.perf_counter() - began) * 1000 / len(queries)

    @staticmethod
    def _search(index: Any, queries: Sequence[str], k: int) -> Sequence[list[Hit] | None]:
        """The rankings of all queries; None for each where the index cannot take them together."""
        try:
            found: list[list[Hit]] = index.search(list(queries), k)
        except Exception:  # noqa: BLE001 - each is then searched alone: what fails costs its own case
            return [None] * len(queries)
        return found

    @cached_property
    def _pool(self) -> int:
        """How many codes the rerankers and the fusion see."""
        settings = self.settings
        return max(
            settings.top_k,
            settings.rerank_top_n,
            settings.cross_encoder_top_n if self.cross_encoder else 0,
            settings.llm_rerank_top_n if self.llm else 0,
            EXAMPLE_POOL if settings.cpv_notice_examples_channel else 0,
        )

    def _classify(
        self,
        case: Case,
        asked: _Asked,
        found: list[Hit] | None,
        near: list[Hit] | None,
        shares: Mapping[str, float],
    ) -> Output:
        settings, pool = self.settings, self._pool
        stages = {"augment": asked.milliseconds, **shares}
        signals = dict(asked.signals)
        if found is None:
            (found,) = self.index.search([asked.searched], pool * self._texts_a_code)
        hits = self._codes(found, pool)
        if settings.cpv_notice_examples_channel:
            if near is None:
                (near,) = self.example_index.search([asked.searched], EXAMPLE_POOL)
            hits = _timed(stages, "examples", lambda: self._with_examples(near, hits))
        hits = hits[:pool]
        if settings.rerank_top_n:
            hits = _timed(stages, "rerank", lambda: self._by_words(asked.text, hits))
        usage = asked.usage
        for name, reranker, top_n in (
            ("cross_encoder", self.cross_encoder, settings.cross_encoder_top_n),
            ("llm_rerank", self.llm, settings.llm_rerank_top_n),
        ):
            if reranker is not None:
                began = time.perf_counter()
                head, said = reranker.rerank(asked.text, hits[:top_n])
                stages[name] = (time.perf_counter() - began) * 1000
                hits = _renumbered([*head, *hits[top_n:]])
                usage = _sum(usage, said.pop("usage", None))
                signals |= said
        return Output(
            case_id=case.id,
            hits=tuple(hits[: settings.top_k]),
            usage=usage,
            latency_ms=sum(stages.values()),
            stages=stages,
            signals=signals,
            asked_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )

    def _codes(self, ranked: Sequence[Hit], k: int) -> list[Hit]:
        """The best `k` codes of a ranking of texts, each at its best text."""
        found: dict[str, Hit] = {}
        for hit in ranked:
            code = code_of(hit.id)
            if code not in found:
                parts = {**hit.parts, "label_language": hit.id.rsplit("#", 1)[1]}
                found[code] = self._hit(code, len(found) + 1, hit.score, hit.source, parts)
            if len(found) == k:
                break
        return list(found.values())

    @cached_property
    def _texts_a_code(self) -> int:
        return max(1, -(-len(self.items) // max(1, len(self.catalog))))

    def _by_words(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        window = max(self.settings.top_k, self.settings.rerank_top_n)
        reranker = RERANKERS.create("lexical_overlap", weight=self.settings.rerank_weight)
        return _renumbered([*reranker.rerank(query, hits[:window]), *hits[window:]])

    def _with_examples(self, near: Sequence[Hit], hits: Sequence[Hit]) -> list[Hit]:
        """Reciprocal-rank fusion of the catalogue's ranking with the examples' (each code at its best example)."""
        best: dict[str, float] = {}
        for hit in near:
            best.setdefault(code_of(hit.id), hit.score or 0.0)
        ranks = {code: rank for rank, code in enumerate(best, 1)}
        known = {hit.id: hit for hit in hits}
        fused = {
            code: (1 / (RRF_K + known[code].rank) if code in known else 0.0)
            + (1 / (RRF_K + ranks[code]) if code in ranks else 0.0)
            for code in {*known, *ranks}
            if code in self.catalog
        }
        order = sorted(fused, key=lambda code: (-fused[code], code))
        return [
            (known.get(code) or self._hit(code, rank)).model_copy(
                update={
                    "rank": rank,
                    "score": fused[code],
                    "source": "catalogue+examples"
                    if code in known and code in ranks
                    else "examples"
                    if code in ranks
                    else "catalogue",
                    "parts": {
                        "catalogue_score": known[code].score if code in known else None,
                        "example_score": best.get(code),
                    },
                }
            )
            for rank, code in enumerate(order, 1)
        ]

    def _hit(
        self,
        code: str,
        rank: int,
        score: float | None = None,
        source: str = "",
        parts: Mapping[str, Any] | None = None,
    ) -> Hit:
        entry = self.catalog.by_code[code]
        return Hit(
            id=code,
            rank=rank,
            score=score,
            text="\n".join(dict.fromkeys([*labels(entry).values(), *filter(None, [entry.description])])),
            title=entry.label,
            source=source,
            parts=dict(parts or {}),
        )


@dataclass(frozen=True, slots=True)
class _Asked:
    """`text` is the query in words, `searched` the form the index compares."""

    text: str
    searched: str
    signals: dict[str, Any]
    usage: Usage | None
    milliseconds: float


def _renumbered(hits: Sequence[Hit]) -> list[Hit]:
    return [hit.model_copy(update={"rank": rank}) for rank, hit in enumerate(hits, 1)]


def _sum(a: Usage | None, b: Usage | None) -> Usage | None:
    return b if a is None else a if b is None else a + b


def _timed(stages: dict[str, float], name: str, work: Callable[[], Any]) -> Any:
    began = time.perf_counter()
    try:
        return work()
    finally:
        stages[name] = (time.perf_counter() - began) * 1000


def _failed(case: Case, error: Exception) -> Output:
    kind = error.kind if isinstance(error, SystemFailure) else "exception"
    message = str(error) if isinstance(error, SystemFailure) else f"{type(error).__name__}: {error}"
    return Output(
        case_id=case.id,
        failure=Failure(where="system", kind=kind, message=message),
        asked_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )
