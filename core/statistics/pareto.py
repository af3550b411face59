"""Trade-offs between quality and cost: the frontier, and how sure it is (statistics.md 7).

Every objective is turned so that larger is better before it gets here (`oriented`).
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.statistics.clusters import cluster_index, cluster_sums
from core.statistics.resampling import bootstrap_counts

Array = np.ndarray[Any, Any]
ROBUST, PLAUSIBLE, DOMINATED = "robust", "plausible", "dominated"


def oriented(values: Any, directions: Sequence[int]) -> Array:
    """`values` (configurations × objectives) with objectives of direction −1 negated."""
    return np.asarray(values, dtype=float) * np.asarray(directions, dtype=float)


def dominates(values: Array, epsilon: Array | None = None) -> Array:
    """(i, j) True where i dominates j: at least as good everywhere and better somewhere; with ε, at least as good
    as j − ε everywhere and better than j + ε somewhere. `values`: larger is better; `epsilon` (configurations ×
    objectives or objectives) is the margin in each one's unit at j."""
    eps = np.zeros(values.shape) if epsilon is None else np.broadcast_to(epsilon, values.shape)
    worst = np.ones((len(values), len(values)), dtype=bool)
    best = np.zeros_like(worst)
    for k in range(values.shape[1]):
        gap = values[:, None, k] - values[None, :, k]
        worst &= gap >= -eps[None, :, k]
        best |= gap > eps[None, :, k]
    return np.asarray(worst & best)


def frontier(values: Array) -> Array:
    """True for configurations that no other dominates."""
    return np.asarray(~dominates(values).any(axis=0))


def knee(values: Array) -> int | None:
    """Index of the frontier point farthest above the line between the two extremes of a two-objective frontier,
    both scaled to [0, 1]; None with fewer than three points on it or none above the line."""
    front = np.flatnonzero(frontier(values))
    if len(front) < 3 or values.shape[1] != 2:
        return None
    points = values[front]
    spread = np.ptp(points, axis=0)
    if (spread <= 0).any():
        return None
    scaled = (points - points.min(axis=0)) / spread
    height = scaled.sum(axis=1) - 1.0
    top = int(height.argmax())
    return int(front[top]) if height[top] > 1e-9 else None


@dataclass(frozen=True, slots=True)
class Frontier:
    """What the frontier comes to when questions are resampled. Arrays over configurations.

    `on_frontier` is the point frontier; `probability` how often a configuration is on it; `dominated_by[i]` the
    configuration that dominates i most often and `dominated_share[i]` how often; `status` robust (probability ≥
    .95), plausible (≥ .1) or dominated; `epsilon_frontier` excludes what another beats by more than the margin;
    `knee` is None unless it is the knee in half of the resamples.
    """

    on_frontier: Array
    probability: Array
    dominated_by: tuple[int | None, ...]
    dominated_share: Array
    status: tuple[str, ...]
    epsilon_frontier: Array
    knee: int | None
    knee_share: float


def uncertain_frontier(
    per_question: Sequence[Any],
    directions: Sequence[int],
    margins: Sequence[float],
    relative: Sequence[bool],
    clusters: Sequence[Hashable | None] | None = None,
    *,
    medians: Sequence[bool] | None = None,
    seed: int = 0,
    resamples: int = 2_000,
) -> Frontier:
    """Frontier of means (or `medians[k]`) over questions. `per_question[k]` is (configurations × questions) of
    objective k, NaN absent; all objectives and configurations share each resample, so that pairing is kept.
    `margins[k]` is the practical margin: a share of the value where `relative[k]`, else in its own unit."""
    layers = [np.asarray(layer, dtype=float) for layer in per_question]
    size, questions = layers[0].shape
    index = cluster_index(clusters, questions)
    centres = [
        _Median(layer, index) if medians is not None and medians[k] else _Mean(layer, index)
        for k, layer in enumerate(layers)
    ]
    everyone = np.ones((1, int(index.max()) + 1))
    means = np.stack([centre.of(everyone)[0] for centre in centres], axis=1)
    values = oriented(means, directions)
    margin = np.stack(
        [np.abs(means[:, k]) * m if relative[k] else np.full(size, m) for k, m in enumerate(margins)], axis=1
    )
    on, beaten, knees, total = np.zeros(size), np.zeros((size, size)), np.zeros(size), 0
    if size == 1:  # nothing can beat it in any resample
        return _frontier(values, margin, on + 1.0, beaten, knees)
    for counts in bootstrap_counts(everyone.shape[1], resamples, seed, 256):
        drawn = np.stack([centre.of(counts.astype(float)) for centre in centres], axis=2)
        for sample in drawn:
            turned = oriented(sample, directions)
            wins = dominates(turned)
            on += ~wins.any(axis=0)
            beaten += wins
            at = knee(turned)
            if at is not None:
                knees[at] += 1
        total += len(counts)
    return _frontier(values, margin, on / total, beaten / total, knees / total)


