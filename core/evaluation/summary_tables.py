"""The published tables of a run summary: answers, retrieval, diagnostics, classification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.contracts import METRICS
from core.evaluation.evidence_graph import evidence_graph
from core.metrics import declared
from core.records import Aggregate, Case, Output, Result, Verdict

LABELS = ("correct", "partially_correct", "incorrect", "unsupported", "needs_manual_review")
RETRIEVAL_FAMILIES = frozenset({"ranking", "spans", "documents", "reference text"})
RATES = ("abstention_precision", "abstention_recall", "over_answering_rate", "false_refusal_rate")
_TOTALS = {
    "n_unsupported_claims": "unsupported_claim_count",
    "n_missing_gold_claims": "missing_gold_claim_count",
    "n_contradicted_claims": "contradicted_claim_count",
    "n_invalid_attributions": "invalid_attribution_count",
    "n_attributed_answer_claims": "attributed_answer_claim_count",
    "n_attributed_gold_claims": "attributed_gold_claim_count",
}
_EXAMPLES = 10

Table = dict[str, Any]
DECLARED = declared.SHIPPED  # families and kinds must be known, also for results that were scored elsewhere


def is_retrieval(metric: str) -> bool:
    """Whether a metric belongs to the retrieval table (by its registered family)."""
    known = METRICS.get(metric)
    return known is not None and known.family in RETRIEVAL_FAMILIES


def answerable(case: Case, result: Result) -> bool | None:
    """Whether the question can be answered, as its result was scored; as its file says where that is not kept."""
    return result.artifacts.get("expected_answerable", case.answerable)


def document_tables(
    cases: Sequence[Case],
    outputs: Sequence[Output],
    results: Sequence[Result],
    aggregates: Sequence[Aggregate],
) -> Table:
    """`answer_metrics`, `retrieval_metrics`, both by question type, `diagnostics`, and the counts beside them."""
    labels = Counter(result.label for result in results if result.label is not None)
    return {
        "n_questions": len(cases),
        "n_correct": labels["correct"],
        "n_incorrect": labels["incorrect"],
        "answer_metrics": {**_means(aggregates, retrieval=False), **_answer_counts(cases, results, labels)},
        "answer_metrics_by_question_type": _by_type(aggregates, retrieval=False),
        "retrieval_metrics": {**_means(aggregates, retrieval=True), **_retrieval_counts(results)},
        "retrieval_metrics_by_question_type": _by_type(aggregates, retrieval=True),
        "relevance_sources": dict(sorted(Counter(result.relevance_source for result in results).items())),
        "diagnostics": diagnostics(results),
        "decision_counts": dict(sorted(Counter(_texts(results, "decision_action")).items())),
        "latency_ms": latency(outputs),
        "evidence_graph": evidence_graph(cases, outputs, results, classified=False),
    }


def _means(aggregates: Iterable[Aggregate], *, retrieval: bool, group: str | None = None) -> Table:
    table: Table = {}
    wanted = ("", "") if group is None else ("question_type", group)
    for row in aggregates:
        if (row.group_by, row.group) == wanted and is_retrieval(row.metric) == retrieval:
            table[row.metric if row.metric in (*RATES, "pass_rate") else f"mean_{row.metric}"] = row.mean
    return table


def _by_type(aggregates: Sequence[Aggregate], *, retrieval: bool) -> dict[str, Table]:
    sizes: dict[str, int] = {}
    for row in aggregates:
        if row.group_by == "question_type":
            sizes[row.group] = row.n_scored + row.n_not_applicable + row.n_error
    return {g: {"n": n, **_means(aggregates, retrieval=retrieval, group=g)} for g, n in sorted(sizes.items())}


def _answer_counts(cases: Sequence[Case], results: Sequence[Result], labels: Mapping[str, int]) -> Table:
    by_id = {case.id: case for case in cases}
    known = {case.id: case.answerable for case in cases}
    known |= {r.case_id: answerable(by_id[r.case_id], r) for r in results if r.case_id in by_id}
    abstained = [r for r in results if r.scores.get("abstained")]
    answered = [r for r in results if r.scores.get("abstained") == 0]
    table: Table = {
        "n_questions": len(cases),
        "n_answerable": sum(value is True for value in known.values()),
        "n_unanswerable": sum(value is False for value in known.values()),
        "n_abstained": len(abstained),
        "n_correct_abstentions": sum(known.get(r.case_id) is False for r in abstained),
        "n_over_answered": sum(known.get(r.case_id) is False for r in answered),
        "n_false_refusals": sum(known.get(r.case_id) is True for r in abstained),
    }
    table.update({f"n_{label}": labels[label] for label in LABELS})
    for name, metric in _TOTALS.items():
        values = [value for r in results if (value := r.scores.get(metric)) is not None]
        table[name] = int(sum(values)) if values else None
    return table


def _retrieval_counts(results: Sequence[Result]) -> Table:
    return {
        "questions_with_relevant_chunk": sum(
            bool(r.scores.get("n_retrieved_relevant_chunks")) for r in results
        ),
        "questions_with_target_doc_at_k": sum(
            bool(r.scores.get("target_doc_retrieved_at_k")) for r in results
        ),
    }


def diagnostics(results: Sequence[Result]) -> Table:
    """Counts by reason, most frequent first; ties by name. `most_common_reason` leaves `ok` out and is None when
    there is nothing else."""
    found = [result.diagnosis for result in results if result.diagnosis is not None]
    reasons = Counter(diagnosis.primary_reason for diagnosis in found)
    claims = Counter(diagnosis.claim_diagnostic for diagnosis in found if diagnosis.claim_diagnostic)
    judged = Counter(_texts(results, "claim_judge_status"))
    wrong = {reason: count for reason, count in _ranked(reasons).items() if reason != "ok"}
    return {
        "counts_by_primary_reason": _ranked(reasons),
        "counts_by_claim_diagnostic": _ranked(claims),
        "counts_by_claim_judge_status": _ranked(judged),
        "most_common_reason": next(iter(wrong), None),
        "most_common_claim_diagnostic": next(iter(_ranked(claims)), None),
    }


def _ranked(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _texts(results: Sequence[Result], key: str) -> list[str]:
    return [str(value) for result in results if (value := result.artifacts.get(key)) not in (None, "")]


def latency(outputs: Sequence[Output]) -> Table:
    """Mean, median, 95 % point and maximum of the latencies that are known, in milliseconds; None without any."""
    known = sorted(output.latency_ms for output in outputs if output.latency_ms is not None)
    if not known:
        return {"n": 0, "mean": None, "median": None, "p95": None, "max": None}
    at = len(known) - 1
    return {
        "n": len(known),
        "mean": sum(known) / len(known),
        "median": (known[at // 2] + known[-(-at // 2)]) / 2,
        "p95": known[-(-95 * len(known) // 100) - 1],
        "max": known[-1],
    }


# --- classification -------------------------------------------------------------------------------------------


def classifier_tables(
    cases: Sequence[Case],
    outputs: Sequence[Output],
    results: Sequence[Result],
    aggregates: Sequence[Aggregate],
) -> Table:
    """`answer_metrics`, `retrieval_metrics`, `diagnostics` and `classifier.ranking_metrics` of a classifier run."""
    scored = [r for r in results if r.scores.get("exact_top1_match") is not None]
    n_correct = sum(bool(r.scores["exact_top1_match"]) for r in scored)
    means = {row.metric: row.mean for row in aggregates if not row.group_by}
    return {
        "n_questions": len(cases),
        "n_correct": n_correct,
        "n_incorrect": len(scored) - n_correct,
        "answer_metrics": {
            "n_items": len(scored),
            "n_correct": n_correct,
            "n_incorrect": len(scored) - n_correct,
            "accuracy": means.get("exact_top1_match"),
        },
        "retrieval_metrics": {**_means(aggregates, retrieval=True), **_retrieval_counts(results)},
        "retrieval_metrics_by_question_type": _by_type(aggregates, retrieval=True),
        "diagnostics": diagnostics(results),
        "latency_ms": latency(outputs),
        "evidence_graph": evidence_graph(cases, outputs, results, classified=True),
        "classifier": {"ranking_metrics": ranking_metrics(cases, outputs, results, means)},
    }


def ranking_metrics(
    cases: Sequence[Case],
    outputs: Sequence[Output],
    results: Sequence[Result],
    means: Mapping[str, float | None],
) -> Table:
    """The published ranking aggregates of a classifier. Counts are of scored results; an ERROR is in none."""
    scored = [r for r in results if r.scores.get("exact_top1_match") is not None]
    exact = sum(bool(r.scores["exact_top1_match"]) for r in scored)
    hit = sum(bool(r.scores.get("hit_at_k")) for r in scored)
    listed = {
        name: means.get(name)
        for name in ("hit_at_k", "precision_at_k", "mrr_at_k", "ndcg_at_k", "recall_at_k")
        if name in means
    }
    best = {"mean_best_hierarchy_score_at_k": means.get("best_hierarchy_score_at_k")}
    top1 = {
        "mean_hierarchy_score_top1": means.get("hierarchy_score_top1"),
        "mean_cpv_hierarchy_similarity_top1": means.get("cpv_hierarchy_similarity_top1"),
    }
    return {
        "n_items": len(scored),
        "exact_top1_accuracy": means.get("exact_top1_match"),
        **listed,
        **top1,
        **best,
        "top1_metrics": {
            "exact_accuracy": means.get("exact_top1_match"),
            "mean_hierarchy_score": top1["mean_hierarchy_score_top1"],
            "mean_cpv_hierarchy_similarity": top1["mean_cpv_hierarchy_similarity_top1"],
            "match_breakdown": _ranked(Counter(_texts(scored, "hierarchy_match_label_top1"))),
            "n_exact": exact,
        },
        "ranked_list_metrics": {
            **listed,
            **best,
            "best_match_breakdown": _ranked(Counter(_texts(scored, "best_hierarchy_match_label_at_k"))),
            "n_hit_at_k": hit,
            "n_missed_at_k": len(scored) - hit,
        },
        "n_exact_top1": exact,
        "n_hit_at_k": hit,
        "n_missed_at_k": len(scored) - hit,
        "failure_summary": _classifier_failures(outputs, scored),
        "miss_examples": _misses(cases, outputs, scored),
    }


def _classifier_failures(outputs: Sequence[Output], scored: Sequence[Result]) -> Table:
    empty = {(output.case_id, output.repeat) for output in outputs if not output.hits}
    counts: Counter[str] = Counter()
    for result in scored:
        if result.scores["exact_top1_match"]:
            counts["ok"] += 1
        elif result.scores.get("hit_at_k"):
            counts["gold_present_but_not_ranked_first"] += 1
        elif (result.case_id, result.repeat) in empty:
            counts["no_candidates_returned"] += 1
        else:
            counts["gold_missing_from_top_k"] += 1
    ranked = _ranked(counts)
    wrong = [reason for reason in ranked if reason != "ok"]
    return {"counts_by_reason": ranked, "most_common_reason": wrong[0] if wrong else None}


def _misses(cases: Sequence[Case], outputs: Sequence[Output], scored: Sequence[Result]) -> list[Table]:
    by_id = {case.id: case for case in cases}
    first = {(o.case_id, o.repeat): o.hits[0].id for o in outputs if o.hits}
    examples: list[Table] = []
    for result in scored:
        case = by_id.get(result.case_id)
        if case is None or result.scores.get("hit_at_k") or result.verdict is Verdict.PASS:
            continue
        predicted = first.get((result.case_id, result.repeat))
        examples.append(
            {"question_id": case.id, "question": case.query, "gold": list(case.gold_codes), "top1": predicted}
        )
        if len(examples) == _EXAMPLES:
            break
    return examples
