"""Paired comparisons: worked values, oracles, exactness and seeds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import permutation_test
from statsmodels.stats.contingency_tables import mcnemar

from core.statistics import paired, power, resampling

WORKED = [0.2, -0.1, 0.3, 0, 0.4, -0.05, 0.1, 0.25]


def test_mcnemar_worked_values():
    assert paired.mcnemar_exact(9, 2) == pytest.approx(0.065430, abs=1e-6)
    assert paired.mcnemar_midp(9, 2) == pytest.approx(0.038574, abs=1e-6)
    assert paired.mcnemar_midp(9, 2, "greater") == pytest.approx(0.019287, abs=1e-6)
    assert paired.mcnemar_midp(2, 9, "less") == pytest.approx(0.019287, abs=1e-6)
    assert paired.mcnemar_midp(0, 0) == 1.0


@pytest.mark.parametrize(("b", "c"), [(9, 2), (5, 5), (0, 7), (13, 1)])
def test_exact_mcnemar_equals_statsmodels(b, c):
    assert paired.mcnemar_exact(b, c) == pytest.approx(mcnemar([[10, b], [c, 4]], exact=True).pvalue)


def test_newcombe_published_examples():
    for cells, low, high in (((20, 12, 2, 16), 0.05616, 0.32921), ((30, 9, 2, 9), 0.008629, 0.266700)):
        got = paired.newcombe(*cells)
        assert (got.low, got.high) == pytest.approx((low, high), abs=1e-5)
    same = paired.newcombe(40, 0, 0, 10)
    assert same.low < 0 < same.high
    assert paired.newcombe(0, 0, 0, 0) is None


def test_newcombe_covers():
    rng = np.random.default_rng(5)
    for n, discordance, delta in itertools.product((20, 50), (0.1, 0.3), (0.0, 0.1)):
        cells = [0.6, (discordance + delta) / 2, (discordance - delta) / 2, 0.4 - discordance]
        draws = rng.multinomial(n, cells, size=1000)
        hits = sum(i.low <= delta <= i.high for i in (paired.newcombe(*map(int, draw)) for draw in draws))
        assert hits / 1000 >= 0.93


def test_sign_flip_is_exact_where_it_can_be():
    worked = paired.sign_flip(WORKED)
    assert worked.exact
    assert worked.p == pytest.approx(0.09375)
    theirs = permutation_test(
        (WORKED, np.zeros(8)), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    assert worked.p == pytest.approx(theirs.pvalue)
    assert paired.sign_flip([0.0] * 30).p == 1.0


def test_sign_flip_by_sampling_agrees_with_enumeration_and_is_never_zero():
    d = np.random.default_rng(1).normal(0.25, 1, 18)
    exact = paired.sign_flip(d).p
    sampled = paired.sign_flip(np.concatenate([d, np.full(4, 1e-9)]))
    assert not sampled.exact
    assert sampled.p == pytest.approx(exact, abs=0.015)
    assert paired.sign_flip(np.ones(500)).p == pytest.approx(1 / 10_000)


def test_sign_flip_is_seeded_and_independent_of_the_block_size():
    d = np.random.default_rng(2).normal(0.1, 1, 131)
    answers = {paired.sign_flip(d, seed=7, block=block).p for block in (1, 10, 1000, 9_999, None)}
    assert len(answers) == 1
    assert paired.sign_flip(d, seed=8).p not in answers


def test_sign_flip_one_sided():
    d = [0.3] * 9 + [-0.1]
    assert paired.sign_flip(d, alternative="greater").p < 0.05
    assert paired.sign_flip(d, alternative="less").p > 0.95


def test_sign_flip_flips_whole_clusters():
    d = [0.5] * 24
    clusters = [str(i // 4) for i in range(24)]
    assert paired.sign_flip(d, clusters).p == pytest.approx(2 / 2**6)
    assert paired.sign_flip(d).p < 0.001


def test_bootstrap_is_independent_of_the_block_size_and_keeps_columns_paired():
    x = np.random.default_rng(3).random((77, 3))
    x[:, 2] = x[:, 0] + 0.25
    one, other = (resampling.bootstrap_means(x, 500, seed=4, block=b) for b in (7, 500))
    assert np.allclose(one, other, atol=1e-6)
    assert np.allclose(one[:, 2] - one[:, 0], 0.25, atol=1e-5)
    assert one.std(axis=0) == pytest.approx(x.std(axis=0) / np.sqrt(77), rel=0.1)


def test_paired_mean_reports_what_a_reader_needs():
    d = [0.5, -0.5, 0.0, 0.02, 1.0, 0.0, 0.0, 0.25, 0.1, 0.0, 0.3, 0.4]
    got = paired.paired_mean(d, smallest=0.05)
    assert (got.win, got.tie, got.loss) == (6, 5, 1)
    assert got.interval.low < got.mean < got.interval.high
    assert got.n == got.n_clusters == 12
    assert paired.paired_mean([]) is None


def test_no_difference_at_all_still_has_an_interval():
    got = paired.paired_mean([0.0] * 50)
    assert got.p == 1.0
    assert got.interval.low == pytest.approx(-0.0713, abs=1e-3)


def test_rare_disasters_are_flagged():
    d = [0.1] * 27 + [-0.9] * 3
    assert paired.paired_mean(d).skewed


def test_probability_better():
    assert paired.probability_better(paired.PairedCounts(30, 2, 12, 6)) > 0.98
    assert paired.probability_better(paired.PairedCounts(30, 5, 5, 10)) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(
    ("n", "two_sided", "one_sided"),
    [
        (20, (None, None, None, 0.36), (None, None, 0.28, 0.33)),
        (30, (None, None, 0.26, 0.31), (None, 0.19, 0.24, 0.28)),
        (50, (None, 0.17, 0.21, 0.25), (None, 0.16, 0.19, 0.22)),
        (100, (0.085, 0.125, 0.155, 0.175), (0.080, 0.11, 0.135, 0.155)),
        (200, (0.065, 0.09, 0.11, 0.125), (0.055, 0.08, 0.10, 0.115)),
        (500, (0.04, 0.06, 0.07, 0.08), (0.035, 0.05, 0.065, 0.075)),
    ],
)
def test_detectable_difference_is_the_published_table(n, two_sided, one_sided):
    for sided, row in ((2, two_sided), (1, one_sided)):
        for discordance, expected in zip((0.1, 0.2, 0.3, 0.4), row, strict=True):
            got = power.detectable_difference(n, discordance, sided=sided)
            # the table is rounded up to a grid of .005 or .01
            assert (got is None) if expected is None else expected - 0.0105 <= got <= expected + 0.001


def test_questions_needed_reaches_the_power_it_promises():
    n = power.questions_needed(0.05, 0.2)
    assert power.midp_power(n, 0.05, 0.2) >= 0.8
    assert power.midp_power(n // 2, 0.05, 0.2) < 0.8
    assert power.questions_needed(0.0, 0.2) is None
    assert power.questions_needed_mean(0.05, 0.45) == 636
    assert power.detectable_mean_difference(636, 0.45) == pytest.approx(0.05, abs=1e-4)
    assert power.all_pass_needed(0.95) == 59
