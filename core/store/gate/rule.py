"""The rule of the gate for one metric (statistics.md 0.7, 4.8). Pure: values by question in, verdict out.

Everything is turned so that positive is better. With the one-sided level α the interval has level 1 − 2α:

- FAIL: worse is shown (one-sided p < α after Holm) and the interval reaches to the margin (L ≤ −m);
- detect: PASS while the drop is smaller than the margin, else WEAK (suspicious, not shown);
- prove: PASS when not worse than the margin is shown (L > −m), else WEAK (inconclusive).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.statistics.clusters import MIN_CLUSTERS, clustered_se, is_clustered
from core.statistics.intervals import Interval, clustered_mean
from core.statistics.paired import mcnemar_midp, newcombe, paired_counts, paired_mean
from core.statistics.power import detectable_mean_difference, questions_needed, questions_needed_mean
from core.store.compare.differences import LARGE, rate_detectable
from core.store.gate.policy import Mode

Clusters = Sequence[str | None]
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the questions say about one metric. `p` is one-sided for "the candidate is worse"; `detectable` is
    the smallest drop found with 80 % power, None where the set is too small for any; `needed` is how many
    questions a drop of the margin would take."""

    n: int
    delta: float
    interval: Interval | None
    p: float
    gained: int
    lost: int
    detectable: float | None
    needed: int | None
    binary: bool


def gather(
    a: Any,
    b: Any,
    *,
    margin: float,
    binary: bool,
    direction: int = 1,
    clusters: Clusters | None = None,
    alpha: float = 0.05,
    seed: int = 0,
    power: bool = True,
) -> Evidence | None:
    """Evidence from paired values without NaN. `binary` where all are 0 or 1. None without questions. Without
    `power`, what the set could detect is left out (it decides nothing and takes the most time)."""
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if not len(x):
        return None
    d = (y - x) * direction
    gained, lost = int((d > _TINY).sum()), int((d < -_TINY).sum())
    grouped = (
        clusters
        if clusters is not None and is_clustered(clusters) and len(set(clusters)) >= MIN_CLUSTERS
        else None
    )
    level = 1 - 2 * alpha
    if binary and grouped is None:
        counts = paired_counts(list(x), list(y)) if direction > 0 else paired_counts(list(1 - x), list(1 - y))
        return Evidence(
            n=len(d),
            delta=float(d.mean()),
            interval=newcombe(counts.both, counts.only_second, counts.only_first, counts.neither, level),
            p=mcnemar_midp(counts.only_second, counts.only_first, "less"),
            gained=gained,
            lost=lost,
            detectable=rate_detectable(len(d), counts.discordance, alpha=alpha, sided=1) if power else None,
            needed=questions_needed(margin, max(counts.discordance, 0.05), alpha, sided=1)
            if margin and power
            else None,
            binary=True,
        )
    return _graded(d, grouped, level, margin, alpha, seed, power)


def _graded(
    d: Any, clusters: Clusters | None, level: float, margin: float, alpha: float, seed: int, power: bool
) -> Evidence:
    gained, lost = int((d > _TINY).sum()), int((d < -_TINY).sum())
    bounds = (-1.0, 1.0) if np.abs(d).max() <= 1 else (None, None)
    if len(d) <= LARGE:
        found = paired_mean(d, clusters, level=level, bounds=bounds, alternative="less", seed=seed)
        assert found is not None
        interval, p, sd = found.interval, found.p, found.sd
        units = found.n_clusters if clusters is not None else found.n
    else:
        interval = clustered_mean(list(d), clusters, level, bounds)
        p, sd, units = _t_test(d, clusters)
    tells = power and sd > _TINY
    return Evidence(
        n=len(d),
        delta=float(d.mean()),
        interval=interval,
        p=p,
        gained=gained,
        lost=lost,
        detectable=detectable_mean_difference(units, sd, alpha, sided=1) if tells else None,
        needed=questions_needed_mean(margin, sd, alpha, sided=1) if margin and tells else None,
        binary=False,
    )


def _t_test(d: Any, clusters: Clusters | None) -> tuple[float, float, int]:
    """One-sided p that the mean is below 0, standard deviation by unit, number of units."""
    from scipy.special import stdtr

    if clusters is not None:
        se, units = clustered_se(d, clusters)
    else:
        se, units = float(d.std(ddof=1)) / math.sqrt(len(d)), len(d)
    mean = float(d.mean())
    p = float(stdtr(max(units - 1, 1), mean / se)) if se > 0 else 1.0 if mean >= 0 else 0.0
    return p, se * math.sqrt(units), units


def verdict(evidence: Evidence, p_holm: float, *, margin: float, mode: Mode, alpha: float) -> tuple[str, str]:
    """(PASS | WEAK | FAIL, why in words)."""
    low = evidence.interval.low if evidence.interval is not None else evidence.delta
    shown = p_holm < alpha
    if shown and low <= -margin:
        return "FAIL", "worse than the baseline, and not by chance"
    if mode == "prove":
        if low > -margin:
            return "PASS", "shown to be no worse than the margin allows"
        return "WEAK", "inconclusive: neither a drop nor the absence of one is shown"
    if evidence.delta <= -margin and (margin > 0 or evidence.delta < 0):
        return "WEAK", "a drop as large as the margin, but it may be chance"
    if shown:
        return "PASS", "a small drop inside the margin"
    return "PASS", "no evidence of a drop"
