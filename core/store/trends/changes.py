"""Where a series changes its level (binary segmentation with a permutation test)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

SHORTEST = 3  # points on either side of a change
RESAMPLES = 999
ALPHA = 0.05
FEWEST = 8  # points from which some order of two levels is rarer than ALPHA: 2 of C(8, 4) = 70


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """The level changes at point `index` (the first of the new level), from `before` to `after`. `p` is the
    share of random orders of the segment with as large a step, counted with the observed one."""

    index: int
    before: float
    after: float
    p: float


def change_points(
    values: Sequence[float | None], *, alpha: float = ALPHA, seed: int = 0
) -> list[ChangePoint]:
    """Changes of level in the order of the series; None values are left out. At least FEWEST points are needed.

    Each segment is split where the standardised difference of the means is largest, when it is larger than
    `1 − alpha` of random orders give; the parts are searched again at half of alpha each (Scott & Knott 1974; the test
    by random orders makes no assumption about the noise).
    """
    there = [i for i, value in enumerate(values) if value is not None]
    y = np.array([values[i] for i in there], dtype=float)
    cuts: list[tuple[int, float]] = []
    _split(y, 0, len(y), alpha, seed, cuts)
    cuts.sort()
    edges = [0, *(cut for cut, _ in cuts), len(y)]
    levels = [float(y[a:b].mean()) for a, b in itertools.pairwise(edges)] if len(y) else []
    return [ChangePoint(there[cut], levels[i], levels[i + 1], p) for i, (cut, p) in enumerate(cuts)]


def _split(y: Any, start: int, end: int, alpha: float, seed: int, cuts: list[tuple[int, float]]) -> None:
    n = end - start
    if n < FEWEST:
        return
    segment = y[start:end]
    if float(np.ptp(segment)) <= 1e-12:
        return
    strength = _strengths(segment[None, :])[0]
    best = int(strength.argmax())
    random = np.random.default_rng(seed)
    orders = random.permuted(np.tile(segment, (RESAMPLES, 1)), axis=1)
    extreme = int((_strengths(orders).max(axis=1) >= strength[best] - 1e-12).sum())
    p = (1 + extreme) / (1 + RESAMPLES)
    if p >= alpha:
        return
    cut = start + best + SHORTEST
    cuts.append((cut, p))
    _split(y, start, cut, alpha / 2, seed, cuts)  # the two parts share the level
    _split(y, cut, end, alpha / 2, seed, cuts)


def _strengths(rows: Any) -> Any:
    """Difference of the means left and right of each allowed cut, times √(n₁ n₂ / n): rows × cuts."""
    n = rows.shape[1]
    left = np.arange(SHORTEST, n - SHORTEST + 1)
    sums = np.cumsum(rows, axis=1)
    total = sums[:, -1:]
    means_left = sums[:, left - 1] / left
    means_right = (total - sums[:, left - 1]) / (n - left)
    return np.abs(means_right - means_left) * np.sqrt(left * (n - left) / n)
