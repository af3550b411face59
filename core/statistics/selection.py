"""The best of many configurations, honestly: who is tied with it, and how much of its lead is luck
(statistics.md 4.9)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.statistics.clusters import cluster_index, cluster_sums
from core.statistics.multiplicity import max_t_sign_flip
from core.statistics.resampling import bootstrap_counts

Clusters = Sequence[Hashable | None]


@dataclass(frozen=True, slots=True)
class Selection:
    """What choosing the best of k did to its score.

    `apparent` is the mean of the best, `corrected` its estimate on questions it was not chosen on (bootstrap bias
    correction, Tsamardinos et al. 2018), `optimism` their difference; `low`/`high` a conservative 95 % interval of
    `corrected`; `probability_best[i]` how often configuration i wins a resample (ties shared).
    """

    best: int
    apparent: float
    corrected: float
    optimism: float
    low: float
    high: float
    probability_best: tuple[float, ...]


def bootstrap_bias_correction(
    scores: Any, clusters: Clusters | None = None, *, seed: int = 0, resamples: int = 2_000
) -> Selection | None:
    """BBC over `scores` (configurations × questions, no NaN): resample questions (whole clusters), pick the best
    in the bag, score it out of the bag. None for fewer than 2 units or no configuration."""
    x = np.asarray(scores, dtype=float)
    if x.ndim != 2 or not len(x):
        return None
    index = cluster_index(clusters, x.shape[1])
    units = int(index.max(initial=-1)) + 1
    if units < 2:
        return None
    sums = cluster_sums(x.T, index)
    sizes = np.bincount(index).astype(float)
    outside: list[Any] = []
    wins = np.zeros(len(x))
    for counts in bootstrap_counts(units, resamples, seed):
        inside = counts.astype(float)
        means = inside @ sums / (inside @ sizes)[:, None]
        top = means >= means.max(axis=1, keepdims=True) - 1e-12
        wins += (top / top.sum(axis=1, keepdims=True)).sum(axis=0)
        chosen = means.argmax(axis=1)
        out = (inside == 0).astype(float)
        weight = out @ sizes
        scored = (out @ sums)[np.arange(len(out)), chosen]
        outside.append(scored / np.where(weight > 0, weight, np.nan))
    left = np.concatenate(outside)
    left = left[~np.isnan(left)]
    best = int(x.mean(axis=1).argmax())
    apparent, corrected = float(x[best].mean()), float(left.mean())
    if len(x) == 1:
        corrected = apparent  # nothing was chosen, hence nothing to correct
    low, high = np.quantile(left, [0.025, 0.975])
    return Selection(
        best, apparent, corrected, apparent - corrected, float(low), float(high), tuple(wins / resamples)
    )


def tied_with_best(
    scores: Any,
    clusters: Clusters | None = None,
    *,
    alpha: float = 0.05,
    seed: int = 0,
    resamples: int = 9_999,
) -> tuple[list[bool], list[float]]:
    """Which configurations are not shown to be worse than the best (itself included), and the max-T adjusted p of
    each difference to the best (1.0 for the best). `scores` is configurations × questions without NaN."""
    x = np.asarray(scores, dtype=float)
    best = int(x.mean(axis=1).argmax())
    p = max_t_sign_flip(x - x[best], clusters, seed=seed, resamples=resamples)
    return [value > alpha for value in p], p
