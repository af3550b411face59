"""Metric by metric: the paired difference, its interval, its p and what could have been seen at all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from core.contracts import Metric
from core.statistics.clusters import MIN_CLUSTERS, clustered_se, is_clustered
from core.statistics.intervals import Interval, clustered_mean
from core.statistics.multiplicity import holm
from core.statistics.paired import (
    detectable_difference,
    mcnemar_midp,
    newcombe,
    paired_counts,
    paired_mean,
)
from core.statistics.power import detectable_mean_difference
from core.store.compare.loading import PASS_RATE, Table
from core.store.compare.records import Errors, MetricDifference, Pair

ALPHA = 0.05
LARGE = 1_000  # questions from which t and sign-flip agree to every digit shown, at a thousandth of the time
_TOLERANCE = 1e-12


def metric_differences(
    a: Table, b: Table, pairs: Sequence[Pair], *, seed: int = 0
) -> tuple[MetricDifference, ...]:
    """All metrics both runs have, the pass rate first; p-values corrected over those with a direction."""
    usable = [
        pair for pair in pairs if pair.a is not None and pair.b is not None and "changed" not in pair.note
    ]
    clusters = [pair.cluster for pair in usable]
    in_a = a.places([pair.a.case_id for pair in usable if pair.a])
    in_b = b.places([pair.b.case_id for pair in usable if pair.b])
    found = [difference(b.info(PASS_RATE), *pass_values(usable), clusters, seed=seed)]
    for name in sorted({*a.metrics} & {*b.metrics} - {PASS_RATE}):
        found.append(
            difference(b.info(name), a.column(name, in_a), b.column(name, in_b), clusters, seed=seed)
        )
    corrected = holm([each.p if each.direction else None for each in found])
    return tuple(_concluded(each, p) for each, p in zip(found, corrected, strict=True))


def pass_values(pairs: Iterable[Pair]) -> tuple[Any, Any]:
    """Share of passes of each pair in a and in b; NaN where every repeat is an ERROR."""

    def share(passes: int, n: int) -> float:
        return passes / n if n else math.nan

    both = [
        (share(pair.a.passes, pair.a.n), share(pair.b.passes, pair.b.n))
        for pair in pairs
        if pair.a and pair.b
    ]
    return np.array([one for one, _ in both]), np.array([two for _, two in both])


def difference(
    info: Metric, a: Any, b: Any, clusters: Sequence[str | None], *, seed: int = 0, level: float = 0.95
) -> MetricDifference:
    """The paired difference of one metric. `a` and `b` are values by question with NaN for "does not apply";
    `p_holm` and `change` are filled in by the caller, who knows the other metrics."""
    direction, kind = info.direction, info.kind
    in_a, in_b = ~np.isnan(a), ~np.isnan(b)
    both = in_a & in_b
    x, y = a[both], b[both]
    groups = [cluster for cluster, there in zip(clusters, both, strict=True) if there]
    common: dict[str, Any] = {
        "metric": info.name,
        "title": info.title,
        "kind": kind,
        "direction": direction,
        "mean_a": float(x.mean()) if len(x) else None,
        "mean_b": float(y.mean()) if len(y) else None,
        "delta": float((y - x).mean()) if len(x) else None,
        "n": int(both.sum()),
        "n_only_a": int((in_a & ~in_b).sum()),
        "n_only_b": int((in_b & ~in_a).sum()),
        "p_holm": None,
        "change": "none",
    }
    if not len(x):
        rest: dict[str, Any] = dict.fromkeys(("interval", "p", "detectable"))
        return MetricDifference(**common, **rest, win=0, tie=0, loss=0, test="", note="no question in both")
    binary = kind == "binary" and bool(np.isin(np.concatenate([x, y]), (0.0, 1.0)).all())
    return MetricDifference(
        **common,
        **(_binary(x, y, groups, level, seed) if binary else _graded(y - x, groups, kind, level, seed)),
    )


def _binary(x: Any, y: Any, clusters: Sequence[str | None], level: float, seed: int) -> dict[str, Any]:
    counts = paired_counts(x, y)
    gained, lost = counts.only_second, counts.only_first
    shape = {"win": gained, "tie": counts.n - gained - lost, "loss": lost}
    if is_clustered(clusters) and len(set(clusters)) >= MIN_CLUSTERS:
        found = _graded(y - x, clusters, "binary", level, seed)
        return {**found, **shape, "note": "clustered: sign-flip over clusters"}
    return {
        **shape,
        "interval": newcombe(counts.both, gained, lost, counts.neither, level),
        "p": mcnemar_midp(gained, lost),
        "detectable": rate_detectable(counts.n, counts.discordance),
        "test": "mcnemar_midp",
        "note": "" if gained + lost else "no discordant question",
    }


def rate_detectable(n: int, discordance: float, *, alpha: float = ALPHA, sided: int = 2) -> float | None:
    """Smallest detectable difference of two rates. Without a discordant question, as if 5 % were to differ."""
    pi = max(discordance, 0.05)
    if n > LARGE:
        return detectable_mean_difference(n, math.sqrt(pi), alpha, sided=sided)
    return detectable_difference(n, pi, alpha, sided=sided)


def _mean_detectable(kind: str, n: int, sd: float) -> float | None:
    """None where no question differs: the spread that a difference would have is not known then. A rate is
    bounded, so that something can be said."""
    if sd > _TOLERANCE:
        return detectable_mean_difference(n, sd)
    return rate_detectable(n, 0.0) if kind == "binary" else None


def _graded(d: Any, clusters: Sequence[str | None], kind: str, level: float, seed: int) -> dict[str, Any]:
    bounds = (-1.0, 1.0) if kind in ("binary", "bounded") else (None, None)
    grouped = clusters if is_clustered(clusters) else None
    if len(d) > LARGE:
        return _large(d, grouped, bounds, level, kind)
    found = paired_mean(d, grouped, level=level, bounds=bounds, seed=seed)
    assert found is not None
    return {
        "interval": found.interval,
        "p": found.p,
        "win": found.win,
        "tie": found.tie,
        "loss": found.loss,
        "detectable": _mean_detectable(kind, found.n_clusters if grouped else found.n, found.sd),
        "test": "sign_flip",
        "note": "skewed: p approximate" if found.skewed else "",
    }


def _large(
    d: Any, clusters: Sequence[str | None] | None, bounds: Any, level: float, kind: str
) -> dict[str, Any]:
    from scipy.special import stdtr

    mean = float(d.mean())
    if clusters is not None:
        se, units = clustered_se(d, clusters)
    else:
        se, units = float(d.std(ddof=1)) / math.sqrt(len(d)), len(d)
    interval: Interval | None = clustered_mean(list(d), clusters, level, bounds) if np.ptp(d) > 0 else None
    p = 1.0 if abs(mean) <= _TOLERANCE or se <= 0 else 2 * float(stdtr(max(units - 1, 1), -abs(mean) / se))
    win, loss = int((d > _TOLERANCE).sum()), int((d < -_TOLERANCE).sum())
    return {
        "interval": interval,
        "p": p,
        "win": win,
        "tie": len(d) - win - loss,
        "loss": loss,
        "detectable": _mean_detectable(kind, len(d), se * math.sqrt(len(d))),
        "test": "t",
        "note": "",
    }


def _concluded(found: MetricDifference, p_holm: float | None) -> MetricDifference:
    if found.delta is None or (not found.win and not found.loss):
        change = "none"
    elif p_holm is not None and p_holm < ALPHA:
        change = "better" if (found.improvement or 0) > 0 else "worse"
    else:
        change = "unclear"
    return replace(found, p_holm=p_holm, change=change)


def error_differences(pairs: Sequence[Pair]) -> Errors:
    """How often each run failed on the shared cases, and what the errors could hide at most."""
    shared = [(pair.a, pair.b) for pair in pairs if pair.a and pair.b]
    bad_a, bad_b = [a.n == 0 for a, _ in shared], [b.n == 0 for _, b in shared]
    only_a = sum(one and not two for one, two in zip(bad_a, bad_b, strict=True))
    only_b = sum(two and not one for one, two in zip(bad_a, bad_b, strict=True))
    n = len(shared)

    def mean(missing_a: float, missing_b: float) -> float:
        total = sum(
            (b.passes / b.n if b.n else missing_b) - (a.passes / a.n if a.n else missing_a) for a, b in shared
        )
        return total / n if n else 0.0

    return Errors(sum(bad_a), sum(bad_b), n, mcnemar_midp(only_b, only_a), mean(1.0, 0.0), mean(0.0, 1.0))
