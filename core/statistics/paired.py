"""Two systems on the same questions: by how much do they differ, and could it be chance (statistics.md 4.4, 4.5).

Differences are second − first (candidate − baseline): positive means the second is better where higher is better.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from core.statistics.binomial import distribution, mass
from core.statistics.clusters import MIN_CLUSTERS, cluster_index, cluster_sums, is_clustered
from core.statistics.intervals import Bounds, Interval, clustered_mean, few_clusters, wilson
from core.statistics.power import detectable_difference as detectable_difference
from core.statistics.resampling import random_signs

Alternative = Literal["two-sided", "less", "greater"]
Clusters = Sequence[Hashable | None]
EXACT_UP_TO = 20
RESAMPLES = 9_999
TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """How two binary outcomes fell together. `n` is their sum; `delta` is P(second) − P(first)."""

    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def n(self) -> int:
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def delta(self) -> float:
        return (self.only_second - self.only_first) / self.n

    @property
    def discordance(self) -> float:
        return (self.only_second + self.only_first) / self.n


def paired_counts(first: Sequence[bool | int | float], second: Sequence[bool | int | float]) -> PairedCounts:
    """Counts of two equally long 0/1 lists."""
    a, b = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    if a.shape != b.shape:
        raise ValueError(f"{len(a)} outcomes against {len(b)}")
    return PairedCounts(int((a & b).sum()), int((a & ~b).sum()), int((~a & b).sum()), int((~a & ~b).sum()))


def newcombe(both: int, only_a: int, only_b: int, neither: int, level: float = 0.95) -> Interval | None:
    """Newcombe's hybrid score interval (method 10, 1998) of P(a) − P(b) from the four paired counts.

    For second − first call `newcombe(both, only_second, only_first, neither)`. None without observations.
    """
    n = both + only_a + only_b + neither
    if not n:
        return None
    first, second = both + only_a, both + only_b
    one, two = wilson(first, n, level), wilson(second, n, level)
    if one is None or two is None:
        return None
    p1, p2, delta = first / n, second / n, (only_a - only_b) / n
    phi = _phi(both, only_a, only_b, neither)
    down = _hybrid(p1 - one.low, two.high - p2, phi)
    up = _hybrid(p2 - two.low, one.high - p1, phi)
    return Interval(
        max(-1.0, delta - down), min(1.0, delta + up), level, "newcombe_10", "tiny_n" if n < 10 else ""
    )


def mcnemar_midp(gained: int, lost: int, alternative: Alternative = "two-sided") -> float:
    """McNemar's mid-p: of the questions on which the two differ, could the split be a fair coin?

    `greater` asks whether the gains outweigh, `less` whether the losses do. 1.0 without a discordant question.
    Never above its nominal size for n up to 200, and more powerful than the exact test (Fagerland et al. 2013).
    """
    n = gained + lost
    if n == 0:
        return 1.0
    if alternative == "two-sided":
        low = min(gained, lost)
        return float(min(1.0, 2 * distribution(low, n, 0.5) - mass(low, n, 0.5)))
    tail = lost if alternative == "greater" else gained
    return float(distribution(tail, n, 0.5) - 0.5 * mass(tail, n, 0.5))


def mcnemar_exact(gained: int, lost: int) -> float:
    """Two-sided exact McNemar p: strict, and wasteful of power."""
    n = gained + lost
    return float(min(1.0, 2 * distribution(min(gained, lost), n, 0.5))) if n else 1.0


@dataclass(frozen=True, slots=True)
class SignFlip:
    """p of a sign-flip randomisation test of the mean; `exact` when all sign vectors were counted, else
    `resamples` random ones with (1 + hits) / (1 + resamples)."""

    p: float
    exact: bool
    resamples: int


def sign_flip(
    differences: Sequence[float] | Any,
    clusters: Clusters | None = None,
    *,
    alternative: Alternative = "two-sided",
    seed: int = 0,
    resamples: int = RESAMPLES,
    block: int | None = None,
) -> SignFlip:
    """Is the mean of paired differences 0? Flips the signs of whole clusters (single questions without).

    Exact for up to 20 units that differ at all; otherwise seeded, and independent of the block size.
    """
    d = np.asarray(differences, dtype=float)
    sums = cluster_sums(d, cluster_index(clusters, len(d)))
    # units that sum to 0 change nothing under any sign
    sums = sums[np.abs(sums) > TOLERANCE]
    if not len(sums):
        return SignFlip(1.0, True, 1)
    observed = float(sums.sum())
    slack = TOLERANCE * max(1.0, float(np.abs(sums).sum()))
    if len(sums) <= EXACT_UP_TO:
        totals = np.zeros(1)
        for value in sums:
            totals = np.concatenate([totals + value, totals - value])
        return SignFlip(_as_extreme(totals, observed, alternative, slack) / len(totals), True, len(totals))
    hits = sum(
        _as_extreme(signs @ sums, observed, alternative, slack)
        for signs in random_signs(len(sums), resamples, seed, block)
    )
    return SignFlip((1 + hits) / (1 + resamples), False, resamples)


@dataclass(frozen=True, slots=True)
class PairedMean:
    """A mean difference over `n` questions in `n_clusters` clusters.

    `win`/`tie`/`loss` count questions at the smallest effect that was asked for; `skewed` marks a p that is only
    approximate (|skewness| > 1.5 and n < 50), where a mean can hide rare disasters. `interval` is None where
    none can be given.
    """

    mean: float
    interval: Interval | None
    p: float
    n: int
    n_clusters: int
    sd: float
    win: int
    tie: int
    loss: int
    exact: bool
    skewed: bool


def paired_mean(
    differences: Sequence[float] | Any,
    clusters: Clusters | None = None,
    *,
    level: float = 0.95,
    bounds: Bounds | None = (-1.0, 1.0),
    smallest: float = 0.0,
    alternative: Alternative = "two-sided",
    seed: int = 0,
) -> PairedMean | None:
    """Mean paired difference with a t interval (CR1 over clusters) and a sign-flip p. None without questions.

    `smallest` is the effect below which a question counts as a tie.
    """
    d = np.asarray(differences, dtype=float)
    if not len(d):
        return None
    groups = int(cluster_index(clusters, len(d)).max()) + 1
    test = sign_flip(d, clusters if groups >= MIN_CLUSTERS else None, alternative=alternative, seed=seed)
    edge = max(smallest, TOLERANCE)
    win, loss = int((d > edge).sum()), int((d < -edge).sum())
    return PairedMean(
        mean=float(d.mean()),
        interval=_difference_interval(d, clusters, level, bounds, groups),
        p=test.p,
        n=len(d),
        n_clusters=groups,
        sd=float(d.std(ddof=1)) if len(d) > 1 else 0.0,
        win=win,
        tie=len(d) - win - loss,
        loss=loss,
        exact=test.exact,
        skewed=len(d) < 50 and abs(_skewness(d)) > 1.5,
    )


def probability_better(
    counts: PairedCounts, margin: float = 0.0, *, seed: int = 0, draws: int = 20_000
) -> float:
    """Posterior P(P(second) − P(first) > −margin) under a Dirichlet(½, ½, ½, ½) prior on the four cells."""
    weights = [counts.both + 0.5, counts.only_first + 0.5, counts.only_second + 0.5, counts.neither + 0.5]
    sample = np.random.default_rng(seed).dirichlet(weights, draws)
    return float((sample[:, 2] - sample[:, 1] > -margin).mean())


def _difference_interval(
    d: Any, clusters: Clusters | None, level: float, bounds: Bounds | None, groups: int
) -> Interval | None:
    if np.abs(d).max() > TOLERANCE:
        return clustered_mean(d, clusters, level, bounds)
    # no question differs: bound the share of questions that could, not the spread of an unknown score
    units = groups if is_clustered(clusters) and groups >= MIN_CLUSTERS else len(d)
    share = wilson(0, units, level)
    if share is None or bounds is None or None in bounds:
        return None
    note = few_clusters(groups) if is_clustered(clusters) and groups < MIN_CLUSTERS else "no question differs"
    return Interval(-share.high, share.high, level, "wilson", note)


def _as_extreme(totals: Any, observed: float, alternative: Alternative, slack: float) -> int:
    if alternative == "two-sided":
        return int((np.abs(totals) >= abs(observed) - slack).sum())
    return int(
        (totals >= observed - slack).sum() if alternative == "greater" else (totals <= observed + slack).sum()
    )


def _skewness(d: Any) -> float:
    centred = d - d.mean()
    spread = float((centred**2).mean()) ** 1.5
    return float((centred**3).mean()) / spread if spread > 0 else 0.0


def _phi(a: int, b: int, c: int, d: int) -> float:
    product = math.prod([a + b, c + d, a + c, b + d])
    if product == 0:
        return 0.0
    n, cross = a + b + c + d, a * d - b * c
    # Newcombe's continuity correction of φ, applied to positive association only
    corrected = max(cross - n / 2, 0.0) if cross > 0 else float(cross)
    return corrected / math.sqrt(product)


def _hybrid(one: float, two: float, phi: float) -> float:
    return math.sqrt(max(one * one - 2 * phi * one * two + two * two, 0.0))
