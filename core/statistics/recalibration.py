"""Scores → probabilities, cross-fitted: every case is judged by a map that has not seen it (statistics.md 5.5)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from core.statistics.calibration import isotonic
from core.statistics.clusters import cluster_index
from core.statistics.intervals import Interval, clustered_mean

Method = Literal["platt", "isotonic"]
FOLDS = 5
ISOTONIC_FROM = 1000  # below it only one- and two-parameter maps are stable
MIN_CASES = 30
_RIDGE = 1e-3


@dataclass(frozen=True, slots=True)
class Recalibrated:
    """`probabilities` are out of fold, in the order of the scores. `gain` is the mean Brier gain over the raw
    confidences (above 0: better) with its interval; None where the raw scores are no probabilities. `ships` says
    that the gain is shown."""

    method: Method
    probabilities: tuple[float, ...]
    brier: float
    gain: float | None = None
    gain_interval: Interval | None = None
    ships: bool = False


def recalibrate(
    scores: Sequence[float],
    correct: Sequence[float],
    *,
    clusters: Sequence[Hashable | None] | None = None,
    method: Method | None = None,
    seed: int = 0,
) -> Recalibrated | None:
    """Cross-fitted Platt scaling (below 1,000 cases) or isotonic regression, five folds, clusters kept together.

    None below 30 cases, and where all answers are right or all are wrong.
    """
    x, y = np.asarray(scores, dtype=float), np.asarray(correct, dtype=float)
    if len(x) < MIN_CASES or y.min() == y.max():
        return None
    chosen: Method = method or ("isotonic" if len(x) >= ISOTONIC_FROM else "platt")
    fold = _folds(cluster_index(clusters, len(x)), seed)
    out = np.empty(len(x))
    for number in range(FOLDS):
        test, train = fold == number, fold != number
        if not test.any():
            continue
        out[test] = _map(chosen, x[train], y[train], x[test])
    brier = float(((out - y) ** 2).mean())
    probable = bool(x.min() >= 0 and x.max() <= 1)
    if not probable:
        return Recalibrated(chosen, tuple(out.tolist()), brier)
    gains = (x - y) ** 2 - (out - y) ** 2
    interval = clustered_mean(gains.tolist(), clusters, bounds=(None, None))
    return Recalibrated(
        chosen,
        tuple(out.tolist()),
        brier,
        float(gains.mean()),
        interval,
        interval is not None and interval.low > 0,
    )


def _folds(groups: Any, seed: int) -> Any:
    unique = np.unique(groups)
    order = np.random.default_rng(seed).permutation(len(unique))
    of_group = np.empty(len(unique), dtype=int)
    of_group[order] = np.arange(len(unique)) % FOLDS
    return of_group[np.searchsorted(unique, groups)]


def _map(method: Method, x: Any, y: Any, new: Any) -> Any:
    if method == "isotonic":
        values, first = np.unique(x, return_index=True)
        return np.interp(new, values, isotonic(x, y)[first])
    return _platt(x, y, new)


def _platt(x: Any, y: Any, new: Any) -> Any:
    """Logistic regression on the standardised score (on its logit where scores are probabilities), with a weak
    ridge; Newton's method."""
    a, b = _feature(x, x), _feature(x, new)
    centre, scale = a.mean(), a.std() or 1.0
    design = np.column_stack([np.ones(len(a)), (a - centre) / scale])
    # Platt's targets keep the fit finite where the scores separate perfectly
    right = y.sum()
    target = np.where(y == 1, (right + 1) / (right + 2), 1 / (len(y) - right + 2))
    weights = np.zeros(2)
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        gradient = design.T @ (p - target) + _RIDGE * weights
        hessian = (design * (p * (1 - p))[:, None]).T @ design + _RIDGE * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        weights = weights - step
        if float(np.abs(step).max()) < 1e-9:
            break
    z = weights[0] + weights[1] * (b - centre) / scale
    return 1 / (1 + np.exp(-np.clip(z, -30, 30)))


def _feature(reference: Any, values: Any) -> Any:
    if reference.min() >= 0 and reference.max() <= 1:
        clipped = np.clip(values, 1e-4, 1 - 1e-4)
        return np.log(clipped / (1 - clipped))
    return values
