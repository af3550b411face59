"""A judge against people: how far its labels may be trusted (statistics.md 3.6).

Raw agreement alone says little where most cases pass: kappa, AC1 and above all specificity (does the judge catch the
bad ones?) stand beside it, each with an interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import InputError
from core.statistics.intervals import Interval, wilson

MIN_ITEMS = 30
MIN_FAILURES = 10
KAPPA_BOUND = 0.4
SPECIFICITY_BOUND = 0.6
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its Wilson interval; `n` is its denominator (0: value and interval are None)."""

    value: float | None
    n: int
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """`table[i][j]` counts items that people labelled `labels[i]` and the judge `labels[j]`.

    `sensitivity` is the judge's share of passes among the items people passed; `specificity` its share of failures
    among those people failed. `per_label` gives for each label the judge's share of it among the items people gave
    it. `trusted`: n ≥ 30 with ≥ 10 failures, lower bound of kappa > 0.4 and of specificity > 0.6; else `reasons`.
    """

    n: int
    labels: tuple[str, ...]
    table: tuple[tuple[int, ...], ...]
    raw: Rate
    kappa: float | None
    kappa_interval: Interval | None
    ac1: float | None
    ac1_interval: Interval | None
    sensitivity: Rate
    specificity: Rate
    per_label: dict[str, Rate]
    trusted: bool
    reasons: tuple[str, ...]


def agreement(
    human: Sequence[str], judge: Sequence[str], *, passing: Sequence[str], seed: int = 0, level: float = 0.95
) -> Agreement:
    """Compare labels item by item. `passing` names the labels that count as a pass. InputError when there are no
    items, the lengths differ, or no label passes."""
    if len(human) != len(judge):
        raise InputError(
            f"{len(human)} labels of people and {len(judge)} of the judge: they must belong to the same items"
        )
    if not human:
        raise InputError("no item carries both a human label and a judge label")
    labels = tuple(sorted({*human, *judge}))
    if not set(passing) & set(labels):
        raise InputError(f"none of the labels {', '.join(labels)} is one that passes ({', '.join(passing)})")
    table = confusion(human, judge, labels)
    good = [each in set(passing) for each in human]
    said = [each in set(passing) for each in judge]
    sensitivity = _rate(sum(s for g, s in zip(good, said, strict=True) if g), sum(good), level)
    specificity = _rate(
        sum(not s for g, s in zip(good, said, strict=True) if not g), len(good) - sum(good), level
    )
    kappa_interval = _bootstrap(table, cohen_kappa, seed, level)
    reasons = _doubts(len(human), len(good) - sum(good), kappa_interval, specificity)
    return Agreement(
        n=len(human),
        labels=labels,
        table=tuple(tuple(int(x) for x in row) for row in table),
        raw=_rate(int(np.trace(table)), len(human), level),
        kappa=_defined(cohen_kappa(table)),
        kappa_interval=kappa_interval,
        ac1=_defined(gwet_ac1(table)),
        ac1_interval=_bootstrap(table, gwet_ac1, seed, level),
        sensitivity=sensitivity,
        specificity=specificity,
        per_label={
            name: _rate(int(table[i, i]), int(table[i].sum()), level) for i, name in enumerate(labels)
        },
        trusted=not reasons,
        reasons=reasons,
    )


def confusion(human: Sequence[str], judge: Sequence[str], labels: Sequence[str]) -> Any:
    """Counts, (labels of people × labels of the judge)."""
    place = {name: i for i, name in enumerate(labels)}
    table = np.zeros((len(labels), len(labels)))
    for one, other in zip(human, judge, strict=True):
        table[place[one], place[other]] += 1
    return table


def cohen_kappa(tables: Any) -> Any:
    """Cohen's kappa of a table of counts, or of a stack of tables (…, K, K): (po − pe)/(1 − pe) with pe the
    agreement of independent raters of the same margins. NaN where pe = 1 (both raters used one label only)."""
    share = tables / tables.sum(axis=(-2, -1), keepdims=True)
    observed = np.trace(share, axis1=-2, axis2=-1)
    expected = (share.sum(axis=-1) * share.sum(axis=-2)).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)


def gwet_ac1(tables: Any) -> Any:
    """Gwet's AC1 (2008): (po − pe)/(1 − pe) with pe = Σ π(1 − π)/(K − 1), π the mean share of a label. NaN for one
    label only."""
    share = tables / tables.sum(axis=(-2, -1), keepdims=True)
    observed = np.trace(share, axis1=-2, axis2=-1)
    prevalence = (share.sum(axis=-1) + share.sum(axis=-2)) / 2
    k = tables.shape[-1]
    if k < 2:
        return np.full(np.shape(observed), np.nan)
    expected = (prevalence * (1 - prevalence)).sum(axis=-1) / (k - 1)
    return (observed - expected) / (1 - expected)


def _bootstrap(table: Any, coefficient: Any, seed: int, level: float) -> Interval | None:
    """Percentile interval over resampled items. The coefficient depends on the items through the table alone, so
    resampling items is drawing tables from the multinomial of its cells."""
    n = int(table.sum())
    if n < 2 or not np.isfinite(coefficient(table)):
        return None
    draws = np.random.default_rng(seed).multinomial(n, (table / n).ravel(), size=RESAMPLES)
    values = coefficient(draws.reshape(RESAMPLES, *table.shape).astype(float))
    defined = values[np.isfinite(values)]
    if len(defined) < 0.9 * RESAMPLES:
        return None
    tail = (1 - level) / 2 * 100
    low, high = np.percentile(defined, [tail, 100 - tail])
    return Interval(float(low), float(high), level, "bootstrap of items")


def _doubts(n: int, failures: int, kappa: Interval | None, specificity: Rate) -> tuple[str, ...]:
    doubts = []
    if n < MIN_ITEMS:
        doubts.append(f"{n} labelled items; {MIN_ITEMS} are needed")
    if failures < MIN_FAILURES:
        doubts.append(f"{failures} failures among them; {MIN_FAILURES} are needed")
    if kappa is None or kappa.low <= KAPPA_BOUND:
        doubts.append(
            f"the lower bound of kappa is {'undefined' if kappa is None else f'{kappa.low:.2f}'}, not above {KAPPA_BOUND}"
        )
    bound = specificity.interval.low if specificity.interval else None
    if bound is None or bound <= SPECIFICITY_BOUND:
        doubts.append(
            f"the lower bound of specificity is {'undefined' if bound is None else f'{bound:.2f}'}, not above {SPECIFICITY_BOUND}"
        )
    return tuple(doubts)


def _rate(hits: int, n: int, level: float) -> Rate:
    return Rate(hits / n if n else None, n, wilson(hits, n, level))


def _defined(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
