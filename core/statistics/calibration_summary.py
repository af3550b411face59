"""Everything that is said about the confidences of a run, as plain values for its summary and tables for its pages."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from core.statistics.calibration import MIN_PLOT, auroc, brier, ece, reliability_bins, spiegelhalter
from core.statistics.intervals import clustered_mean, wilson
from core.statistics.recalibration import recalibrate
from core.statistics.selective import areas, risk_coverage, thinned, threshold_for_precision

TARGETS = (0.8, 0.9, 0.95)
HIGH = 0.85
_LISTED = 50


def calibration_summary(
    pairs: Sequence[tuple[float, bool]],
    *,
    probabilities: bool = True,
    clusters: Sequence[Hashable | None] | None = None,
    ids: Sequence[str] | None = None,
    high: float = HIGH,
    seed: int = 0,
) -> dict[str, Any]:
    """Calibration of a run from (confidence, right) of every case that has both.

    `probabilities` False (or a value outside of [0, 1]): the values only rank, so ECE, Brier and reliability are
    absent and `score_kind` is "ranking". Keys: n_scored, score_kind, mean_confidence, accuracy, brier_score, expected_calibration_error, bins
    (published names); ece_null_mean, ece_null_p95, ece_p, brier_miscalibration, brier_discrimination,
    brier_uncertainty, calibration_in_the_large, auroc, aurc, excess_aurc, augrc, thresholds, recalibration,
    high_confidence_wrong. A figure that is not defined is None and `notes` says why.
    """
    scores = [float(score) for score, _ in pairs]
    correct = [float(right) for _, right in pairs]
    found: dict[str, Any] = {"n_scored": len(scores), "notes": []}
    if not scores:
        found["notes"].append("no case has a confidence and a known answer")
        return found
    probable = probabilities and min(scores) >= 0 and max(scores) <= 1
    found["score_kind"] = "probability" if probable else "ranking"
    found["accuracy"] = sum(correct) / len(correct)
    if len(set(correct)) == 1:
        every = "right" if correct[0] else "wrong"
        found["notes"].append(
            f"all answers are {every}: AUROC, thresholds by rank and recalibration are not defined"
        )
    found["auroc"] = auroc(scores, correct)
    area = areas(scores, correct)
    if area is not None:
        found |= {"aurc": area.aurc, "excess_aurc": area.excess, "augrc": area.augrc}
    found["thresholds"] = [asdict(threshold_for_precision(scores, correct, target)) for target in TARGETS]
    if probable:
        found |= _of_probabilities(scores, correct, clusters, seed)
        found["high_confidence_wrong"] = _high_wrong(scores, correct, ids, high)
    else:
        found["notes"].append("the scores rank and are no probabilities: no ECE, Brier score or reliability")
    found["recalibration"] = _recalibration(scores, correct, clusters, seed)
    return found


def calibration_tables(
    pairs: Sequence[tuple[float, bool]], *, probabilities: bool = True, seed: int = 0
) -> dict[str, list[dict[str, Any]]]:
    """Tables `reliability` (bins with consistency bands; empty for rankings and below 30 cases) and
    `risk_coverage` (threshold, n, coverage, risk, undetected, risk_low, risk_high)."""
    scores = [float(score) for score, _ in pairs]
    correct = [float(right) for _, right in pairs]
    probable = probabilities and bool(scores) and min(scores) >= 0 and max(scores) <= 1
    bins = reliability_bins(scores, correct, seed=seed) if probable and len(scores) >= MIN_PLOT else []
    curve = []
    for step in thinned(risk_coverage(scores, correct)):
        interval = wilson(step.risk * step.n, step.n)
        bounds = {"risk_low": interval.low, "risk_high": interval.high} if interval else {}
        curve.append({**asdict(step), **bounds})
    return {"reliability": [asdict(each) for each in bins], "risk_coverage": curve}


def _of_probabilities(
    scores: Sequence[float], correct: Sequence[float], clusters: Sequence[Hashable | None] | None, seed: int
) -> dict[str, Any]:
    error, parts, z = ece(scores, correct, seed=seed), brier(scores, correct), spiegelhalter(scores, correct)
    gaps = [score - right for score, right in zip(scores, correct, strict=True)]
    interval = clustered_mean(gaps, clusters, bounds=(-1.0, 1.0))
    found: dict[str, Any] = {
        "mean_confidence": math.fsum(scores) / len(scores),
        "calibration_in_the_large": math.fsum(gaps) / len(gaps),
        "calibration_in_the_large_low": interval.low if interval else None,
        "calibration_in_the_large_high": interval.high if interval else None,
        "spiegelhalter_z": z[0] if z else None,
        "spiegelhalter_p": z[1] if z else None,
        "bins": [
            {
                "range": f"[{each.low:.1f}, {each.high:.1f}{']' if each.high == 1 else ')'}",
                **{
                    name: getattr(each, name)
                    for name in ("n", "mean_confidence", "accuracy", "band_low", "band_high")
                },
            }
            for each in reliability_bins(scores, correct, seed=seed)
        ],
    }
    if error is not None:
        found |= {
            "expected_calibration_error": error.value,
            "ece_null_mean": error.null_mean,
            "ece_null_p95": error.null_p95,
            "ece_p": error.p,
        }
    if parts is not None:
        found |= {
            "brier_score": parts.score,
            "brier_miscalibration": parts.miscalibration,
            "brier_discrimination": parts.discrimination,
            "brier_uncertainty": parts.uncertainty,
        }
    return found


def _high_wrong(
    scores: Sequence[float], correct: Sequence[float], ids: Sequence[str] | None, high: float
) -> dict[str, Any]:
    """P(wrong | high) and P(high | wrong) with Wilson intervals, and the cases, surest first."""
    places = [at for at, score in enumerate(scores) if score >= high]
    wrong = [at for at in places if not correct[at]]
    all_wrong = sum(not right for right in correct)

    def rate(part: int, whole: int) -> dict[str, Any]:
        interval = wilson(part, whole)
        return {
            "rate": part / whole if whole else None,
            "n": whole,
            "low": interval.low if interval else None,
            "high": interval.high if interval else None,
        }

    listed = sorted(wrong, key=lambda at: (-scores[at], at))[:_LISTED]
    return {
        "limit": high,
        "n": len(wrong),
        "wrong_given_high": rate(len(wrong), len(places)),
        "high_given_wrong": rate(len(wrong), all_wrong),
        "cases": [{"id": ids[at] if ids else str(at), "confidence": scores[at]} for at in listed],
    }


def _recalibration(
    scores: Sequence[float], correct: Sequence[float], clusters: Sequence[Hashable | None] | None, seed: int
) -> dict[str, Any] | None:
    made = recalibrate(scores, correct, clusters=clusters, seed=seed)
    if made is None:
        return None
    error = ece(np.clip(made.probabilities, 0, 1).tolist(), correct, seed=seed)
    gain = made.gain_interval
    return {
        "method": made.method,
        "brier_score": made.brier,
        "expected_calibration_error": error.value if error else None,
        "ece_null_mean": error.null_mean if error else None,
        "brier_gain": made.gain,
        "brier_gain_low": gain.low if gain else None,
        "brier_gain_high": gain.high if gain else None,
        "better": made.ships,
    }
