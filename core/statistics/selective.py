"""Answering only where the confidence is high: risk–coverage, AURC, AUGRC, and the threshold for a wanted precision.

Scores need only rank (higher = more sure). Cases of equal score are answered or declined together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.statistics.intervals import lower_bound

MAX_STEPS = 200


@dataclass(frozen=True, slots=True)
class Step:
    """Answering everything with a score of at least `threshold`: the share that is answered, how often it is wrong
    (selective risk), and the share of all cases that would be wrong without notice."""

    threshold: float
    n: int
    coverage: float
    risk: float
    undetected: float


@dataclass(frozen=True, slots=True)
class Areas:
    """`aurc` mean selective risk over coverages, `excess` above the best possible order; `augrc` mean share of
    undetected failures (Traub et al. 2024)."""

    aurc: float
    excess: float
    augrc: float


@dataclass(frozen=True, slots=True)
class Threshold:
    """The lowest threshold whose precision is certified, or None with the reason."""

    target: float
    threshold: float | None
    coverage: float | None
    precision: float | None
    low: float | None
    n: int
    note: str = ""


def risk_coverage(scores: Sequence[float], correct: Sequence[float]) -> list[Step]:
    """One step for each distinct score, from the highest."""
    x, wrong = _sorted(scores, correct)
    if not len(x):
        return []
    last = np.append(np.flatnonzero(np.diff(x)), len(x) - 1)
    errors = np.cumsum(wrong)[last]
    counts = last + 1
    return [
        Step(float(x[at]), int(n), float(n / len(x)), float(e / n), float(e / len(x)))
        for at, n, e in zip(last, counts, errors, strict=True)
    ]


def thinned(steps: Sequence[Step], at_most: int = MAX_STEPS) -> list[Step]:
    """At most `at_most` steps at even places, the first and the last among them."""
    if len(steps) <= at_most:
        return list(steps)
    places = np.unique(np.linspace(0, len(steps) - 1, at_most).round().astype(int))
    return [steps[int(place)] for place in places]


def areas(scores: Sequence[float], correct: Sequence[float]) -> Areas | None:
    """Areas under the curves; within a block of equal scores the expected order counts. None without cases."""
    x, wrong = _sorted(scores, correct)
    n = len(x)
    if not n:
        return None
    expected = _expected_errors(x, wrong)
    places = np.arange(1, n + 1)
    aurc = float((expected / places).mean())
    best = np.cumsum(np.sort(wrong))
    return Areas(aurc, aurc - float((best / places).mean()), float((expected / n).mean()))


def threshold_for_precision(
    scores: Sequence[float], correct: Sequence[float], target: float, *, delta: float = 0.05
) -> Threshold:
    """The lowest threshold above which precision is at least `target`, with confidence 1 − delta.

    Fixed-sequence testing (Learn then Test, Angelopoulos et al. 2021): thresholds from high to low, starting where
    enough cases lie above to certify anything, each held to its one-sided Clopper–Pearson bound, until one fails.
    """
    needed = math.ceil(math.log(delta) / math.log(target))
    steps = risk_coverage(scores, correct)
    found: Threshold | None = None
    for step in steps:
        if step.n < needed:
            continue
        right = step.n - round(step.risk * step.n)
        low = lower_bound(right, step.n, 1 - delta)
        if low is None or low < target:
            break
        found = Threshold(target, step.threshold, step.coverage, 1 - step.risk, low, step.n)
    if found is not None:
        return found
    total = len(scores)
    note = (
        f"not certifiable with {total} cases: {needed} right ones in a row are needed for {target:g}"
        if total < needed
        else "no threshold reaches the precision with confidence"
    )
    return Threshold(target, None, None, None, None, total, note)


def _expected_errors(x: Any, wrong: Any) -> Any:
    """Expected errors among the first j, for j = 1…n: within a block of equal scores they come evenly."""
    cumulative = np.cumsum(wrong)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(x)) + 1])
    ends = np.append(starts[1:], len(x))
    expected = np.empty(len(x))
    for start, end in zip(starts, ends, strict=True):
        before = cumulative[start - 1] if start else 0.0
        share = (cumulative[end - 1] - before) / (end - start)
        expected[start:end] = before + share * np.arange(1, end - start + 1)
    return expected


def _sorted(scores: Sequence[float], correct: Sequence[float]) -> tuple[Any, Any]:
    x, y = np.asarray(scores, dtype=float), np.asarray(correct, dtype=float)
    if len(x) != len(y):
        raise ValueError(f"{len(x)} scores but {len(y)} outcomes")
    order = np.argsort(-x, kind="stable")
    return x[order], 1.0 - y[order]
