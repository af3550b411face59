"""Corrections for many comparisons, and choosing the best of many."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from core.statistics import repeats, selection
from core.statistics.multiplicity import benjamini_hochberg, holm, max_t_sign_flip
from core.statistics.paired import sign_flip

P = (0.001, 0.012, 0.03, 0.04, 0.2)


def test_worked_values_and_statsmodels():
    assert holm(P) == pytest.approx([0.005, 0.048, 0.09, 0.09, 0.2])
    assert benjamini_hochberg(P) == pytest.approx([0.005, 0.03, 0.05, 0.05, 0.2])
    p = np.random.default_rng(0).random(40) ** 2
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])
    assert benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1])


def test_none_is_not_counted():
    assert holm([0.01, None, 0.02]) == pytest.approx([0.02, None, 0.02])
    assert benjamini_hochberg([]) == []


def test_max_t_of_one_comparison_is_its_sign_flip():
    d = np.random.default_rng(1).normal(0.4, 1, 12)
    assert max_t_sign_flip(d[None]) == pytest.approx([sign_flip(d).p])


def test_max_t_uses_correlation():
    d = np.random.default_rng(2).normal(0.35, 1, 40)
    copies = np.tile(d, (10, 1))
    single, tenfold = max_t_sign_flip(d[None])[0], max_t_sign_flip(copies)[0]
    assert tenfold == pytest.approx(single)
    assert holm([single] * 10)[0] == pytest.approx(min(1, single * 10))


def test_max_t_is_seeded_and_independent_of_the_block_size():
    d = np.random.default_rng(3).normal(0.1, 1, (6, 60))
    d[2] = 0
    one, other = max_t_sign_flip(d, seed=5, block=13), max_t_sign_flip(d, seed=5, block=4000)
    assert one == other
    assert one[2] == 1.0
    assert min(one) > 0


def test_max_t_keeps_the_family_wise_error():
    """A/A: 8 comparisons to one baseline, no true effect."""
    rng = np.random.default_rng(4)
    alarms, draws = 0, 300
    for i in range(draws):
        scores = (rng.random((9, 40)) < 0.7).astype(float)
        alarms += min(max_t_sign_flip(scores[1:] - scores[0], seed=i, resamples=999)) <= 0.05
    assert alarms / draws <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / draws)


def test_bbc_removes_the_winners_curse():
    rng = np.random.default_rng(5)
    apparent, corrected = [], []
    for i in range(60):
        scores = (rng.random((20, 50)) < 0.7).astype(float)
        found = selection.bootstrap_bias_correction(scores, seed=i, resamples=300)
        apparent.append(found.apparent - 0.7)
        corrected.append(found.corrected - 0.7)
    assert np.mean(apparent) > 0.07
    assert abs(np.mean(corrected)) < 0.025


def test_bbc_of_one_configuration_corrects_nothing_and_probabilities_add_up():
    scores = np.random.default_rng(6).random((1, 30))
    assert selection.bootstrap_bias_correction(scores).optimism == 0
    several = selection.bootstrap_bias_correction(np.random.default_rng(7).random((4, 30)))
    assert sum(several.probability_best) == pytest.approx(1.0)
    assert selection.bootstrap_bias_correction(np.zeros((2, 1))) is None


def test_tied_with_the_best():
    rng = np.random.default_rng(8)
    base = (rng.random(80) < 0.8).astype(float)
    near = base.copy()
    near[:3] = 1 - near[:3]
    far = (rng.random(80) < 0.3).astype(float)
    tied, p = selection.tied_with_best([near, base, far])
    assert tied == [True, True, False]
    assert max(p) == 1.0


def test_repeats():
    assert repeats.pass_at_k(7, 10, 3) == pytest.approx(0.991667, abs=1e-6)
    assert repeats.pass_hat_k(7, 10, 3) == pytest.approx(0.291667, abs=1e-6)
    assert repeats.pass_at_k(1, 2, 3) is None
    assert repeats.is_flaky([True, False])
    assert not repeats.is_flaky([True, True])
    assert repeats.predictive_tail(20, 20, 0, 1) == pytest.approx(0.5 / 21)
    assert repeats.predictive_tail(200, 200, 0, 1) < 0.01


def test_variance_split():
    rng = np.random.default_rng(9)
    truth = rng.random(400)
    split = repeats.variance_split((rng.random((400, 4)) < truth[:, None]).astype(float))
    assert split.between == pytest.approx(1 / 12, abs=0.02)
    assert split.within == pytest.approx((1 / 6) / 4, abs=0.006)
    assert repeats.variance_split([[1.0], [0.0]]) is None
    assert repeats.variance_split([[1.0, 1.0]] * 5).noise_share is None
