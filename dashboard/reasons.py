"""Published reason names in plain words. The name itself stands in the tooltip and in the export."""

from __future__ import annotations

REASONS = {
    "ok": "nothing went wrong",
    "correct_abstention": "it rightly declined to answer",
    "over_answering": "it answered a question that has no answer in the documents",
    "unanswerable_question": "the documents do not hold the answer",
    "false_refusal": "it declined a question the documents do answer",
    "answerable_question": "the documents hold the answer",
    "retrieval_claim_miss": "the passage with the answer was not retrieved",
    "missing_gold_evidence": "the expected evidence is missing from the retrieved passages",
    "partial_retrieval": "only part of the needed passages was retrieved",
    "missing_gold_claims": "statements of the expected answer are missing",
    "claim_contradiction": "the answer contradicts the expected answer",
    "generation_or_context_conflict": "answer and passages disagree",
    "retrieval_and_grounding_failure": "the right passages are missing and the answer rests on nothing retrieved",
    "generation_hallucination": "the answer says what the retrieved passages do not",
    "answer_incomplete_from_good_context": "the passages were right, the answer left part of them out",
    "low_context_utilization": "little of the retrieved passages was used",
    "answer_incomplete": "the answer is incomplete",
    "answer_contains_extra_claims": "the answer adds statements nobody asked for",
    "low_claim_precision": "many statements of the answer are not in the expected one",
    "extractive_fallback_unsupported": "the fallback answer is not supported",
    "extractive_fallback_failure": "the fallback answer failed",
    "answer_unsupported": "the answer is not supported by the passages",
    "retrieval_miss": "the passage with the answer was not found",
    "wrong_chunks_ranked_high": "unrelated passages were ranked above the right one",
    "llm_call_failed": "the call to the language model failed",
    "answer_synthesis_failure": "the passages were right, the answer was not",
    "answer_incorrect": "the answer is wrong",
    "gold_missing_from_top_k": "the expected passage is not among the retrieved ones",
    "system_error": "the system gave no answer",
    "needs_manual_review": "a person has to decide",
}
LABELS = {
    "correct": "Correct",
    "partially_correct": "Partly correct",
    "incorrect": "Incorrect",
    "unsupported": "Not supported",
    "needs_manual_review": "A person has to decide",
}
FAILURES = {
    "exception": "the system raised an error",
    "timeout": "no answer in time",
    "transport": "the connection failed",
    "rate_limit": "refused because of too many requests",
    "http_status": "the server answered with an error",
    "malformed": "the reply could not be read",
    "judge": "the judge gave no usable answer",
    "evaluator": "the scoring itself failed",
    "not_plantable": "the test could not be set up",
    "cancelled": "stopped before it was asked",
}
CLAIMS = {
    "supported": "supported",
    "contradicted": "contradicted",
    "not_enough_info": "not enough information",
}
RELEVANCE_SOURCES = {
    "spans": "relevance from the evidence given with the question",
    "qrels": "relevance from judgements given with the question",
    "codes": "relevance from the right codes",
    "estimated": "relevance estimated from the expected answer: no evidence was given",
    "none": "no relevance known for this question",
}


def reason(name: str) -> str:
    """A published reason in plain words; an unknown one is shown readable as it is."""
    return REASONS.get(name, name.replace("_", " "))
