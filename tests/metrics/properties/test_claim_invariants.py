"""Identities that hold over every claim table (statistics 2.2)."""

from __future__ import annotations

import random

import pytest

from core.metrics.claim_metrics import claim_scores
from tests.metrics.properties.exercises_claims import claim_table


@pytest.mark.parametrize("seed", range(200))
def test_the_parts_of_an_answer_add_up(seed: int) -> None:
    scores, _ = claim_scores(claim_table(random.Random(seed)))
    if scores["hallucination"] is None:
        return  # no gold, no answer or no chunks: nothing to add up
    grounded, invented, known = (
        scores[name] for name in ("grounded_claim_ratio", "hallucination", "self_knowledge")
    )
    noise = [scores[name] for name in ("noise_sensitivity_relevant", "noise_sensitivity_irrelevant")]
    precision = scores["answer_claim_precision"]
    assert None not in (grounded, invented, known, precision, *noise)
    assert grounded + invented + known == pytest.approx(1)  # type: ignore[operator]
    assert sum(noise) + invented == pytest.approx(1 - precision)  # type: ignore[arg-type,operator]
    assert scores["hallucinated_claim_ratio"] == pytest.approx(1 - grounded)  # type: ignore[operator]


def test_most_tables_have_something_to_add_up() -> None:
    defined = [claim_scores(claim_table(random.Random(seed)))[0]["hallucination"] for seed in range(200)]
    assert sum(value is not None for value in defined) > 80