def _frontier(values: Array, margin: Array, probability: Array, beaten: Array, knees: Array) -> Frontier:
    by = beaten.argmax(axis=0)
    share = beaten.max(axis=0)
    status = tuple(
        DOMINATED if share[i] >= 0.95 or p < 0.1 else (ROBUST if p >= 0.95 else PLAUSIBLE)
        for i, p in enumerate(probability)
    )
    top = int(knees.argmax())
    return Frontier(
        on_frontier=frontier(values),
        probability=probability,
        dominated_by=tuple(int(j) if share[i] > 0 else None for i, j in enumerate(by)),
        dominated_share=share,
        status=status,
        epsilon_frontier=np.asarray(~dominates(values, margin).any(axis=0)),
        knee=top if knees[top] >= 0.5 else None,
        knee_share=float(knees[top]),
    )


def exchange_rates(quality: Sequence[float], cost: Sequence[float]) -> list[tuple[int, float, float]]:
    """Which configuration wins at which exchange rate λ: argmax quality − λ·cost for λ from 0 up.

    Rows are (configuration, from λ, to λ), the last open to infinity: the upper convex hull. The order of equal
    values is by index.
    """
    points = sorted(range(len(quality)), key=lambda i: (cost[i], -quality[i], i))
    hull: list[int] = []
    for i in points:
        if hull and quality[i] <= quality[hull[-1]]:
            continue
        while len(hull) >= 2 and _rate(hull[-2], hull[-1], quality, cost) <= _rate(
            hull[-1], i, quality, cost
        ):
            hull.pop()
        hull.append(i)
    edges = [_rate(a, b, quality, cost) for a, b in itertools.pairwise(hull)]
    ends = [0.0, *reversed(edges), float("inf")]
    return [(i, ends[k], ends[k + 1]) for k, i in enumerate(reversed(hull))]


def hypervolume(points: Sequence[tuple[float, float]], reference: tuple[float, float]) -> float:
    """Area between a two-objective frontier (quality up, cost down) and a reference (worst quality, budget)."""
    area, best = 0.0, reference[0]
    kept = sorted((c, q) for q, c in points if q > reference[0] and c < reference[1])
    for cost, quality in kept:
        if quality > best:
            area += (quality - best) * (reference[1] - cost)
            best = quality
    return area


def _rate(a: int, b: int, quality: Sequence[float], cost: Sequence[float]) -> float:
    step = cost[b] - cost[a]
    return float("inf") if step <= 0 else (quality[b] - quality[a]) / step


class _Mean:
    """Means of each configuration under drawn cluster counts: (draws, G) → (draws, configurations)."""

    def __init__(self, layer: Array, index: Array) -> None:
        self.sums = cluster_sums(np.nan_to_num(layer).T, index)
        self.present = cluster_sums((~np.isnan(layer)).T.astype(float), index)

    def of(self, counts: Array) -> Array:
        return np.asarray((counts @ self.sums) / np.maximum(counts @ self.present, 1e-12))


class _Median:
    """Medians of each configuration under drawn cluster counts."""

    def __init__(self, layer: Array, index: Array) -> None:
        self.index = index
        self.order = np.argsort(layer, axis=1, kind="stable")  # NaN comes last
        self.sorted = np.take_along_axis(layer, self.order, axis=1)
        self.present = (~np.isnan(layer)).sum(axis=1)

    def of(self, counts: Array) -> Array:
        by_question = counts[:, self.index]
        found = np.empty((len(counts), len(self.order)))
        for c, (order, n) in enumerate(zip(self.order, self.present, strict=True)):
            running = np.cumsum(by_question[:, order[:n]], axis=1)
            found[:, c] = self.sorted[c, np.argmax(running >= running[:, -1:] / 2, axis=1)]
        return found
