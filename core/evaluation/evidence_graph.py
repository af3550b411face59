"""Patterns among the errors of a run: which kind of step they point to (`evidence_graph_summary.json`).

Counts are of cases that were decided and did not pass. A rate is None where there is no such case, a pattern None
where the run has nothing to see it by (a knowledge graph that is off); neither is ever 0 for "not known".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.records import Case, Hit, Output, Result, Verdict

STRONG_SUPPORT = 0.8  # context claim recall from which the evidence was there
MANY_DOCUMENTS = 3
_LISTED = 10
_OF_GRAPHS = (
    "missing_relation_evidence", "graph_noise", "graph_gain_but_wrong", "unsupported_without_graph_path",
    "graph_only_addition",
)  # fmt: skip
_Patterns = Mapping[str, bool]


def evidence_graph(
    cases: Sequence[Case], outputs: Sequence[Output], results: Sequence[Result], *, classified: bool
) -> dict[str, Any]:
    """Error patterns with their counts and rates, and the signal each component gets from them, each in [0, 1]."""
    given = {(output.case_id, output.repeat): output.hits for output in outputs}
    decided = [result for result in results if result.verdict is not Verdict.ERROR]
    errors = [result for result in decided if result.verdict is not Verdict.PASS]
    hits = [given.get((result.case_id, result.repeat), ()) for result in errors]
    read = _of_codes if classified else _of_answers
    patterns = [read(result, found) for result, found in zip(errors, hits, strict=True)]
    counts: dict[str, int | None] = dict(sorted(_added(patterns).items()))
    rates = {
        name: count / len(errors) if errors and count is not None else None for name, count in counts.items()
    }
    first = [result.scores["exact_top1_match"] for result in decided if "exact_top1_match" in result.scores]
    wrong = [value for value in first if value is not None]
    if not classified:
        counts |= dict.fromkeys(_OF_GRAPHS)
        rates |= dict.fromkeys(_OF_GRAPHS)
    return {
        "enabled": True,
        "n_questions": len(cases),
        "n_errors": len(errors),
        "top1_wrong_rate": 1 - sum(wrong) / len(wrong) if wrong else None,
        "error_patterns": counts,
        "rates": rates,
        **(_confusions(cases, errors, hits) if classified else {}),
        "component_signals": _signals(rates, classified),
    }


def _added(patterns: Iterable[_Patterns]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for each in patterns:
        counts.update({name: int(holds) for name, holds in each.items()})
    return counts


def _of_answers(result: Result, hits: Sequence[Hit]) -> _Patterns:
    diagnosis = result.diagnosis
    reason = diagnosis.primary_reason if diagnosis else ""
    claim = (diagnosis.claim_diagnostic or "") if diagnosis else ""
    strong = (result.scores.get("context_claim_recall") or 0.0) >= STRONG_SUPPORT
    return {
        "graph_supported_false_refusals": strong and reason == "false_refusal",
        "graph_supported_incomplete": strong and reason.startswith("answer_incomplete"),
        "graph_supported_contradiction": strong and "claim_contradiction" in (reason, claim),
        "cross_doc_pressure": len({hit.doc_path for hit in hits[:_LISTED] if hit.doc_path}) >= MANY_DOCUMENTS,
    }


def _of_codes(result: Result, hits: Sequence[Hit]) -> _Patterns:
    scores, about = result.scores, result.artifacts
    relation = about.get("error_relation")
    missing = scores.get("gold_present_at_k") == 0
    same = about.get("gold_division") is not None and about["gold_division"] == about.get("top1_division")
    return {
        "parent_child": relation in ("ancestor", "descendant"),
        "sibling": relation == "sibling",
        "same_division": same,
        "low_margin_same_branch": same and bool(scores.get("low_margin_decision")),
        "one_branch_top3": len(hits) >= 3 and len({hit.id[:2] for hit in hits[:3]}) == 1,
        "duplicate_pressure": bool(scores.get("duplicate_candidate_pressure")),
        "high_confidence_wrong": bool(scores.get("high_confidence_wrong")),
        "gold_missing": missing,
        "gold_not_first": scores.get("gold_present_at_k") == 1,
        "short_query_gold_missing": missing and bool(scores.get("short_or_ambiguous_query")),
        "low_diversity_gold_missing": missing and bool(scores.get("low_diversity_at_k")),
        "notice_example_supported": bool(hits) and "example" in hits[0].source,
    }


def _signals(rates: Mapping[str, float | None], classified: bool) -> dict[str, float | None]:
    if not classified:
        parts = [rates.get(f"graph_supported_{name}") for name in ("incomplete", "contradiction")]
        return {
            "graph_coverage": None,
            "graph_noise": None,
            "answer_synthesis": _largest(parts),
            "refusal_policy": rates.get("graph_supported_false_refusals"),
            "context_selection": rates.get("cross_doc_pressure"),
        }
    return {
        "retriever": rates.get("gold_missing"),
        "query_enrichment": rates.get("short_query_gold_missing"),
        "hierarchy": _largest([rates.get("parent_child"), rates.get("sibling")]),
        "selection": rates.get("gold_not_first"),
        "examples": rates.get("notice_example_supported"),
        "deduplication": rates.get("duplicate_pressure"),
        "calibration": rates.get("high_confidence_wrong"),
    }


def _largest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _confusions(
    cases: Sequence[Case], errors: Sequence[Result], hits: Sequence[Sequence[Hit]]
) -> dict[str, Any]:
    """The commonest mistakes; a pair across divisions has two of them."""
    gold = {case.id: case.gold_codes[0] for case in cases if case.gold_codes}
    known = [
        (gold[result.case_id], found[0].id, result.artifacts)
        for result, found in zip(errors, hits, strict=True)
        if result.case_id in gold and found
    ]
    across = [
        (about["gold_division"], about["top1_division"])
        for _, _, about in known
        if about.get("gold_division") and about.get("top1_division")
    ]
    missed = [gold[r.case_id] for r in errors if r.case_id in gold and r.scores.get("gold_present_at_k") == 0]
    return {
        "top_confusion_pairs": _top(f"{right}->{said}" for right, said, _ in known),
        "top_wrong_predicted_codes": _top(said for _, said, _ in known),
        "top_missed_gold_codes": _top(missed),
        "top_cross_division_confusions": _top(f"{a}->{b}" for a, b in across if a != b),
    }


def _top(names: Iterable[str]) -> list[dict[str, Any]]:
    ranked = sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0]))[:_LISTED]
    return [{"name": name, "count": count} for name, count in ranked]
