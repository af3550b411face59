"""A linear model with question fixed effects for unbalanced grids, and which columns it cannot tell apart
(statistics.md 6.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.statistics.clusters import MIN_CLUSTERS

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class FixedEffects:
    """Coefficients in the order of the columns; NaN where a column is aliased. `aliased` maps such a column to
    the columns it is a combination of. `units` is the number of clusters the errors are robust to."""

    beta: Array
    low: Array
    high: Array
    se: Array
    p: Array
    aliased: dict[int, tuple[int, ...]]
    units: int


def independent_columns(design: Array) -> tuple[list[int], dict[int, tuple[int, ...]]]:
    """Columns that can be told apart from those before them and from a constant, and for each other column the
    earlier ones that make it up (empty: it never changes)."""
    centred = design - design.mean(axis=0)
    kept: list[int] = []
    aliased: dict[int, tuple[int, ...]] = {}
    for j in range(design.shape[1]):
        column = centred[:, j]
        if not kept:
            weights, rest = np.zeros(0), column
        else:
            weights = np.linalg.lstsq(centred[:, kept], column, rcond=None)[0]
            rest = column - centred[:, kept] @ weights
        if np.linalg.norm(rest) <= 1e-8 * max(1.0, float(np.linalg.norm(column))):
            aliased[j] = tuple(kept[i] for i, w in enumerate(weights) if abs(w) > 1e-8)
        else:
            kept.append(j)
    return kept, aliased


def fixed_effects(scores: Array, design: Array, index: Array, level: float = 0.95) -> FixedEffects:
    """Y = α_q + Xβ + ε with CR1 errors by question cluster.

    `scores` is configurations × questions (NaN: cell absent), `design` configurations × columns, `index` the
    cluster of each question (fewer than five clusters: questions count as independent). On a complete grid β is
    the effect of matched pairs.
    """
    from scipy.special import stdtr, stdtrit

    kept, aliased = independent_columns(design)
    width = design.shape[1]
    nothing = np.full(width, np.nan)
    if not kept or np.isnan(scores).all():
        return FixedEffects(nothing, nothing, nothing, nothing, nothing, aliased, 0)
    x = design[:, kept]
    if int(index.max()) + 1 < MIN_CLUSTERS:
        index = np.arange(scores.shape[1])
    gram, moment = np.zeros((len(kept), len(kept))), np.zeros(len(kept))
    within = [_within(scores[:, q], x) for q in range(scores.shape[1])]
    for xq, yq in within:
        gram += xq.T @ xq
        moment += xq.T @ yq
    inverse = np.linalg.pinv(gram)
    beta = inverse @ moment
    pushes = np.array([xq.T @ (yq - xq @ beta) for xq, yq in within])
    groups = int(index.max()) + 1
    sums = np.zeros((groups, len(kept)))
    np.add.at(sums, index, pushes)
    covariance = inverse @ (sums.T @ sums) @ inverse * groups / max(groups - 1, 1)
    se = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    half = float(stdtrit(max(groups - 1, 1), 0.5 + level / 2)) * se
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(max(groups - 1, 1), -np.abs(np.where(se > 0, beta / np.where(se > 0, se, 1), 0.0)))
    full = [nothing.copy() for _ in range(5)]
    for target, values in zip(full, (beta, beta - half, beta + half, se, p), strict=True):
        target[kept] = values
    return FixedEffects(full[0], full[1], full[2], full[3], full[4], aliased, groups)


def _within(y: Array, x: Array) -> tuple[Array, Array]:
    present = ~np.isnan(y)
    if present.sum() < 2:
        return np.zeros((0, x.shape[1])), np.zeros(0)
    return x[present] - x[present].mean(axis=0), y[present] - y[present].mean()
