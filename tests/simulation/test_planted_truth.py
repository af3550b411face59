"""A short version of the benchmark `attribution`: planted effects are covered, nothing is invented."""

from __future__ import annotations

import math

import pytest

from tests.simulation import measure

SWEEPS = 30


@pytest.mark.parametrize("name", list(measure.PLANS))
def test_intervals_cover_the_planted_effects(name):
    for kind, (covered, counted) in measure.coverage(measure.PLANS[name], range(SWEEPS)).items():
        # effects of one sweep share questions: the sweep is the unit of the simulation's own error
        assert covered / counted >= 0.93 - 3 * math.sqrt(0.93 * 0.07 / SWEEPS), kind


@pytest.mark.parametrize("name", ["balanced", "clustered", "unbalanced"])
def test_sweeps_without_any_effect_raise_no_alarm(name):
    alarms = measure.false_alarms(measure.PLANS[name], range(SWEEPS)) / SWEEPS
    assert alarms <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / SWEEPS)


@pytest.mark.parametrize("name", ["balanced", "unbalanced", "interacting"])
def test_no_pair_is_mislabelled(name):
    wrong, total = measure.mislabelled(measure.PLANS[name], range(3))
    assert total > 50
    assert wrong == 0


def test_planted_component_failures_are_attributed():
    shares = measure.balanced_accuracy(1_000, 1, ladder=True)
    assert shares["all"] >= 0.95, shares
