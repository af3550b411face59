"""Confidence intervals of rates and means, chosen by what kind of number it is (statistics.md 4.1–4.3)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from core.statistics.binomial import beta_quantile
from core.statistics.clusters import MIN_CLUSTERS, clustered_se, effective_size, is_clustered

TINY = 10  # below it an interval is shown, flagged, and nothing is claimed from it
Bounds = tuple[float | None, float | None]
Clusters = Sequence[Hashable | None]


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval at `level` in the unit of the value. `note` says what its reader must know."""

    low: float
    high: float
    level: float = 0.95
    method: str = ""
    note: str = ""

    @property
    def width(self) -> float:
        return self.high - self.low


def wilson(successes: float, n: float, level: float = 0.95) -> Interval | None:
    """Wilson's score interval of a rate; `successes` and `n` may be fractional. None for n = 0.

    Keeps its coverage at small n and at 0 and n successes, where normal and bootstrap intervals have width 0.
    """
    if n <= 0:
        return None
    return _score_interval(successes / n, n, _z(level), level, "wilson", "tiny_n" if n < TINY else "")


def clopper_pearson(successes: int, n: int, level: float = 0.95) -> Interval | None:
    """The exact (conservative) interval of a rate, for guarantees. None for n = 0."""
    if n <= 0:
        return None
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else beta_quantile(tail, successes, n - successes + 1)
    high = 1.0 if successes == n else beta_quantile(1 - tail, successes + 1, n - successes)
    return Interval(low, high, level, "clopper_pearson", "tiny_n" if n < TINY else "")


def jeffreys(successes: float, n: float, level: float = 0.95) -> Interval | None:
    """Equal-tailed interval of the posterior Beta(s + ½, n − s + ½). None for n = 0."""
    if n <= 0:
        return None
    tail = (1 - level) / 2
    a, b = successes + 0.5, n - successes + 0.5
    return Interval(beta_quantile(tail, a, b), beta_quantile(1 - tail, a, b), level, "jeffreys")


def lower_bound(successes: float, n: float, level: float = 0.95) -> float | None:
    """One-sided lower Clopper–Pearson bound of a rate: 20 of 20 support no more than .861 at 95 %."""
    if n <= 0:
        return None
    return 0.0 if successes <= 0 else beta_quantile(1 - level, successes, n - successes + 1)


def mean_interval(
    values: Sequence[float], *, bounds: Bounds | None = (0.0, 1.0), level: float = 0.95
) -> Interval | None:
    """t-interval of a mean, clipped to `bounds`.

    Where all values are equal, or all stand on the two bounds, it is Wilson's interval on the scaled sum (no
    distribution within the bounds has a larger variance at that mean). None for no values, and where the bounds
    are open and there is nothing to estimate a spread from.
    """
    x = _numbers(values)
    if not len(x):
        return None
    low, high = bounds or (None, None)
    extreme = low is not None and high is not None and bool(np.isin(x, (low, high)).all())
    if extreme or _constant(x):
        return _on_scale(float(x.mean()), len(x), low, high, level)
    half = _t(level, len(x) - 1) * float(x.std(ddof=1)) / math.sqrt(len(x))
    return _clipped(float(x.mean()), half, bounds, level, "t", "tiny_n" if len(x) < TINY else "")


def clustered_rate(
    values: Sequence[float], clusters: Clusters | None, level: float = 0.95
) -> Interval | None:
    """Interval of a rate (values 0 or 1) whose observations come in clusters: Wilson at the effective n with
    t_{G−1} in place of z. Fewer than five clusters: Wilson as if independent, and the note says it is optimistic."""
    x = _numbers(values)
    if not len(x):
        return None
    if clusters is None or not is_clustered(clusters):
        return wilson(float(x.sum()), len(x), level)
    _, n_eff, groups = effective_size(x, clusters)
    if groups < MIN_CLUSTERS:
        plain = wilson(float(x.sum()), len(x), level)
        return plain and Interval(plain.low, plain.high, level, "wilson", few_clusters(groups))
    if _constant(x):
        return _score_interval(
            float(x.mean()),
            n_eff,
            _z(level),
            level,
            "wilson_by_cluster",
            "all values equal: each cluster counts once",
        )
    return effective_n_wilson(x, clusters, level)


