"""Intervals: worked values of the specification, oracles, and their coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from core.statistics import intervals as iv
from core.statistics.clusters import clustered_se, effective_size

RATE = [1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 0]
GROUPS = list("aaabbbcccdd")


@pytest.mark.parametrize(
    ("function", "successes", "n", "low", "high"),
    [
        (iv.wilson, 17, 20, 0.639581, 0.947631),
        (iv.wilson, 20, 20, 0.838875, 1.0),
        (iv.wilson, 0, 10, 0.0, 0.277533),
        (iv.jeffreys, 17, 20, 0.651422, 0.955869),
        (iv.clopper_pearson, 17, 20, 0.621073, 0.967929),
    ],
)
def test_worked_rates(function, successes, n, low, high):
    interval = function(successes, n)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-6)


@pytest.mark.parametrize("n", [1, 7, 20, 133])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_rates_equal_statsmodels(n, level):
    for successes in {0, 1, n // 2, n}:
        for ours, theirs in ((iv.wilson, "wilson"), (iv.clopper_pearson, "beta"), (iv.jeffreys, "jeffreys")):
            expected = proportion_confint(successes, n, alpha=1 - level, method=theirs)
            got = ours(successes, n, level)
            if theirs == "jeffreys" and successes in (0, n):
                continue  # statsmodels sets the bound to 0 or 1 there
            assert (got.low, got.high) == pytest.approx(expected, abs=1e-9)


def test_wilson_covers_where_the_specification_says():
    for n in (10, 20, 30, 50, 100):
        rates = np.linspace(0.5, 0.99, 50)
        bounds = [iv.wilson(k, n) for k in range(n + 1)]
        covered = [
            sum(binom.pmf(k, n, p) for k, b in enumerate(bounds) if b.low <= p <= b.high) for p in rates
        ]
        assert np.mean(covered) >= 0.945
        assert min(covered) >= 0.90


def test_one_sided_bounds_of_straight_passes():
    assert [round(iv.lower_bound(n, n), 3) for n in (10, 20, 30, 50, 100, 300)] == [
        0.741, 0.861, 0.905, 0.942, 0.970, 0.990,
    ]  # fmt: skip


def test_no_interval_has_width_zero():
    for values in ([1.0], [0.0] * 40, [0.5] * 12, [1.0] * 200):
        assert iv.mean_interval(values).width > 0
    assert iv.mean_interval([3.0, 3.0], bounds=None) is None
    assert iv.mean_interval([]) is None
    assert iv.wilson(0, 0) is None


def test_bounded_mean_is_a_clipped_t_and_extremes_are_a_rate():
    x = [0.1, 0.4, 0.9, 1.0, 0.8, 0.7, 0.65, 0.3, 0.2, 1.0, 0.95]
    half = 2.2281388519649385 * np.std(x, ddof=1) / np.sqrt(11)
    got = iv.mean_interval(x)
    assert (got.low, got.high) == pytest.approx((np.mean(x) - half, np.mean(x) + half))
    assert iv.mean_interval([0.99, 1.0, 1.0, 0.2, 1.0]).high == 1.0
    assert iv.mean_interval([1, 0, 1, 1]) == iv.wilson(3, 4)
    assert iv.mean_interval([0.2, 0.4]).note == "tiny_n"


def test_nan_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        iv.mean_interval([0.1, float("nan")])


def test_clusters_worked_values():
    assert clustered_se(RATE, GROUPS, corrected=False)[0] == pytest.approx(0.131714, abs=1e-6)
    assert clustered_se(RATE, GROUPS)[0] == pytest.approx(0.152090, abs=1e-6)
    deff, n_eff, groups = effective_size(RATE, GROUPS)
    assert (deff, n_eff, groups) == pytest.approx((1.0996, 10.0039, 4), abs=1e-4)
    got = iv.effective_n_wilson(RATE, GROUPS)
    assert (got.low, got.high) == pytest.approx((0.2197, 0.9158), abs=1e-4)


def test_cr1_equals_statsmodels():
    import statsmodels.api as sm

    rng = np.random.default_rng(3)
    groups = rng.integers(0, 9, 60)
    x = rng.normal(size=60) + groups * 0.2
    # statsmodels multiplies by (n−1)/(n−k) too, which is 1 for a mean alone
    fit = sm.OLS(x, np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": groups})
    assert clustered_se(x, list(groups))[0] == pytest.approx(float(fit.bse[0]), rel=1e-9)


def test_few_clusters_are_said_and_single_clusters_are_plain():
    few = iv.clustered_rate([1, 0, 1, 1], ["a", "a", "b", "b"])
    assert "too few clusters (2)" in few.note
    assert iv.clustered_rate([1, 0, 1], ["a", None, None]) == iv.wilson(2, 3)
    assert iv.clustered_mean([0.2, 0.3, 0.9], None) == iv.mean_interval([0.2, 0.3, 0.9])


def test_equal_values_in_clusters_count_once_a_cluster():
    clusters = [str(i // 10) for i in range(60)]
    got = iv.clustered_rate([1] * 60, clusters)
    assert got.low == pytest.approx(iv.wilson(6, 6).low)


@pytest.mark.parametrize("icc", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("groups", [6, 12])
def test_clustered_rate_covers(icc, groups):
    """Beta-binomial clusters of eight questions, true mean .75 (S7)."""
    rng = np.random.default_rng(groups)
    size, truth, draws = 8, 0.75, 400
    clusters = [g for g in range(groups) for _ in range(size)]
    covered = 0
    for _ in range(draws):
        if icc:
            a = (1 - icc) / icc
            p = rng.beta(truth * a, (1 - truth) * a, groups)
        else:
            p = np.full(groups, truth)
        values = (rng.random(groups * size) < np.repeat(p, size)).astype(float)
        got = iv.clustered_rate(values, clusters)
        covered += got.low <= truth <= got.high
    assert covered / draws >= 0.93 - 3 * np.sqrt(0.93 * 0.07 / draws)


def test_dispatch_by_kind():
    assert iv.interval_for([1, 0, 1], "binary").method == "wilson"
    assert iv.interval_for([1, 0.5, 1], "binary").method == "t"
    assert iv.interval_for([3.0, 9.0, 1.0], "duration").low == 0.0
    assert iv.interval_for([-3.0, 9.0, 1.0], "unbounded").low < 0
