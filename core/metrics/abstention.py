"""Is there enough evidence to answer? Without gold and on one scale for all retrievers: only the texts count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from core.metrics.quantities import slots
from core.metrics.question_terms import QuestionTerms, question_terms
from core.text import sentence_spans

WEAK_BELOW = 0.35
MISSING_BELOW = 0.15
Status = Literal["good_evidence", "weak_evidence", "missing_evidence"]
_ACTIONS = {
    "good_evidence": "answer",
    "weak_evidence": "retrieve_more_or_rewrite",
    "missing_evidence": "abstain",
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """`score` in [0, 1] is the answerability; `context_relevance` the weighted share of the question's terms
    anywhere in the passages; `best_passage` (position) and `best_sentence` (share of the terms) say where."""

    score: float
    status: Status
    action: str
    reason: str
    context_relevance: float
    best_passage: int | None
    passage_coverage: float
    sentence_coverage: float


def evidence_strength(
    question: str,
    passages: Sequence[str],
    idf: Mapping[str, float] | None = None,
    *,
    weak_below: float = WEAK_BELOW,
    missing_below: float = MISSING_BELOW,
) -> Evidence:
    """How far the passages hold what the question asks for.

    score = 0.5 · best passage + 0.5 · best pair of neighbouring sentences (weighted shares of the question's
    terms), × 0.8 where the question asks for a number, length of time or date and the best passage has none.
    `missing_below` is taken as at most `weak_below`.
    """
    terms = question_terms(question, idf)
    if not passages or not any(passage.strip() for passage in passages):
        return _evidence(0.0, "no passage was found", 0.0, None, 0.0, 0.0, weak_below, missing_below)
    if not terms.weights:
        return _evidence(
            0.0, "the question has no content words", 0.0, None, 0.0, 0.0, weak_below, missing_below
        )
    coverages = [terms.coverage(passage) for passage in passages]
    weights = tuple(terms.weights.items())
    pairs = [_best_pair(weights, terms.language, passage) for passage in passages]
    strengths = [0.5 * whole + 0.5 * pair for whole, pair in zip(coverages, pairs, strict=True)]
    best = max(range(len(passages)), key=lambda i: (strengths[i], -i))
    score = strengths[best]
    lacks_value = _asks_for_value(terms) and not slots(passages[best])
    if lacks_value:
        score *= 0.8
    everywhere: dict[str, float] = {}
    for passage in passages:
        for term, share in terms.matches(passage).items():
            everywhere[term] = max(share, everywhere.get(term, 0.0))
    relevance = sum(terms.weights[term] * share for term, share in everywhere.items())
    absent = [term for term in terms.weights if term not in everywhere]
    reason = f"the best passage holds {coverages[best]:.0%} of what the question names"
    if absent:
        reason += f"; nowhere found: {', '.join(absent[:5])}"
    if lacks_value:
        reason += "; it has no number or date"
    return _evidence(score, reason, relevance, best, coverages[best], pairs[best], weak_below, missing_below)


def _evidence(
    score: float,
    reason: str,
    relevance: float,
    best: int | None,
    passage: float,
    sentence: float,
    weak_below: float,
    missing_below: float,
) -> Evidence:
    status: Status = "good_evidence"
    if score < weak_below or best is None:
        status = "weak_evidence"
    if score < min(missing_below, weak_below) or best is None:
        status = "missing_evidence"
    return Evidence(
        score=min(1.0, score),
        status=status,
        action=_ACTIONS[status],
        reason=reason,
        context_relevance=min(1.0, relevance),
        best_passage=best,
        passage_coverage=min(1.0, passage),
        sentence_coverage=min(1.0, sentence),
    )


@lru_cache(maxsize=16_384)  # the configurations of a sweep weigh the same passages for the same question
def _best_pair(weights: tuple[tuple[str, float], ...], language: str, passage: str) -> float:
    """Coverage of the best two neighbouring sentences."""
    terms = QuestionTerms(language, dict(weights), frozenset(), frozenset())
    matches = [terms.matches(passage[start:end]) for start, end in sentence_spans(passage)]
    best = 0.0
    for i, here in enumerate(matches):
        after = matches[i + 1] if i + 1 < len(matches) else {}
        both = {term: max(here.get(term, 0.0), after.get(term, 0.0)) for term in {**here, **after}}
        best = max(best, sum(terms.weights[term] * share for term, share in both.items()))
    return best


def _asks_for_value(terms: QuestionTerms) -> bool:
    return bool(terms.cues & {"number", "duration", "time"})