def effective_n_wilson(values: Any, clusters: Clusters, level: float = 0.95) -> Interval:
    """Wilson's formula with n / design effect and t_{G−1} (statistics.md 4.3), for any G ≥ 2."""
    x = np.asarray(values, dtype=float)
    _, n_eff, groups = effective_size(x, clusters)
    return _score_interval(float(x.mean()), n_eff, _t(level, groups - 1), level, "wilson_effective_n", "")


def clustered_mean(
    values: Sequence[float],
    clusters: Clusters | None,
    level: float = 0.95,
    bounds: Bounds | None = (0.0, 1.0),
) -> Interval | None:
    """Interval of a mean whose observations come in clusters: CR1 with t_{G−1}, clipped to `bounds`."""
    x = _numbers(values)
    if not len(x):
        return None
    if clusters is None or not is_clustered(clusters):
        return mean_interval(values, bounds=bounds, level=level)
    se, groups = clustered_se(x, clusters)
    if groups < MIN_CLUSTERS:
        plain = mean_interval(values, bounds=bounds, level=level)
        return plain and Interval(plain.low, plain.high, level, plain.method, few_clusters(groups))
    if _constant(x):
        low, high = bounds or (None, None)
        return _on_scale(float(x.mean()), groups, low, high, level)
    return _clipped(float(x.mean()), _t(level, groups - 1) * se, bounds, level, "cr1_t", "")


def interval_for(
    values: Sequence[float], kind: str, clusters: Clusters | None = None, level: float = 0.95
) -> Interval | None:
    """The interval that fits a metric's kind (`core.contracts.MetricKind`).

    Rates get Wilson, bounded scores a clipped t, counts, durations and money a t that stays above 0; each with
    its clustered form. A rate averaged over repeats (values between 0 and 1) counts as a bounded score.
    """
    x = _numbers(values)
    if kind == "binary" and bool(np.isin(x, (0.0, 1.0)).all()):
        return clustered_rate(values, clusters, level)
    bounds: dict[str, Bounds] = {"binary": (0.0, 1.0), "bounded": (0.0, 1.0), "unbounded": (None, None)}
    return clustered_mean(values, clusters, level, bounds.get(kind, (0.0, None)))


def few_clusters(groups: int) -> str:
    return f"too few clusters ({groups}): counted as independent, which is optimistic"


def _numbers(values: Sequence[float]) -> Any:
    x = np.asarray(values, dtype=float)
    if np.isnan(x).any():
        raise ValueError("values hold NaN; leave out what does not apply")
    return x


def _constant(x: Any) -> bool:
    return bool(np.ptp(x) <= 1e-12 * max(1.0, float(np.abs(x).max())))


def _on_scale(mean: float, n: float, low: float | None, high: float | None, level: float) -> Interval | None:
    if low is None or high is None:
        return None
    scaled = wilson((mean - low) / (high - low) * n, n, level)
    if scaled is None:
        return None
    span = high - low
    return Interval(low + span * scaled.low, low + span * scaled.high, level, "wilson", scaled.note)


def _score_interval(p: float, n: float, z: float, level: float, method: str, note: str) -> Interval:
    denominator = 1 + z * z / n
    centre = (p + z * z / (2 * n)) / denominator
    half = z * math.sqrt(max(p * (1 - p), 0.0) / n + z * z / (4 * n * n)) / denominator
    # the bound at 0 or 1 is exact in theory; rounding must not move it
    low = 0.0 if p <= 0 else max(0.0, centre - half)
    high = 1.0 if p >= 1 else min(1.0, centre + half)
    return Interval(low, high, level, method, note)


def _clipped(
    mean: float, half: float, bounds: Bounds | None, level: float, method: str, note: str
) -> Interval:
    low, high = bounds or (None, None)
    lower, upper = mean - half, mean + half
    return Interval(
        lower if low is None else max(low, lower),
        upper if high is None else min(high, upper),
        level,
        method,
        note,
    )


def _z(level: float) -> float:
    return NormalDist().inv_cdf(0.5 + level / 2)


def _t(level: float, df: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.5 + level / 2))
