"""Many comparisons at once: Holm, Benjamini–Hochberg, and max-T over correlated comparisons (statistics.md 4.9)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from core.statistics.clusters import cluster_index, cluster_sums
from core.statistics.resampling import all_signs, random_signs

Clusters = Sequence[Hashable | None]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjusted p-values (family-wise). None stays None and is not counted."""
    return _adjusted(p_values, _holm)


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """q-values (false discovery rate), for exploratory tables. None stays None and is not counted."""
    return _adjusted(p_values, _bh)


def max_t_sign_flip(
    differences: Any,
    clusters: Clusters | None = None,
    *,
    seed: int = 0,
    resamples: int = 9_999,
    block: int | None = None,
) -> list[float]:
    """Family-wise adjusted two-sided p of each row of `differences` (comparisons × questions), by max-T sign flips
    (Westfall & Young): one sign vector for all comparisons in every draw, so that their correlation is used.

    NaN marks a question a comparison does not have. Whole clusters are flipped together. A comparison without any
    difference gets 1.0. Exact where all sign vectors are no more than `resamples`.
    """
    matrix = np.asarray(differences, dtype=float)
    if not matrix.size:
        return [1.0] * len(matrix)
    sums = cluster_sums(np.nan_to_num(matrix).T, cluster_index(clusters, matrix.shape[1]))
    # Σd² does not change under flips, hence this orders draws as the studentised mean does
    scale = np.sqrt((sums**2).sum(axis=0))
    live = scale > 1e-12
    adjusted = np.ones(len(matrix))
    if not live.any():
        return adjusted.tolist()
    unit = sums[:, live] / scale[live]
    unit = unit[np.abs(unit).max(axis=1) > 0]
    observed = np.abs(unit.sum(axis=0))
    exact = 2 ** min(len(unit), 60) <= resamples
    draws = [all_signs(len(unit))] if exact else random_signs(len(unit), resamples, seed, block)
    hits = np.zeros(len(observed))
    total = 0
    for signs in draws:
        largest = np.sort(np.abs(signs @ unit).max(axis=1))
        hits += len(largest) - np.searchsorted(largest, observed - 1e-9)
        total += len(largest)
    adjusted[live] = hits / total if exact else (1 + hits) / (1 + total)
    return adjusted.tolist()


def _adjusted(p_values: Sequence[float | None], method: Any) -> list[float | None]:
    known = [i for i, p in enumerate(p_values) if p is not None]
    result: list[float | None] = [None] * len(p_values)
    if known:
        for i, q in zip(known, method(np.array([p_values[i] for i in known], dtype=float)), strict=True):
            result[i] = float(q)
    return result


def _holm(p: Any) -> Any:
    order = np.argsort(p, kind="stable")
    stepped = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    adjusted = np.empty_like(stepped)
    adjusted[order] = stepped
    return adjusted


def _bh(p: Any) -> Any:
    # as scipy.stats.false_discovery_control, whose import alone takes a second
    order = np.argsort(p, kind="stable")[::-1]
    stepped = np.minimum.accumulate(p[order] * len(p) / np.arange(len(p), 0, -1))
    adjusted = np.empty_like(stepped)
    adjusted[order] = np.minimum(1.0, stepped)
    return adjusted
