"""The same figures as scipy.stats, at the edges too."""

from __future__ import annotations

import numpy as np
from scipy.stats import beta, binom

from core.statistics.binomial import beta_quantile, distribution, mass, survival, upper_point


def test_equal_to_scipy_stats() -> None:
    for n in (0, 1, 2, 7, 60, 500):
        k = np.arange(-1, n + 2)
        for p in (0.01, 0.3, 0.5, 0.99):
            np.testing.assert_allclose(survival(k, n, p), binom.sf(k, n, p), atol=1e-13)
            np.testing.assert_allclose(distribution(k, n, p), binom.cdf(k, n, p), atol=1e-13)
            inside = np.arange(0, n + 1)
            np.testing.assert_allclose(mass(inside, n, p), binom.pmf(inside, n, p), atol=1e-13)


def test_upper_point_is_the_smallest_that_holds() -> None:
    n = np.arange(0, 300)
    for q in (0.05, 0.025, 0.2):
        found = upper_point(q, n, 0.5)
        assert (survival(found, n, 0.5) <= q + 1e-12).all()
        assert ((survival(found - 1, n, 0.5) > q - 1e-12) | (found == 0)).all()


def test_beta_quantile() -> None:
    for q, a, b in ((0.025, 3.0, 18.0), (0.5, 0.5, 0.5), (0.95, 20.0, 1.0)):
        np.testing.assert_allclose(beta_quantile(q, a, b), beta.ppf(q, a, b), rtol=1e-10)
