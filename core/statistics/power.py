"""What a question set can show: detectable differences and how many questions a firm answer needs
(statistics.md 4.6). These speak about the plan; "observed power" is never computed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core.statistics.binomial import mass, survival, upper_point

Sided = int
MAX_QUESTIONS = 1_000_000


def detectable_difference(
    n: int, discordance: float, alpha: float = 0.05, power: float = 0.8, sided: Sided = 2
) -> float | None:
    """Smallest true difference of two rates that McNemar's mid-p finds with `power` on `n` paired questions.

    `discordance` is the share of questions on which the two differ; a difference cannot exceed it. None where
    even that is not found: the question set is too small.
    """
    if n < 1 or not 0 < discordance <= 1:
        return None
    region = _region(n, discordance, alpha, sided)
    if _power_in(region, discordance, discordance) < power:
        return None
    low, high = 0.0, discordance
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if _power_in(region, middle, discordance) >= power else (middle, high)
    return high


def midp_power(n: int, delta: float, discordance: float, alpha: float = 0.05, sided: Sided = 2) -> float:
    """Exact power of McNemar's mid-p at a true difference `delta` ≤ discordance."""
    if n < 1 or discordance <= 0:
        return 0.0
    return _power_in(_region(n, discordance, alpha, sided), min(abs(delta), discordance), discordance)


def detectable_mean_difference(
    n: float, sd: float, alpha: float = 0.05, power: float = 0.8, sided: Sided = 2
) -> float | None:
    """Smallest true mean difference found with `power`: (z_{1−α/2} + z_{1−β}) · sd / √n, with sd the standard
    deviation of the paired differences (n: effective number of questions). None for n < 2."""
    return None if n < 2 else _quantiles(alpha, power, sided) * sd / math.sqrt(n)


def questions_needed(
    delta: float, discordance: float, alpha: float = 0.05, power: float = 0.8, sided: Sided = 2
) -> int | None:
    """Fewest paired questions on which mid-p finds a true difference of two rates; None beyond a million."""
    delta = abs(delta)
    if delta <= 0 or discordance <= 0:
        return None
    discordance = max(delta, discordance)
    low, high = 1, 8
    while midp_power(high, delta, discordance, alpha, sided) < power:
        low, high = high, high * 2
        if high > MAX_QUESTIONS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if midp_power(middle, delta, discordance, alpha, sided) >= power else (middle, high)
        )
    return high


def questions_needed_mean(
    delta: float, sd: float, alpha: float = 0.05, power: float = 0.8, sided: Sided = 2
) -> int | None:
    """Fewest questions for a mean difference `delta` with standard deviation `sd` of the differences (Miller
    2024, one epoch); None for delta = 0."""
    if delta == 0:
        return None
    return max(2, math.ceil((_quantiles(alpha, power, sided) * sd / abs(delta)) ** 2))


def all_pass_needed(threshold: float, level: float = 0.95) -> int:
    """How many straight passes it takes before the one-sided lower bound reaches `threshold` (59 for .95)."""
    return math.ceil(math.log(1 - level) / math.log(threshold))


def _quantiles(alpha: float, power: float, sided: Sided) -> float:
    from scipy.special import ndtri

    return float(ndtri(1 - alpha / sided) + ndtri(power))


def _region(n: int, discordance: float, alpha: float, sided: Sided) -> tuple[Any, Any, Any]:
    """Numbers of discordant questions D that matter, their probabilities, and for each the fewest gains that
    mid-p calls significant (D + 1 where none does)."""
    spread = 9 * math.sqrt(n * discordance * (1 - discordance)) + 2
    counts = np.arange(
        max(0, math.floor(n * discordance - spread)), min(n, math.ceil(n * discordance + spread)) + 1
    )
    start = upper_point(alpha / sided, counts, 0.5) - 1
    critical = counts + 1.0
    for offset in (3, 2, 1, 0):
        gains = np.minimum(np.maximum(start + offset, 0), counts)
        tail = survival(gains, counts, 0.5) + 0.5 * mass(gains, counts, 0.5)
        critical = np.where(tail <= alpha / sided + 1e-12, gains, critical)
    return counts, mass(counts, n, discordance), critical


def _power_in(region: tuple[Any, Any, Any], delta: float, discordance: float) -> float:
    counts, weights, critical = region
    share = (discordance + delta) / (2 * discordance)
    return float((weights * survival(critical - 1, counts, share)).sum())
