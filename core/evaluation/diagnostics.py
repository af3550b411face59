"""What went wrong in one case: one primary reason, one secondary, one explanation, none contradicting another.

The reasons follow from the label, from whether the evidence was retrieved and from whether the answer rests on
what was retrieved: the first cause on the way from question to answer is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.records import Diagnosis

Scores = Mapping[str, float | None]
_MISSED, _PARTIAL = 0.35, 0.7  # published limits of the claim diagnostic
_UNGROUNDED, _EXTRA = 0.65, 0.75


@dataclass(frozen=True, slots=True)
class Findings:
    """What the diagnosis rests on. `declined` is None without a text; `doubts` are the comparison's reasons."""

    label: str | None
    answerable: bool | None
    declined: bool | None
    scores: Scores
    relevance_source: str = "none"
    answer_mode: str = ""
    doubts: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    conflicting: tuple[str, ...] = ()


def claim_diagnostic(scores: Scores) -> str:
    """The published claim-level diagnosis; a value that is None speaks neither way."""
    names = ("context_claim_recall", "grounded_claim_ratio", "answer_claim_recall", "answer_claim_precision")
    recall, grounded, said, precision = (scores.get(name) for name in names)
    if grounded is None and said is None and (recall is None or precision is None):
        return "no_claims_to_evaluate"
    if recall is not None and recall < _PARTIAL:
        return "retrieval_claim_miss" if recall < _MISSED else "partial_evidence_retrieved"
    if scores.get("contradicted_claim_count"):
        return "claim_contradiction"
    if grounded is not None and grounded < _UNGROUNDED:
        return "unsupported_generated_claims"
    if said is not None and said < _PARTIAL:
        used = scores.get("context_utilization")
        return (
            "answer_incomplete_from_available_context"
            if used is not None and used < _PARTIAL
            else "answer_incomplete"
        )
    if precision is not None and precision < _EXTRA:
        return "answer_contains_extra_claims"
    return "claim_level_ok"


def retrieval_state(scores: Scores, source: str) -> str:
    """found | partial | missed | unknown: from the evidence given with the question, else from judgements, else
    from the gold claims."""
    if source == "spans" and (evidence := scores.get("evidence_recall")) is not None:
        return "found" if evidence >= 1 else "partial" if evidence > 0 else "missed"
    if source == "qrels" and (hit := scores.get("hit_at_k")) is not None:
        return "found" if hit else "missed"
    recall = scores.get("context_claim_recall")
    if recall is not None:
        return "found" if recall >= 1 else "partial" if recall > 0 else "missed"
    hit = scores.get("hit_at_k")
    return "unknown" if hit is None else "found" if hit else "missed"


def diagnose(found: Findings) -> Diagnosis:
    """The diagnosis of one case that has an output."""
    state = retrieval_state(found.scores, found.relevance_source)
    primary, secondary, component = _reasons(found, state)
    return Diagnosis(
        primary_reason=primary,
        secondary_reason=secondary,
        explanation=_explain(found, primary, state),
        component=component,
        claim_diagnostic=claim_diagnostic(found.scores),
    )


def _reasons(found: Findings, state: str) -> tuple[str, str, str]:
    """(primary, secondary, component)."""
    if found.answerable is False:
        if found.declined:
            return "ok", "correct_abstention", ""
        if found.label == "correct":
            return "ok", "", ""
        if found.declined is None:
            return "needs_manual_review", "no_answer", "generation"
        return "over_answering", "unanswerable_question", "abstention"
    if found.declined:
        if state == "missed":
            return "retrieval_claim_miss", "false_refusal", "retrieval"
        return "false_refusal", "answerable_question", "abstention"
    if found.label is None:
        return "not_scored", "no_gold", ""
    if found.label == "correct":
        extra = claim_diagnostic(found.scores)
        told = ("unsupported_generated_claims", "answer_contains_extra_claims")
        return "ok", extra if extra in told else "", ""
    if found.label == "needs_manual_review":
        return "needs_manual_review", found.doubts[0] if found.doubts else "", ""
    if found.label == "partially_correct":
        return _partial(state)
    return _wrong(found, state)


def _partial(state: str) -> tuple[str, str, str]:
    if state in ("missed", "partial"):
        return "partial_retrieval", "missing_gold_claims", "retrieval"
    if state == "found":
        return "answer_incomplete_from_good_context", "low_context_utilization", "generation"
    return "answer_incomplete", "missing_gold_claims", "generation"


def _wrong(found: Findings, state: str) -> tuple[str, str, str]:
    grounded = found.scores.get("grounded_claim_ratio")
    ungrounded = grounded is not None and grounded < _UNGROUNDED
    if found.answer_mode.startswith("extractive_fallback_after"):
        return "llm_call_failed", "extractive_fallback_failure", "generation"
    if "no_answer" in found.doubts:
        return "answer_incorrect", "no_answer", "generation"
    if state == "missed":
        if ungrounded:
            return "retrieval_and_grounding_failure", "missing_gold_evidence", "retrieval"
        return "retrieval_claim_miss", "missing_gold_evidence", "retrieval"
    if ungrounded:
        return "generation_hallucination", "unsupported_generated_claims", "generation"
    if state == "partial":
        return "partial_retrieval", "missing_gold_claims", "retrieval"
    if state == "found":
        rank = found.scores.get("first_relevant_rank")
        second = "wrong_chunks_ranked_high" if rank is not None and rank > 1 else "answer_incorrect"
        return "answer_synthesis_failure", second, "generation"
    return "answer_incorrect", "", "generation"


_TEXTS = {
    "ok": "The answer says what was expected.",
    "over_answering": "The documents do not hold an answer, but the system gave one instead of declining.",
    "false_refusal": "The system declined although the documents hold the answer.",
    "not_scored": "There is no expected answer, so the answer was not checked.",
    "needs_manual_review": "The texts alone do not decide whether the answer is right; a person has to look.",
    "partial_retrieval": "Only part of the needed evidence was retrieved.",
    "answer_incomplete_from_good_context": "The evidence was retrieved, but the answer leaves part of it out.",
    "answer_incomplete": "The answer leaves out part of what was expected.",
    "llm_call_failed": "The call to the language model failed; the fallback answer is wrong.",
    "retrieval_and_grounding_failure": "The evidence was not retrieved, and the answer does not rest on what was.",
    "retrieval_claim_miss": "The passage with the answer was not retrieved.",
    "generation_hallucination": "The answer says things that the retrieved passages do not support.",
    "answer_synthesis_failure": "The evidence was retrieved, but the answer drawn from it is wrong.",
    "answer_incorrect": "The answer is wrong.",
}


def _explain(found: Findings, primary: str, state: str) -> str:
    text = _TEXTS[primary]
    if primary == "ok" and found.answerable is False and found.declined:
        return "The documents do not hold an answer, and the system rightly declined."
    if primary == "retrieval_claim_miss" and found.declined:
        text += " The system declined."
    if "no_answer" in found.doubts:
        text = "The system gave no answer."
    if found.conflicting and primary != "ok":
        text += f" It differs from the expected answer in: {'; '.join(found.conflicting)}."
    elif found.missing and found.label in ("partially_correct", "incorrect") and not found.declined:
        text += f" Missing: {'; '.join(found.missing[:3])}."
    if state == "found" and primary in ("answer_synthesis_failure", "generation_hallucination"):
        rank = found.scores.get("first_relevant_rank")
        if rank is not None:
            text += f" The first relevant passage stands at place {rank:.0f}."
    return text
