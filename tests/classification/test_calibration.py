"""Calibration and selective answering: worked values, nulls, cross-fitting, and what is not defined."""

from __future__ import annotations

import numpy as np
import pytest

from core.statistics.calibration import auroc, brier, ece, reliability_bins, spiegelhalter
from core.statistics.calibration_summary import calibration_summary, calibration_tables
from core.statistics.recalibration import recalibrate
from core.statistics.selective import areas, risk_coverage, threshold_for_precision

C = (0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.55, 0.4, 0.3, 0.2)
Y = (1, 1, 0, 1, 1, 0, 1, 0, 1, 0)


def test_worked_values_of_the_methodology() -> None:
    parts, area = brier(C, Y), areas(C, Y)
    assert parts is not None
    assert area is not None
    assert (parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty) == pytest.approx(
        (0.2117, 0.0451, 0.0733, 0.24), abs=1e-4
    )
    assert (area.aurc, area.augrc) == pytest.approx((0.2511, 0.1700), abs=1e-4)
    assert parts.miscalibration - parts.discrimination + parts.uncertainty == pytest.approx(parts.score)


def test_a_perfectly_calibrated_system_shows_the_published_ece() -> None:
    rng = np.random.default_rng(5)
    values = []
    for _ in range(40):
        c = rng.beta(5, 2, 100)
        found = ece(c.tolist(), (rng.random(100) < c).astype(float).tolist(), bins=10)
        assert found is not None
        values.append((found.value, found.null_mean, found.p))
    assert np.mean([value for value, _, _ in values]) == pytest.approx(0.090, abs=0.012)
    assert np.mean([null for _, null, _ in values]) == pytest.approx(0.090, abs=0.006)
    assert np.mean([p <= 0.05 for *_, p in values]) <= 0.15


def test_overconfidence_is_told_from_noise() -> None:
    rng = np.random.default_rng(6)
    c = rng.beta(5, 2, 400)
    found = ece(c.tolist(), (rng.random(400) < c - 0.15).astype(float).tolist())
    z = spiegelhalter(c.tolist(), (rng.random(400) < c - 0.15).astype(float).tolist())
    assert found is not None
    assert z is not None
    assert found.p < 0.01
    assert found.value > found.null_p95
    assert z[1] < 0.01


def test_edges_of_bins_belong_to_the_bin_above() -> None:
    bins = reliability_bins([0.2, 0.4, 0.6, 0.8, 1.0], [1, 1, 1, 1, 1])
    assert [(each.low, each.n) for each in bins] == [(0.2, 1), (0.4, 1), (0.6, 1), (0.8, 2)]


def test_ranking_quality_needs_both_outcomes() -> None:
    assert auroc([3.0, 2.0, 1.0], [1, 1, 0]) == 1.0
    assert auroc([1.0, 1.0], [1, 0]) == 0.5
    assert auroc([1.0, 2.0], [1, 1]) is None
    summary = calibration_summary([(0.9, True)] * 40)
    assert summary["auroc"] is None
    assert summary["recalibration"] is None
    assert any("not defined" in note for note in summary["notes"])


def test_scores_that_only_rank_get_no_ece() -> None:
    summary = calibration_summary([(12.0, True), (3.0, False)] * 30)
    assert summary["score_kind"] == "ranking"
    assert summary["auroc"] == 1.0
    assert "expected_calibration_error" not in summary
    assert "brier_score" not in summary
    assert calibration_tables([(12.0, True), (3.0, False)] * 30)["reliability"] == []
    with pytest.raises(ValueError, match="no probability"):
        brier([1.2], [1])


def test_no_confidence_at_all() -> None:
    assert calibration_summary([]) == {
        "n_scored": 0,
        "notes": ["no case has a confidence and a known answer"],
    }


def test_equal_scores_are_answered_together() -> None:
    steps = risk_coverage([0.9, 0.9, 0.5], [1, 0, 1])
    assert [(step.n, step.risk) for step in steps] == [(2, 0.5), (3, 1 / 3)]
    assert steps[-1].coverage == 1.0
    one, other = areas([0.9, 0.9], [1, 0]), areas([0.9, 0.9], [0, 1])
    assert one == other


def test_coverage_weighted_risk_is_the_error_rate_at_full_coverage() -> None:
    rng = np.random.default_rng(2)
    scores, right = rng.random(200).tolist(), (rng.random(200) < 0.7).astype(float).tolist()
    last = risk_coverage(scores, right)[-1]
    assert last.risk == pytest.approx(1 - np.mean(right))
    assert last.undetected == pytest.approx(1 - np.mean(right))


def test_a_threshold_needs_enough_cases() -> None:
    few = threshold_for_precision([0.9] * 20, [1] * 20, 0.95)
    assert few.threshold is None
    assert "59" in few.note
    many = threshold_for_precision([0.9] * 60 + [0.1] * 60, [1] * 60 + [0] * 60, 0.95)
    assert (many.threshold, many.n) == (0.9, 60)
    assert many.low is not None
    assert many.low >= 0.95


def test_a_certified_threshold_holds_on_fresh_data_as_often_as_it_says() -> None:
    rng = np.random.default_rng(11)
    broken = 0
    for _ in range(120):
        c = rng.random(300)
        found = threshold_for_precision(c.tolist(), (rng.random(300) < c).astype(float).tolist(), 0.9)
        if found.threshold is not None:
            broken += (1 + found.threshold) / 2 < 0.9  # precision above t when accuracy equals confidence
    assert broken / 120 <= 0.05 + 3 * (0.05 * 0.95 / 120) ** 0.5


@pytest.mark.parametrize(("n", "method"), [(200, "platt"), (1500, "isotonic")])
def test_recalibration_is_out_of_fold_and_helps(n: int, method: str) -> None:
    rng = np.random.default_rng(7)
    c = np.clip(rng.beta(8, 2, n), 0.01, 0.99)
    y = (rng.random(n) < c - 0.3).astype(float)
    found = recalibrate(c.tolist(), y.tolist())
    assert found is not None
    assert found.method == method
    assert found.ships
    assert found.gain is not None
    assert found.gain > 0.05
    assert all(0 <= p <= 1 for p in found.probabilities)


def test_recalibrating_noise_does_not_ship() -> None:
    rng = np.random.default_rng(8)
    c = rng.beta(5, 2, 300)
    found = recalibrate(c.tolist(), (rng.random(300) < c).astype(float).tolist())
    assert found is not None
    assert not found.ships


def test_the_same_seed_gives_the_same_summary() -> None:
    pairs = list(zip(C, map(bool, Y), strict=True))
    assert calibration_summary(pairs) == calibration_summary(pairs)


def test_wrong_with_high_confidence_both_ways() -> None:
    found = calibration_summary(
        [(0.9, False), (0.9, True), (0.3, False), (0.86, False)], ids=["a", "b", "c", "d"]
    )
    high = found["high_confidence_wrong"]
    assert high["wrong_given_high"]["rate"] == pytest.approx(2 / 3)
    assert high["high_given_wrong"]["rate"] == pytest.approx(2 / 3)
    assert [case["id"] for case in high["cases"]] == ["a", "d"]
