"""Why a case failed: the first step of the chain that did not do its part (statistics.md 6.8).

From stored facts alone this is `observed`. Where the oracle ladder was run (`core.sweep_interventions`), the step
whose repair turns the answer right, beyond what asking again does, is `counterfactual`.

Facts are read from columns of the trace; a missing one decides nothing:
`gold_in_document`, `evidence_in_file`, `evidence_in_text`, `evidence_in_chunk`, `evidence_in_context` (1/0),
`evidence_deep_rank` (rank among `deep_candidates`, None: not among them), and the published metrics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from core.attribution.taxonomy import MECHANISMS

OBSERVED, COUNTERFACTUAL = "observed", "counterfactual"
Row = Mapping[str, Any]
# rung that first repairs the answer → mechanism (statistics.md 6.8, O1–O3)
RUNGS = ("deep", "oracle_ranking", "oracle_retrieval", "gold_context")
RUNG_MECHANISM = {
    "deep": "ranked_low",
    "oracle_ranking": "ranked_low",
    "oracle_retrieval": "not_retrieved",
    "gold_context": "distracted",
}


def is_failure(row: Row) -> bool:
    """FAIL and ERROR, and a WEAK that was found partial; a WEAK that could not be checked is no failure."""
    verdict = row.get("verdict")
    return verdict in ("FAIL", "ERROR") or (verdict == "WEAK" and row.get("auto_flag") == "partially_correct")


def attribute_failure(row: Row, ladder: Row | None = None) -> tuple[str, str, str]:
    """(mechanism, evidence in words, evidence level). `ladder` holds, for each rung, the share of repeats that were
    right under it (`deep`, `oracle_ranking`, `oracle_retrieval`, `gold_context`; None: not run) and `placebo`, the
    share that were right when nothing was changed."""
    mechanism, evidence = _cascade(row)
    if ladder is None or mechanism in (
        "error",
        "bad_reference",
        "evidence_not_extracted",
        "evidence_not_in_corpus",
        "evidence_split",
        "over_answered",
        "uncited",
    ):
        return mechanism, evidence, OBSERVED
    proven = _proven(ladder)
    if proven is None:
        return mechanism, evidence, OBSERVED
    rung, share, placebo = proven
    if rung is None:
        reason = "still wrong when only the evidence is shown"
        kept = (
            mechanism if MECHANISMS[mechanism][0] in ("answer_generation", "abstention") else "wrong_answer"
        )
        return kept, reason, COUNTERFACTUAL
    words = f"right in {share:.0%} of repeats with {rung.replace('_', ' ')}, in {placebo:.0%} when only asked again"
    found = RUNG_MECHANISM[rung]
    if rung in ("oracle_ranking", "gold_context") and mechanism == "cut_from_context":
        found = mechanism
    return found, words, COUNTERFACTUAL


def _proven(ladder: Row) -> tuple[str | None, float, float] | None:
    """The first rung that turns the answer right in a majority of repeats, and more often than the placebo; (None,
    …) when even the last rung does not; None when the ladder decides nothing."""
    placebo = _number(ladder.get("placebo")) or 0.0
    if placebo > 0.5:
        return None  # it comes right by itself: nothing was shown
    ran = False
    for rung in RUNGS:
        share = _number(ladder.get(rung))
        if share is None:
            continue
        ran = True
        if share > 0.5 and share > placebo:
            return rung, share, placebo
    last = _number(ladder.get("gold_context"))
    return (None, last, placebo) if ran and last is not None and last <= 0.5 else None


def _cascade(row: Row) -> tuple[str, str]:
    for step in (_unusable, _content, _retrieval, _context, _decision, _generation, _citation):
        found = step(row)
        if found:
            return found
    if (_number(row.get("prediction_confidence")) or 0.0) >= 0.85:
        return "overconfident", f"confidence {row['prediction_confidence']:.2f} on a failure"
    return "undetermined", "no recorded fact decides"


def _unusable(row: Row) -> tuple[str, str] | None:
    if row.get("verdict") == "ERROR":
        return "error", str(row.get("primary_error_reason") or "the case ended in an error")
    if _is(row, "gold_in_document", False):
        return "bad_reference", "the named document does not hold the reference answer"
    if _is(row, "expected_answerable", False) and not _is(row, "abstained", True):
        return "over_answered", "the documents hold no answer, and it answered"
    return None


def _content(row: Row) -> tuple[str, str] | None:
    if _is(row, "evidence_in_text", False):
        if _is(row, "evidence_in_file", True):
            return "evidence_not_extracted", "the evidence stands in the file, not in the extracted text"
        return "evidence_not_in_corpus", "the evidence is not in the text of any document"
    if _is(row, "evidence_in_chunk", False):
        return "evidence_split", "no chunk and no two neighbours hold the evidence"
    return None


def _retrieval(row: Row) -> tuple[str, str] | None:
    if _number(row.get("exact_top1_match")) is not None:
        return _classification(row)
    recall = _first(row, "evidence_recall", "recall_at_k", "hit_at_k", "target_doc_retrieved_at_k")
    if recall is None or recall > 0:
        return None
    deep = _number(row.get("evidence_deep_rank"))
    if deep is not None:
        return "ranked_low", f"the evidence stands at rank {deep:.0f} of the candidates, below the cut"
    searched = _number(row.get("deep_candidates"))
    depth = f" of {searched:.0f}" if searched else ""
    return "not_retrieved", f"the evidence is not among the candidates{depth}"


def _classification(row: Row) -> tuple[str, str] | None:
    rank = _number(row.get("first_relevant_rank"))
    near = _number(row.get("cpv_hierarchy_similarity_top1"))
    if rank is None:
        deep = _number(row.get("evidence_deep_rank"))
        if deep is not None:
            return "ranked_low", f"the right code stands at rank {deep:.0f}, below the cut"
        return "not_retrieved", "the right code is not among the candidates"
    if near is not None and near >= 0.5:
        return (
            "neighbour_chosen",
            f"a code of the same branch was chosen; the right one stands at rank {rank:.0f}",
        )
    return "ranked_low", f"the right code stands at rank {rank:.0f}"


def _context(row: Row) -> tuple[str, str] | None:
    if _is(row, "evidence_in_context", False):
        return "cut_from_context", "the evidence was retrieved and cut before the answer"
    recall, claims = _first(row, "evidence_recall", "recall_at_k"), _number(row.get("context_claim_recall"))
    if recall is not None and recall < 1 and claims is not None and claims < 0.5:
        return (
            "partial_evidence",
            f"{recall:.0%} of the evidence and {claims:.0%} of the gold claims were retrieved",
        )
    return None


def _decision(row: Row) -> tuple[str, str] | None:
    refused = _is(row, "abstained", True) or _is(row, "false_refusal", True)
    if refused and not _is(row, "expected_answerable", False):
        return "false_refusal", "it declined although the evidence was retrieved"
    return None


def _generation(row: Row) -> tuple[str, str] | None:
    if row.get("auto_flag") == "correct":
        return None
    known = _first(row, "evidence_recall", "recall_at_k", "context_claim_recall")
    if _number(row.get("contradicted_claim_count")):
        return "contradicted", "a claim contradicts the passages it was shown"
    if (_number(row.get("noise_sensitivity_relevant")) or 0) + (
        _number(row.get("noise_sensitivity_irrelevant")) or 0
    ) > 0.5:
        return "noise_followed", "most of its claims are wrong and come from other passages"
    if (_number(row.get("hallucinated_claim_ratio")) or 0) > 0.5:
        return "fabricated", f"{row['hallucinated_claim_ratio']:.0%} of its claims stand in no passage"
    said = _number(row.get("answer_claim_recall"))
    if row.get("auto_flag") == "partially_correct" or (said is not None and 0 < said < 1):
        return "incomplete", "a part of the reference is missing from the answer"
    if said == 0:
        return "not_extracted", "the evidence was shown, nothing of it is in the answer"
    return ("wrong_answer", "the evidence was shown and the answer is wrong") if known else None


def _citation(row: Row) -> tuple[str, str] | None:
    cited = _number(row.get("evidence_attribution_f1"))
    if row.get("auto_flag") == "correct" and cited is not None and cited < 1:
        return "uncited", f"the answer is right, its citations reach {cited:.0%}"
    return None


def _first(row: Row, *names: str) -> float | None:
    return next((value for value in (_number(row.get(name)) for name in names) if value is not None), None)


def _is(row: Row, name: str, wanted: bool) -> bool:
    value = row.get(name)
    if isinstance(value, bool):
        return value is wanted
    number = _number(value)
    return number is not None and bool(number) is wanted


def _number(value: Any) -> float | None:
    if value is None or isinstance(value, str):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if math.isnan(number) else number
