"""Do confidences mean what they say? Reliability, ECE beside its null, Brier with its decomposition, AUROC.

Everywhere `confidences` lie in [0, 1] and claim to be probabilities of being right; `correct` are 0 or 1. Definitions
of statistics.md 5. A figure that a sample cannot give is None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
BINS = 5
RESAMPLES = 999
MIN_PLOT = 30  # below it a reliability curve is noise


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin [low, high) of confidences (the last includes 1). `band_low`/`band_high` are the middle 90 % of the
    accuracy a perfectly calibrated system would show with these very confidences."""

    low: float
    high: float
    n: int
    mean_confidence: float
    accuracy: float
    band_low: float
    band_high: float


@dataclass(frozen=True, slots=True)
class Ece:
    """Expected calibration error beside what perfect calibration would show: mean and 95 % point of the null, and
    p = (1 + #{null ≥ observed}) / (resamples + 1)."""

    value: float
    null_mean: float
    null_p95: float
    p: float


@dataclass(frozen=True, slots=True)
class Brier:
    """Brier score and its CORP decomposition: score = miscalibration − discrimination + uncertainty."""

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


def reliability_bins(
    confidences: Sequence[float], correct: Sequence[float], *, bins: int = BINS, seed: int = 0
) -> list[Bin]:
    """Equal-width bins with consistency bands (Bröcker & Smith 2007); empty bins are left out."""
    c, y = _arrays(confidences, correct)
    place = _places(c, bins)
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(bins):
        here = place == number
        n = int(here.sum())
        if not n:
            continue
        drawn = (rng.random((RESAMPLES, n)) < c[here]).mean(axis=1)
        low, high = np.quantile(drawn, (0.05, 0.95))
        rows.append(
            Bin(
                number / bins,
                (number + 1) / bins,
                n,
                float(c[here].mean()),
                float(y[here].mean()),
                float(low),
                float(high),
            )
        )
    return rows


def ece(
    confidences: Sequence[float], correct: Sequence[float], *, bins: int = BINS, seed: int = 0
) -> Ece | None:
    """Σ_b (n_b / n) |accuracy_b − mean confidence_b| over equal-width bins; None without cases.

    The null draws every outcome anew from its own confidence. "ECE .12 on 50 questions" is what perfect
    calibration looks like: read the value beside the null.
    """
    c, y = _arrays(confidences, correct)
    if not len(c):
        return None
    place = _places(c, bins)
    value = _ece(c, y[None, :], place, bins)[0]
    rng = np.random.default_rng(seed)
    null = np.concatenate(
        [
            _ece(c, (rng.random((rows, len(c))) < c).astype(float), place, bins)
            for rows in _blocks(RESAMPLES, len(c))
        ]
    )
    p = (1 + int((null >= value - 1e-12).sum())) / (RESAMPLES + 1)
    return Ece(float(value), float(null.mean()), float(np.quantile(null, 0.95)), p)


def _ece(c: Array, y: Array, place: Array, bins: int) -> Array:
    """ECE of each row of outcomes (rows, n)."""
    membership = np.zeros((len(c), bins))
    membership[np.arange(len(c)), place] = 1.0
    return np.asarray(np.abs((y - c) @ membership).sum(axis=1) / len(c))


def _blocks(total: int, n: int) -> list[int]:
    rows = max(1, min(total, 2_000_000 // max(1, n)))
    return [min(rows, total - start) for start in range(0, total, rows)]


def brier(confidences: Sequence[float], correct: Sequence[float]) -> Brier | None:
    """Mean squared error of the confidences, decomposed without bins (Dimitriadis, Gneiting & Jordan 2021): the
    isotonic fit of the outcomes on the confidences replaces the bins. None without cases."""
    c, y = _arrays(confidences, correct)
    if not len(c):
        return None
    fitted = isotonic(c, y)
    score, recalibrated = float(((c - y) ** 2).mean()), float(((fitted - y) ** 2).mean())
    uncertainty = float(y.mean() * (1 - y.mean()))
    return Brier(score, score - recalibrated, uncertainty - recalibrated, uncertainty)


def isotonic(c: Array, y: Array) -> Array:
    """The isotonic fit of `y` on `c` at every point; equal confidences get one value (pool adjacent violators)."""
    from scipy.optimize import isotonic_regression

    values, group = np.unique(c, return_inverse=True)
    counts = np.bincount(group).astype(float)
    means = np.bincount(group, weights=y) / counts
    fitted = isotonic_regression(means, weights=counts).x if len(values) > 1 else means
    return np.asarray(fitted)[group]


def auroc(scores: Sequence[float], correct: Sequence[float]) -> float | None:
    """Probability that a right answer has a higher score than a wrong one, ties counting half. None (not defined)
    where all answers are right or all are wrong. Scores need not be probabilities."""
    x, y = np.asarray(scores, dtype=float), np.asarray(correct, dtype=float)
    right, wrong = int(y.sum()), int(len(y) - y.sum())
    if not right or not wrong:
        return None
    order = np.argsort(x, kind="stable")
    _, first, size = np.unique(x[order], return_index=True, return_counts=True)
    ranks = np.empty(len(x))
    ranks[order] = np.repeat(first + (size + 1) / 2, size)
    return float((ranks[y == 1].sum() - right * (right + 1) / 2) / (right * wrong))


def spiegelhalter(confidences: Sequence[float], correct: Sequence[float]) -> tuple[float, float] | None:
    """(Z, two-sided p) of Spiegelhalter's test of calibration; None where it is not defined (all confidences .5,
    0 or 1). Has no power against errors that cancel."""
    c, y = _arrays(confidences, correct)
    variance = float((((1 - 2 * c) ** 2) * c * (1 - c)).sum())
    if variance <= 0:
        return None
    z = float(((y - c) * (1 - 2 * c)).sum() / math.sqrt(variance))
    return z, math.erfc(abs(z) / math.sqrt(2))


def _places(c: Array, bins: int) -> Array:
    # .6 × 5 is 3.0000000000000004 or 2.9999999999999996 by its rounding: the edge belongs to the bin above
    return np.minimum((c * bins + 1e-9).astype(int), bins - 1)


def _arrays(confidences: Sequence[float], correct: Sequence[float]) -> tuple[Array, Array]:
    c, y = np.asarray(confidences, dtype=float), np.asarray(correct, dtype=float)
    if len(c) != len(y):
        raise ValueError(f"{len(c)} confidences but {len(y)} outcomes")
    if len(c) and not (np.isfinite(c).all() and c.min() >= 0 and c.max() <= 1):
        raise ValueError("confidences must lie in [0, 1]; a score that does not is no probability")
    return c, y
