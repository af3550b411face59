"""The binomial and beta distributions from scipy.special: the same figures as scipy.stats, whose import alone
costs a second of CPU that every short run would pay."""

from __future__ import annotations

from typing import Any

import numpy as np


def survival(k: Any, n: Any, p: Any) -> Any:
    """P(X > k) for X ~ Bin(n, p); arrays broadcast."""
    from scipy.special import betainc

    k, n = np.floor(np.asarray(k, float)), np.asarray(n, float)
    inside = (k >= 0) & (k < n)
    safe = np.where(inside, k, 0.0)
    value = betainc(safe + 1, np.maximum(n - safe, 1e-300), p)
    return np.where(inside, value, np.where(k < 0, 1.0, 0.0))


def distribution(k: Any, n: Any, p: Any) -> Any:
    """P(X ≤ k) for X ~ Bin(n, p); arrays broadcast."""
    from scipy.special import betaincc

    k, n = np.floor(np.asarray(k, float)), np.asarray(n, float)
    inside = (k >= 0) & (k < n)
    safe = np.where(inside, k, 0.0)
    value = betaincc(safe + 1, np.maximum(n - safe, 1e-300), p)
    return np.where(inside, value, np.where(k < 0, 0.0, 1.0))


def mass(k: Any, n: Any, p: Any) -> Any:
    """P(X = k) for X ~ Bin(n, p); arrays broadcast."""
    from scipy.special import gammaln, xlog1py, xlogy

    k, n = np.asarray(k, float), np.asarray(n, float)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.exp(ways + xlogy(k, p) + xlog1py(n - k, -np.asarray(p, float)))


def upper_point(q: float, n: Any, p: float) -> Any:
    """Smallest k with P(X > k) ≤ q, for each n."""
    from scipy.special import bdtrik

    n = np.asarray(n, float)
    first = np.ceil(np.nan_to_num(bdtrik(1 - q, np.maximum(n, 1), p)))
    before = np.maximum(first - 1, 0)
    return np.where(n <= 0, 0.0, np.where(survival(before, n, p) <= q, before, first))


def beta_quantile(q: float, a: float, b: float) -> float:
    """The point below which Beta(a, b) has probability q."""
    from scipy.special import betaincinv

    return float(betaincinv(a, b, q))
