"""Our claim metrics on RAGChecker's own labels give RAGChecker's own figures."""

from __future__ import annotations

import json

import pytest

from core.metrics.claim_metrics import claim_scores
from core.metrics.claims import ClaimTable
from core.metrics.support import Label, Support
from tests.real_data import real_data

LABELS: dict[str, Label] = {
    "Entailment": "supported",
    "Contradiction": "contradicted",
    "Neutral": "not_enough_info",
}
OURS = {
    "precision": "answer_claim_precision",
    "recall": "answer_claim_recall",
    "f1": "answer_claim_f1",
    "claim_recall": "context_claim_recall",
    "context_precision": "context_precision",
    "faithfulness": "grounded_claim_ratio",
    "noise_sensitivity_in_relevant": "noise_sensitivity_relevant",
    "noise_sensitivity_in_irrelevant": "noise_sensitivity_irrelevant",
    "hallucination": "hallucination",
    "self_knowledge": "self_knowledge",
    "context_utilization": "context_utilization",
}


def _supports(rows: list[list[str]]) -> tuple[tuple[Support, ...], ...]:
    return tuple(tuple(Support(LABELS[label], float(label == "Entailment")) for label in row) for row in rows)


@pytest.mark.parametrize("index", [0, 1])
def test_same_figures(index: int) -> None:
    file = real_data("ragchecker_meta", "checking_outputs_example.json")
    result = json.loads(file.read_text("utf-8"))["results"][index]
    table = ClaimTable(
        gold=tuple(" ".join(claim) for claim in result["gt_answer_claims"]),
        answer=tuple(" ".join(claim) for claim in result["response_claims"]),
        chunk_ids=tuple(chunk["doc_id"] for chunk in result["retrieved_context"]),
        gold_in_answer=tuple(LABELS[label] for label in result["response2answer"]),
        answer_in_gold=tuple(LABELS[label] for label in result["answer2response"]),
        gold_in_chunks=_supports(result["retrieved2answer"]),
        answer_in_chunks=_supports(result["retrieved2response"]),
    )
    scores, _ = claim_scores(table)
    for theirs, ours in OURS.items():
        assert scores[ours] == pytest.approx(result["metrics"][theirs]), theirs
