"""Which retrieved items are relevant, and who says so.

In this order: graded judgements by hit id (`qrels`), gold evidence located in the documents (`spans`), gold
codes (`codes`); only where a case has none of them is relevance estimated from the gold text (`estimated`), and
that word goes with every figure that rests on it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from core.contracts import ScoringContext, metric
from core.corpus import Chunk
from core.metrics.numerals import spelled, spelled_set
from core.metrics.spans import (
    GoldSpan,
    IdentityCache,
    Span,
    documents_by_path,
    evidence_spans,
    fold_for_locating,
    locate,
    overlap,
)
from core.records import Case, Hit
from core.text import words

Source = Literal["qrels", "spans", "codes", "estimated", "none"]

COVERAGE = 0.5  # share of a gold span from which on a chunk counts as relevant


@dataclass(frozen=True, slots=True)
class RelevanceOf:
    """Relevance of one ranking.

    `grades` holds every hit's grade (0 = not relevant). `judged` is what the metrics take as judgements: ids to
    grades over the whole pool, None where the pool is unknown, so that nothing can be said about what was
    missed. `reason` says why there is nothing to measure against ("" when there is). `gold` are the located
    gold spans, `n_units` the evidence quotes there are and `unlocated` the indexes that were not found.
    """

    grades: dict[str, int] = field(default_factory=dict)
    source: Source = "none"
    judged: Mapping[str, int] | None = None
    gold: tuple[GoldSpan, ...] = ()
    n_units: int = 0
    unlocated: tuple[int, ...] = ()
    reason: str = ""

    @property
    def n_relevant_in_pool(self) -> int | None:
        """How many items of the pool are relevant; None where the pool is unknown."""
        return None if self.judged is None else sum(1 for grade in self.judged.values() if grade > 0)


def grade_hits(
    case: Case,
    hits: Sequence[Hit],
    gold_spans: Sequence[GoldSpan] | None,
    chunks: Sequence[Chunk] | None = None,
) -> RelevanceOf:
    """Grade the hits of a case. `gold_spans` are its located evidence (None: there are no documents to look in);
    `chunks` is the pool that was searched (None: unknown).

    A span grade is the number of evidence quotes of which the hit covers at least half, or the whole.
    """
    if case.answerable is False:
        return RelevanceOf(reason="not_answerable")
    if case.qrels is not None:
        judged = case.qrels
        reason = "" if any(grade > 0 for grade in judged.values()) else "no_relevant"
        return RelevanceOf(
            {hit.id: max(0, judged.get(hit.id, 0)) for hit in hits}, "qrels", judged, reason=reason
        )
    if any(evidence.quote or evidence.end is not None for evidence in case.evidence):
        return _by_spans(case, hits, gold_spans, chunks)
    if case.gold_codes:
        codes = dict.fromkeys(case.gold_codes, 1)
        return RelevanceOf({hit.id: codes.get(hit.id, 0) for hit in hits}, "codes", codes)
    return _estimated(case, hits, chunks)


def relevance_of(case: Case, hits: Sequence[Hit], context: ScoringContext) -> RelevanceOf:
    """`grade_hits` with what the run knows; gold spans are located once per case and corpus."""
    spans = None
    if (
        context.documents is not None
        and case.answerable is not False
        and case.qrels is None
        and case.evidence
    ):
        spans = located(case, context)
        hits = [_placed(hit, context) for hit in hits]
    return grade_hits(case, hits, spans, context.chunks)


# --- spans ----------------------------------------------------------------------------------------------------

_LOCATED: IdentityCache[dict[tuple[object, ...], tuple[GoldSpan, ...]]] = IdentityCache(8)
_POOL_GRADES: IdentityCache[dict[tuple[GoldSpan, ...], dict[str, int]]] = IdentityCache(8)


def located(case: Case, context: ScoringContext) -> tuple[GoldSpan, ...]:
    """The gold spans of a case in the documents of the run, located once."""
    documents = context.documents
    if documents is None:
        return ()
    table = _LOCATED.get(documents, dict)
    key = (case.id, case.evidence)
    if key not in table:
        table[key] = tuple(evidence_spans(case, documents))
    return table[key]


def _placed(hit: Hit, context: ScoringContext) -> Hit:
    """The hit with its place in the document, found by its text where the system did not say."""
    if hit.start is not None or not hit.doc_path or not hit.text or context.documents is None:
        return hit
    document = documents_by_path(context.documents).get(hit.doc_path)
    span = locate(hit.text, document, hit.page) if document is not None else None
    return hit.model_copy(update={"start": span[0], "end": span[1]}) if span else hit


def _by_spans(
    case: Case, hits: Sequence[Hit], spans: Sequence[GoldSpan] | None, chunks: Sequence[Chunk] | None
) -> RelevanceOf:
    gold = tuple(spans or ())
    found = {span.evidence_index for span in gold}
    quotes = (
        {i: e.quote for i, e in enumerate(case.evidence) if e.quote and i not in found}
        if spans is None
        else {}
    )
    missing = tuple(
        i for i, e in enumerate(case.evidence) if i not in found and (e.quote or e.end is not None)
    )
    grades = {hit.id: hit_grade(hit, gold, quotes) for hit in hits}
    judged = pool_grades(gold, chunks) if chunks is not None and gold else None
    if not gold and not quotes:
        reason = "evidence_not_found"
    else:
        reason = "no_relevant" if judged is not None and not judged else ""
    units = len(gold) + len(quotes)
    return RelevanceOf(grades, "spans", judged, gold, units, missing if spans is not None else (), reason)


def hit_grade(hit: Hit, gold: Sequence[GoldSpan], quotes: Mapping[int, str]) -> int:
    """How many evidence quotes a hit covers: by characters where its place is known, else by its text."""
    if hit.start is not None and hit.end is not None:
        grade = sum(1 for span in gold if span.doc_path == hit.doc_path and covers(hit.start, hit.end, span))
        return grade + sum(1 for quote in quotes.values() if holds_quote(hit.text, quote))
    return sum(1 for quote in quotes.values() if holds_quote(hit.text, quote))


def covers(start: int, end: int, span: GoldSpan) -> bool:
    """Whether characters `[start, end)` hold at least half of the span."""
    both = min(end, span.end) - max(start, span.start)
    return both > 0 and both >= COVERAGE * (span.end - span.start)


@lru_cache(maxsize=16_384)
def _folded(text: str) -> str:
    return fold_for_locating(text)


def holds_quote(text: str, quote: str) -> bool:
    """Whether the text holds the quote, or the first or last half of it (a chunk border cuts a quote in two)."""
    wanted, present = _folded(quote), _folded(text)
    if not wanted:
        return False
    half = -(-len(wanted) // 2)
    if half < 12:
        return wanted in present
    return wanted[:half] in present or wanted[-half:] in present


# chunks of each document sorted by start; the last number bounds how far back one can begin and still reach
_ByDocument = dict[str, tuple[list[int], list[Chunk], int]]
_PLACES: IdentityCache[_ByDocument] = IdentityCache(8)


def _places(chunks: Sequence[Chunk]) -> _ByDocument:
    grouped: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        grouped.setdefault(chunk.doc_path, []).append(chunk)
    table: _ByDocument = {}
    for path, members in grouped.items():
        members.sort(key=lambda chunk: (chunk.start, chunk.ordinal))
        table[path] = ([c.start for c in members], members, max(c.end - c.start for c in members))
    return table


def pool_grades(gold: Sequence[GoldSpan], chunks: Sequence[Chunk]) -> dict[str, int]:
    """Grades above 0 of all chunks of the pool; looks only at chunks that can touch a gold span."""
    known = _POOL_GRADES.get(chunks, dict)
    key = tuple(gold)
    if key not in known:
        known[key] = _pool_grades(key, _PLACES.get(chunks, lambda: _places(chunks)))
    return known[key]


def _pool_grades(gold: tuple[GoldSpan, ...], places: _ByDocument) -> dict[str, int]:
    grades: dict[str, int] = {}
    for span in gold:
        starts, members, longest = places.get(span.doc_path, ([], [], 0))
        for chunk in members[bisect_left(starts, span.start - longest) : bisect_right(starts, span.end)]:
            if covers(chunk.start, chunk.end, span):
                grades[chunk.chunk_id] = grades.get(chunk.chunk_id, 0) + 1
    return grades


@metric(
    name="evidence_recall",
    title="Evidence recall",
    family="spans",
    formula="evidence quotes of which the first k hits together hold at least half / evidence quotes",
    inputs="gold evidence; the retrieved ranges",
    empty="None without gold evidence",
    source="Plumbline",
    headline=True,
)
def evidence_recall(gold: Sequence[GoldSpan], retrieved: Mapping[str, Sequence[Span]]) -> float | None:
    """Share of the gold quotes that the retrieved ranges (by document) hold at least half of; each quote is its
    own unit, so that chunkers can be compared. None without gold.

    >>> evidence_recall([GoldSpan("a", 0, 10, 0), GoldSpan("a", 50, 60, 1)], {"a": [(0, 4), (4, 8)]})
    0.5
    """
    if not gold:
        return None
    found = 0
    for span in gold:
        both = overlap([(span.start, span.end)], retrieved.get(span.doc_path, ()))
        found += both > 0 and both >= COVERAGE * (span.end - span.start)
    return found / len(gold)


# --- estimated from gold text ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _GoldText:
    keywords: tuple[tuple[str, ...], ...]
    content: frozenset[str]
    numbers: frozenset[str]


@lru_cache(maxsize=8_192)
def _gold_text(answer: str, keywords: tuple[str, ...], query: str) -> _GoldText:
    asked = spelled_set(query)
    stated = spelled(answer)
    content = frozenset(word for word in stated if len(word) > 2 and word not in asked)
    listed = tuple(spelled(keyword) for keyword in keywords)
    numbers = frozenset(
        word for each in (stated, *listed) for word in each if word[0].isdigit() and word not in asked
    )
    return _GoldText(tuple(filter(None, listed)), content, numbers)


def estimated_grade(text: str, gold_answer: str, keywords: tuple[str, ...], query: str = "") -> int:
    """Grade 0–3 of a passage guessed from gold text; 2 or more means relevant.

    What counts is the share of the expected keywords that stand in the passage with all their words or, without
    keywords, the share of the gold answer's own words (those not in the question): all gives 3, 60 % gives 2,
    35 % gives 1. A passage that lacks a number of the gold answer gets at most 1.
    """
    return _grade_of_words(spelled_set(text), _gold_text(gold_answer, keywords, query))


def _grade_of_words(present: frozenset[str], gold: _GoldText) -> int:
    if gold.keywords:
        share = sum(all(w in present for w in each) for each in gold.keywords) / len(gold.keywords)
    elif gold.content:
        share = len(gold.content & present) / len(gold.content)
    else:
        share = float(bool(gold.numbers) and gold.numbers <= present)
    grade = 3 if share >= 1.0 else 2 if share >= 0.6 else 1 if share >= 0.35 else 0
    return grade if gold.numbers <= present else min(grade, 1)


_POOL_WORDS: IdentityCache[list[frozenset[str]]] = IdentityCache(4)
_ESTIMATES: IdentityCache[dict[tuple[object, ...], dict[str, int]]] = IdentityCache(4)


def _estimated(case: Case, hits: Sequence[Hit], chunks: Sequence[Chunk] | None) -> RelevanceOf:
    answer, keywords = case.gold_answer or "", case.expected_keywords
    if not words(answer) and not any(map(words, keywords)):
        return RelevanceOf(reason="no_gold")
    gold = _gold_text(answer, keywords, case.query)
    named = {part for path in case.doc_paths for part in (path, path.rsplit("/", 1)[-1])}

    def relevant(present: frozenset[str], path: str) -> int:
        if named and path and path not in named and path.rsplit("/", 1)[-1] not in named:
            return 0  # a like passage of another document answers another question
        grade = _grade_of_words(present, gold)
        return grade if grade >= 2 else 0

    grades = {hit.id: relevant(spelled_set(hit.text), hit.doc_path) for hit in hits}
    judged = None
    if chunks is not None:
        table = _ESTIMATES.get(chunks, dict)
        key = (case.id, answer, keywords, case.query, case.doc_paths)
        if key not in table:
            pool = _POOL_WORDS.get(chunks, lambda: [frozenset(spelled(chunk.text)) for chunk in chunks])
            pairs = zip(chunks, pool, strict=True)
            table[key] = {c.chunk_id: g for c, present in pairs if (g := relevant(present, c.doc_path))}
        judged = table[key]
    reason = "no_relevant" if judged is not None and not judged else ""
    return RelevanceOf(grades, "estimated", judged, reason=reason)
