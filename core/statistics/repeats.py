"""Repeated runs of one case: pass@k, pass^k, flakiness, and whether more repeats or more questions would help
(statistics.md 4.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np


def pass_at_k(passes: int, n: int, k: int) -> float | None:
    """P(at least one of k runs passes), unbiased from `passes` of `n`: 1 − C(n−c, k)/C(n, k) (Chen et al. 2021).
    None for k > n."""
    return None if k > n or k < 1 else 1 - comb(n - passes, k) / comb(n, k)


def pass_hat_k(passes: int, n: int, k: int) -> float | None:
    """pass^k, P(all of k runs pass): C(c, k)/C(n, k) (τ-bench, Yao et al. 2024). None for k > n."""
    return None if k > n or k < 1 else comb(passes, k) / comb(n, k)


def is_flaky(outcomes: Sequence[bool]) -> bool:
    """Not all runs of the case agree."""
    return len(set(outcomes)) > 1


@dataclass(frozen=True, slots=True)
class VarianceSplit:
    """Variance of a mean over questions, split into what questions and what repeats contribute.

    `within` is noise of a question's own mean (mean s²/E), `between` the rest; `noise_share` is within over both,
    None where there is no variance at all.
    """

    within: float
    between: float
    n_questions: int
    repeats: int

    @property
    def noise_share(self) -> float | None:
        total = self.within + self.between
        return self.within / total if total > 0 else None


def variance_split(scores: Sequence[Sequence[float]]) -> VarianceSplit | None:
    """Split over questions (rows) with the same number E ≥ 2 of repeats; None otherwise."""
    if len(scores) < 2 or len({len(row) for row in scores}) != 1 or len(scores[0]) < 2:
        return None
    x = np.asarray(scores, dtype=float)
    within = float(x.var(axis=1, ddof=1).mean()) / x.shape[1]
    between = max(0.0, float(x.mean(axis=1).var(ddof=1)) - within)
    return VarianceSplit(within, between, *x.shape)


def predictive_tail(passes: int, n: int, new_passes: int, new_n: int) -> float:
    """P(at most `new_passes` of `new_n` runs pass), given a history of `passes` of `n`: beta-binomial with the
    Jeffreys prior. Below .01 a pinned case has got worse; above, it may be chance."""
    from scipy.stats import betabinom

    return float(betabinom.cdf(new_passes, new_n, passes + 0.5, n - passes + 0.5))
