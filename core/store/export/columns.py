"""Names of the published columns, in their order."""

from __future__ import annotations


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# scores of retrieval_metrics.csv
RETRIEVAL = _names(
    """
    mrr_at_k ndcg_at_k recall_at_k ragas_recall_at_k precision_at_k hit_at_k average_precision
    r_precision first_relevant_rank n_relevant_chunks n_retrieved_relevant_chunks
    target_doc_retrieved_at_k first_target_doc_rank n_retrieved_target_doc_chunks char_recall
    char_precision char_iou evidence_recall judged_at_k tie_spread
    """
)
# scores of answer_metrics.csv
ANSWERS = _names(
    """
    gold_answer_overlap proxy_faithfulness proxy_context_relevance answer_gold_support
    answer_has_gold_substring abstained abstention_correct over_answered false_refusal
    context_claim_recall answer_claim_recall answer_claim_precision answer_claim_f1
    factual_correctness_precision factual_correctness_recall factual_correctness_f1 grounded_claim_ratio
    hallucinated_claim_ratio context_utilization unsupported_claim_count missing_gold_claim_count
    contradicted_claim_count noise_sensitivity_relevant noise_sensitivity_irrelevant
    context_entities_recall answer_entity_precision evidence_attribution_precision
    evidence_attribution_recall evidence_attribution_f1 evidence_coverage
    """
)
# rag_results.csv of a document QA run: before the answer scores
DOCUMENT = _names(
    """
    question_id question question_type retrieval_query query_augmentation_mode query_augmentation_status
    answer_mode context_mode self_rag_retry_status self_rag_retry_attempts self_rag_retry_query
    self_rag_critique_status self_rag_critique_error decision_action decision_reasons program_id
    gold_answer expected_keywords retrieved_chunk_ids prediction_confidence prediction_score_raw
    retrieved_chunks mrr_at_k ndcg_at_k recall_at_k ragas_recall_at_k expected_answerable abstained
    abstention_correct over_answered false_refusal answerability_confidence runtime_retrieval_status
    runtime_retrieval_action runtime_retrieval_score runtime_retrieval_reason first_target_doc_rank
    n_retrieved_target_doc_chunks
    """
)
# …and behind them
CONCLUSION = _names(
    """
    claim_evidence_map claim_diagnostic answer auto_flag primary_error_reason secondary_error_reason
    diagnostic_explanation
    """
)
# rag_results.csv of a classifier run
CLASSIFIED = _names(
    """
    question_id question cleaned_query object_query retrieval_query query_augmentation_mode
    query_augmentation_status llm_rerank_status retrieved_chunks exact_top1_match
    cpv_hierarchy_similarity_top1 cpv_common_prefix_length_top1 hierarchy_match_level_top1
    hierarchy_match_label_top1 hierarchy_score_top1 same_division_top1 same_group_top1 same_class_top1
    same_category_top1 top1_predicted_cpv expected_cpv_codes hierarchy_scheme gold_rank
    gold_present_at_k score_margin_top1_top2 score_entropy_at_k unique_cpv_at_k unique_division_at_k
    duplicate_cpv_at_k duplicate_cpv_rate_at_k best_hierarchy_score_at_k query_token_count gold_division
    top1_division failure_mode likely_bottleneck high_confidence_wrong low_margin_decision
    duplicate_candidate_pressure low_diversity_at_k short_or_ambiguous_query mrr_at_k ndcg_at_k
    recall_at_k prediction_confidence auto_flag gold_cpv_label gold_cpv_description retrieved_chunk_ids
    primary_error_reason secondary_error_reason diagnostic_explanation manual_flag manual_comment
    classifier_explanation api_explanation api_latency_ms prepared_candidate_count
    prepared_retrieved_candidate_count
    """
)
# what every result table of ours adds
OURS = _names(
    """
    repeat verdict verdict_reasons unchecked relevance_source failure_where failure_kind failure_message
    latency_ms cost_usd
    """
)
# retrieved_chunks.csv of a document QA run
CHUNKS = _names(
    """
    question_id question question_type retrieval_query query_augmentation_mode query_augmentation_status
    question_program_id question_program_name question_doc_id answer_scope evaluation_scope rank
    auto_flag retriever chunk_id score base_retrieval_score retrieval_source doc_id doc_path program_id
    program_name section_id title chunking_strategy source_type text relevance_grade is_relevant repeat
    page start end relevance_source
    """
)
# …of a classifier run
CLASSIFIED_CHUNKS = _names(
    """
    question_id question cleaned_query object_query retrieval_query query_augmentation_mode
    query_augmentation_status rank auto_flag retriever chunk_id score retrieval_source title text
    relevance_grade is_relevant repeat relevance_source
    """
)
# claim_evidence_map.csv
CLAIMS = _names(
    """
    question_id question claim_index claim_type claim context_nli answer_nli gold_nli
    supporting_chunk_ids raw_supporting_chunk_ids invalid_attribution_count supporting_chunks repeat
    """
)
# diagnostics.csv
DIAGNOSTICS = _names(
    """
    question_id question question_type answer_accuracy_label primary_error_reason secondary_error_reason
    diagnostic_explanation component claim_diagnostic verdict repeat
    """
)
