"""The oracle ladder: replace one step of a document QA by the truth, run everything after it again, and see whether
the answer comes right (statistics.md 6.8).

    placebo            asked again, nothing changed
    deep               N_deep candidates before the same reranking and cut
    oracle_ranking     the system's own candidates, those with evidence first
    oracle_retrieval   evidence put first whether it was found or not
    gold_context       only passages with evidence, nothing else
    closed_book        no passages at all (right anyway: retrieval earned nothing)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from core.attribution.failures import RUNGS
from core.contracts import Index
from core.corpus import Chunk
from core.errors import EvalError
from core.metrics.relevance import grade_hits
from core.metrics.spans import evidence_spans
from core.records import Case, Hit, Result, Verdict
from core.retrieval.stages import Stages
from core.settings import RunSettings
from core.statistics.paired import mcnemar_midp, newcombe, paired_counts
from core.systems.document_qa import DocumentQa
from core.task import Task
from core.tasks import TASKS

if TYPE_CHECKING:
    import pandas as pd

N_DEEP = 100
PLACEBO, CLOSED_BOOK = "placebo", "closed_book"
ORDER = (PLACEBO, *RUNGS, CLOSED_BOOK)


@dataclass(frozen=True, slots=True)
class Ladder:
    """`outcomes`: a row per (experiment, question_id) that failed, a column per rung with the share of repeats that
    passed (None: the rung does not apply). `facts`: what was learned about the stages, by (experiment, question).
    `headroom`: a row per rung with the pass rate it reaches over all questions and its step over the one before."""

    outcomes: pd.DataFrame | None
    facts: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    headroom: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def empty(cls) -> Ladder:
        return cls(None)


def climb(
    experiment: str, settings: RunSettings, stages: Stages, results: Iterable[Result], *, repeats: int = 1
) -> Ladder:
    """Run the ladder on every question of one configuration. Empty where the system is no document QA or cannot be
    built. A configuration whose answers do not vary needs one repeat; its placebo shows it."""
    import pandas as pd

    if settings.classifier_type != "document_qa":
        return Ladder.empty()
    try:
        task = TASKS[settings.classifier_type](settings, stages)
    except EvalError:
        return Ladder.empty()
    if type(task.system) is not DocumentQa:
        return Ladder.empty()
    asked: dict[str, bool] = {}
    for result in results:
        if result.verdict is not Verdict.ERROR:
            asked[result.case_id] = asked.get(result.case_id, True) and result.verdict is Verdict.PASS
    cases = [case for case in task.cases if case.id in asked]
    gold = {case.id: gold_chunks(case, task) for case in cases}
    shares: dict[str, dict[str, float | None]] = {}
    for rung in ORDER:
        shares[rung] = _rung(rung, task, settings, stages, cases, gold, repeats)
    facts = _facts(experiment, task, settings, cases, gold)
    rows = [
        {"experiment": experiment, "question_id": case.id, **{rung: shares[rung][case.id] for rung in ORDER}}
        for case in cases
        if not asked[case.id]
    ]
    return Ladder(
        pd.DataFrame(rows, columns=["experiment", "question_id", *ORDER]),
        facts,
        _headroom(experiment, cases, shares),
    )


def gold_chunks(case: Case, task: Task) -> tuple[Chunk, ...]:
    """Chunks that hold a gold span (by the rule that grades retrieval), in the order of the corpus."""
    documents, chunks = task.context.documents, task.context.chunks
    if documents is None or chunks is None or case.answerable is False or not case.evidence:
        return ()
    paths = {evidence.doc_path for evidence in case.evidence}
    near = [chunk for chunk in chunks if chunk.doc_path in paths]
    hits = [_hit(chunk, rank, None) for rank, chunk in enumerate(near, 1)]
    if not hits:
        return ()
    grades = grade_hits(case, hits, evidence_spans(case, documents), near).grades
    return tuple(chunk for chunk in near if grades.get(chunk.chunk_id, 0) > 0)


class Intervened(DocumentQa):
    """A document QA whose candidates pass through `change` (question, candidates of the deep search) before the
    same reranking, cut, context and answer as ever."""

    def __init__(
        self, *args: Any, change: Callable[[str, list[Hit]], list[Hit]], depth: int | None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.change, self.depth = change, depth

    def _retrieve(self, index: Index, query: str, conditions: Mapping[str, Sequence[str]]) -> list[Hit]:
        if self.depth is None:
            return self.change(query, super()._retrieve(index, query, conditions))
        return self.change(query, index.search([query], self.depth)[0])

    def _rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        # an oracle's order is final; only the deep search is reranked as ever
        return (
            super()._rerank(query, hits)
            if self.depth is not None and self.change is _as_found
            else list(hits)
        )


def _as_found(query: str, hits: list[Hit]) -> list[Hit]:
    return hits


def _rung(
    rung: str,
    task: Task,
    settings: RunSettings,
    stages: Stages,
    cases: Sequence[Case],
    gold: Mapping[str, tuple[Chunk, ...]],
    repeats: int,
) -> dict[str, float | None]:
    """Share of repeats that pass, by case; None where the rung has nothing to put in place."""
    shares: dict[str, float | None] = {}
    wanted = [case for case in cases if rung in (PLACEBO, "deep", CLOSED_BOOK) or gold[case.id]]
    by_query = {case.query: gold[case.id] for case in wanted}
    system = _system(rung, task, settings, stages, by_query)
    passed: dict[str, list[bool]] = {case.id: [] for case in wanted}
    by_id = {case.id: case for case in wanted}
    for _ in range(repeats):
        for output in system.ask_many(wanted):
            if output.failure is None:
                result = task.evaluate(by_id[output.case_id], output, task.context)
                if result.verdict is not Verdict.ERROR:
                    passed[output.case_id].append(result.verdict is Verdict.PASS)
    for case in cases:
        seen = passed.get(case.id)
        shares[case.id] = sum(seen) / len(seen) if seen else None
    return shares


def _system(
    rung: str, task: Task, settings: RunSettings, stages: Stages, gold: Mapping[str, tuple[Chunk, ...]]
) -> DocumentQa:
    documents = list((task.context.documents or {}).values())
    if rung == PLACEBO:
        return DocumentQa(settings, documents, stages)

    def ranked(query: str, hits: list[Hit]) -> list[Hit]:
        wanted = {chunk.chunk_id for chunk in gold.get(query, ())}
        return _renumbered([*(h for h in hits if h.id in wanted), *(h for h in hits if h.id not in wanted)])

    def injected(query: str, hits: list[Hit]) -> list[Hit]:
        chunks = gold.get(query, ())
        wanted = {chunk.chunk_id for chunk in chunks}
        top = hits[0].score if hits else None
        return _renumbered([*(_hit(c, 1, top) for c in chunks), *(h for h in hits if h.id not in wanted)])

    def only_gold(query: str, hits: list[Hit]) -> list[Hit]:
        return [_hit(chunk, rank, 1.0) for rank, chunk in enumerate(gold.get(query, ()), 1)]

    changes: dict[str, tuple[Callable[[str, list[Hit]], list[Hit]], int | None]] = {
        "deep": (_as_found, N_DEEP),
        "oracle_ranking": (ranked, N_DEEP),
        "oracle_retrieval": (injected, None),
        "gold_context": (only_gold, None),
        CLOSED_BOOK: (lambda query, hits: [], None),
    }
    change, depth = changes[rung]
    return Intervened(settings, documents, stages, change=change, depth=depth)


def _facts(
    experiment: str,
    task: Task,
    settings: RunSettings,
    cases: Sequence[Case],
    gold: Mapping[str, tuple[Chunk, ...]],
) -> dict[tuple[str, str], dict[str, Any]]:
    """Where the evidence was lost: in the text, between chunks, or how deep in the ranking it stands."""
    system: Any = task.system
    documents = task.context.documents or {}
    asked = [case for case in cases if case.evidence and case.answerable is not False]
    deep = system.index.search([case.query for case in asked], N_DEEP) if asked else []
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for case, hits in zip(asked, deep, strict=True):
        ids = {chunk.chunk_id for chunk in gold[case.id]}
        spans = evidence_spans(case, documents)
        ranks = [hit.rank for hit in hits if hit.id in ids]
        found[experiment, case.id] = {
            "evidence_in_text": float(bool(spans)),
            "evidence_in_chunk": float(bool(ids)) if spans else None,
            "evidence_deep_rank": float(min(ranks)) if ranks else None,
            "deep_candidates": float(min(N_DEEP, len(task.context.chunks or ()))),
        }
    return found


def _headroom(
    experiment: str, cases: Sequence[Case], shares: Mapping[str, Mapping[str, float | None]]
) -> list[dict[str, Any]]:
    """What each rung could gain at most: pass rates, and paired steps between neighbours on the ladder. An upper
    bound, since no real component is an oracle."""
    rows: list[dict[str, Any]] = []
    before = PLACEBO
    for rung in ORDER:
        both = [
            case.id
            for case in cases
            if shares[rung][case.id] is not None and shares[before][case.id] is not None
        ]
        now, then = ([(shares[name][c] or 0.0) > 0.5 for c in both] for name in (rung, before))
        counts = paired_counts(then, now)
        limits = (
            newcombe(counts.both, counts.only_second, counts.only_first, counts.neither) if both else None
        )
        rows.append({
            "experiment": experiment, "rung": rung, "compared_with": before if rung != PLACEBO else "", "n_questions": len(both),
            "pass_rate": sum(now) / len(now) if now else None, "step": counts.delta if both else None,
            "step_low": limits.low if limits else None, "step_high": limits.high if limits else None,
            "gained": counts.only_second, "lost": counts.only_first, "p": mcnemar_midp(counts.only_second, counts.only_first),
        })  # fmt: skip
        before = rung if rung in RUNGS else PLACEBO
    return rows


def _hit(chunk: Chunk, rank: int, score: float | None) -> Hit:
    return Hit(
        id=chunk.chunk_id, rank=rank, score=score, text=chunk.text, title=chunk.title, doc_path=chunk.doc_path,
        section_id=chunk.section_id, page=chunk.page, start=chunk.start, end=chunk.end, source="oracle",
    )  # fmt: skip


def _renumbered(hits: Sequence[Hit]) -> list[Hit]:
    return [hit.model_copy(update={"rank": rank}) for rank, hit in enumerate(hits, 1)]
