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
    # what decided about an answer
    "all_slots_match": "everything the expected answer holds is there",
    "same_content": "it says the same as the expected answer",
    "gold_in_answer": "the expected answer stands in it",
    "nothing_of_the_gold": "nothing of the expected answer is in it",
    "part_missing": "a part of the expected answer is missing",
    "further_value": "it gives a further value",
    "number": "a number differs from the expected one",
    "date": "a date differs from the expected one",
    "ordinal": "an ordinal differs from the expected one",
    "unit": "a unit differs from the expected one",
    "negation_differs": "one denies what the other says",
    "other_name": "it names something else",
    "claims_to_hold_for_all": "it claims for all what holds for some",
    "over_answered": "it answered a question that has no answer in the documents",
    "abstained": "it declined to answer",
    "unchecked": "nothing about it could be checked",
    # classification
    "exact_code": "the first code is not the right one",
    "hierarchy_near_miss": "the first code is a neighbour of the right one in the code tree",
    "gold_present_but_not_ranked_first": "the right code is in the list, but not first",
    "reranking_error": "the order of the candidates is wrong",
    "candidate_generation_error": "the right code was never a candidate",
    "not_in_list": "the right code is not among the candidates",
    "no_candidates_returned": "no candidate was returned",
    "no_valid_prediction": "no code of the list was given",
    "empty_list": "the list of candidates is empty",
    # why a score is missing
    "no_gold": "no expected answer was given",
    "no_answer": "there is no answer",
    "no_claims": "there is no statement to check",
    "no_context": "no passage was given to the answer",
    "no_hits": "nothing was retrieved",
    "nothing_retrieved": "nothing was retrieved",
    "not_retrieved": "it was not retrieved",
    "no_evidence": "no evidence was given with the question",
    "no_relevant": "no passage is known to be relevant",
    "no_judgements": "no passage was judged by a person",
    "pool_unknown": "how many relevant passages there are is not known",
    "no_citations": "it cites nothing",
    "no_entities": "no name occurs in it",
    "no_target_document": "the question names no document",
    "not_answerable": "the documents hold no answer to it",
    "answerable": "the documents hold an answer to it",
    "answerability_unknown": "nobody said whether the documents hold an answer",
    "cross_language": "question and passages are in different languages",
    "not_checkable": "it cannot be checked here",
    "not_applicable": "it does not apply here",
    "gold_not_in_list": "the right code is not in the list",
    "gold_shallower": "the right code ends at a higher level",
    "no_candidates": "there is no candidate",
    "one_candidate": "there is one candidate only",
    "no_scores": "the candidates carry no scores",
    "no_confidence": "no confidence was stated",
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
    """A published reason in plain words ("name" or "name: detail"); an unknown one is shown readable as it is."""
    if name in REASONS:
        return REASONS[name]
    head, colon, detail = name.partition(": ")
    return f"{REASONS.get(head, head.replace('_', ' '))}{colon}{detail}"
