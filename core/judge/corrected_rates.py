"""The pass rate behind a judge's pass rate, with an interval that knows how wrong the judge is (statistics.md 3.7).

More judged data makes an uncorrected judge more confidently wrong; only labels of people tell by how much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

MIN_LABELLED = 30


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """A pass rate in [0, 1] with its interval. `value` None: no correction is possible, and `note` says why."""

    value: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    note: str = ""


def corrected_rate(
    human: Sequence[float], judge: Sequence[float], judge_unlabelled: Sequence[float], *, level: float = 0.95
) -> CorrectedRate:
    """The pass rate of a population of which some items were labelled by people, at random, and all by the judge.

    `human` and `judge` are the labels (1 pass, 0 fail) of the labelled items, `judge_unlabelled` the judge's on the
    rest. PPI++ from 30 labelled items on; below that the judge's own rate, marked `uncorrected`.
    """
    if len(human) < MIN_LABELLED:
        every = [*judge, *judge_unlabelled]
        rate = float(np.mean(every)) if every else None
        note = f"{len(human)} labelled items are too few to correct by ({MIN_LABELLED} are needed)"
        return CorrectedRate(rate, None, None, level, "uncorrected", note)
    return ppi_plus_plus(human, judge, judge_unlabelled, level=level)


def ppi_plus_plus(
    human: Sequence[float], judge: Sequence[float], judge_unlabelled: Sequence[float], *, level: float = 0.95
) -> CorrectedRate:
    """PPI++ (Angelopoulos, Duchi & Zrnic 2023): mean(y) + λ(mean f on the rest − mean f on the labelled), with the λ
    that makes the variance least, clipped to [0, 1], and t quantiles with m − 1 degrees of freedom.

    The labelled items must be a random sample of the same population.
    """
    from scipy.stats import t

    y, f, rest = (np.asarray(x, dtype=float) for x in (human, judge, judge_unlabelled))
    m, n = len(y), len(rest)
    if m < 2 or len(f) != m:
        raise ValueError("two or more labelled items are needed, each with the judge's label")
    share = 0.0
    if n and f.var(ddof=1) > 0:
        share = float(
            np.clip(np.cov(y, f)[0, 1] / ((1 + m / n) * np.concatenate([f, rest]).var(ddof=1)), 0, 1)
        )
    value = float(y.mean() + share * ((rest.mean() if n else 0.0) - f.mean())) if share else float(y.mean())
    variance = (y - share * f).var(ddof=1) / m
    if share:
        variance += share**2 * rest.var(ddof=1) / n if n > 1 else 0.0
    half = float(t.ppf((1 + level) / 2, m - 1)) * math.sqrt(variance)
    note = "" if share else "the judge adds nothing to the labels of people here"
    if half == 0:
        note = "every label is the same; the interval has no width and should not be believed"
    return CorrectedRate(
        _unit(value), _unit(value - half), _unit(value + half), level, f"ppi++ (λ {share:.2f})", note
    )


def rogan_gladen(
    judge_rate: float,
    n: int,
    *,
    sensitivity: float,
    n_pass: int,
    specificity: float,
    n_fail: int,
    level: float = 0.95,
) -> CorrectedRate:
    """θ = (p + q0 − 1)/(q0 + q1 − 1) (Rogan & Gladen 1978), with the interval of Lee et al. 2025 that carries the
    noise of sensitivity q1 (on `n_pass` labelled passes) and specificity q0 (on `n_fail` labelled failures).

    For labels that come from another set than the `n` judged items. Needs a judge better than chance
    (q0 + q1 > 1) and labels of both kinds.
    """
    if min(n, n_pass, n_fail) < 1:
        return CorrectedRate(
            None, None, None, level, "rogan-gladen", "labels of passes and of failures are both needed"
        )
    if sensitivity + specificity <= 1:
        return CorrectedRate(None, None, None, level, "rogan-gladen", "the judge is no better than chance")
    point = (judge_rate + specificity - 1) / (sensitivity + specificity - 1)
    z = NormalDist().inv_cdf((1 + level) / 2)
    p = (n * judge_rate + z**2 / 2) / (n + z**2)
    q0, q1 = (n_fail * specificity + 1) / (n_fail + 2), (n_pass * sensitivity + 1) / (n_pass + 2)
    gain = q0 + q1 - 1
    if gain <= 0:
        return CorrectedRate(
            _unit(point), 0.0, 1.0, level, "rogan-gladen", "too few labels to tell the judge from chance"
        )
    centre = (p + q0 - 1) / gain
    noise0, noise1 = q0 * (1 - q0) / (n_fail + 2), q1 * (1 - q1) / (n_pass + 2)
    shift = 2 * z**2 * (centre * noise1 - (1 - centre) * noise0)
    half = z * math.sqrt(p * (1 - p) / (n + z**2) + (1 - centre) ** 2 * noise0 + centre**2 * noise1) / gain
    note = "" if 0 <= point <= 1 else "the labels contradict the judge's rate; the estimate is clipped"
    return CorrectedRate(
        _unit(point), _unit(centre + shift - half), _unit(centre + shift + half), level, "rogan-gladen", note
    )


def _unit(value: float) -> float:
    return min(max(value, 0.0), 1.0)
