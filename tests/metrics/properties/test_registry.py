"""Properties of every metric in the registry at once: bounds, perfect input exactly 1, None without gold, no effect
of order and repetition, monotonicity. A new metric without an exercise fails here."""

from __future__ import annotations

import copy
import math
import random
import subprocess
import sys

import pytest

from core.contracts import METRICS, Metric
from core.reference import all_metrics, metrics_markdown
from tests.metrics.properties.exercise import Exercise, all_exercises

ALL = all_metrics()
EXERCISES = all_exercises()
SEEDS = range(60)

every_metric = pytest.mark.parametrize("name", sorted(EXERCISES))


def _value(exercise: Exercise, arguments: tuple[object, ...]) -> float | None:
    before = copy.deepcopy(arguments)
    value = exercise.function(*arguments)
    assert arguments == before, "a metric may not change its arguments"
    assert value is None or math.isfinite(value)
    return value


def test_every_metric_is_exercised() -> None:
    missing = sorted(set(ALL) - set(EXERCISES))
    assert not missing, f"add these to tests/metrics/properties/exercises_*.py: {missing}"
    assert not sorted(set(EXERCISES) - set(ALL)), "exercises of metrics that do not exist"


@every_metric
def test_exercises_say_why_a_property_is_left_out(name: str) -> None:
    exercise = EXERCISES[name]
    complete = exercise.perfect and exercise.without_gold and (exercise.same or exercise.better)
    assert complete or exercise.because


@every_metric
def test_values_stay_in_their_declared_range(name: str) -> None:
    metric, exercise = ALL[name], EXERCISES[name]
    values = [_value(exercise, exercise.random_arguments(random.Random(seed))) for seed in SEEDS]
    defined = [value for value in values if value is not None]
    assert defined, "the random arguments never give a value"
    assert all(_inside(metric, value) for value in defined)
    if (
        metric.kind == "binary"
        and metric.function is not None
        and metric.family not in ("abstention", "verdict")
    ):
        assert set(defined) <= {0.0, 1.0}


def _inside(metric: Metric, value: float) -> bool:
    return (metric.low is None or metric.low <= value) and (metric.high is None or value <= metric.high)


@every_metric
def test_perfect_input_gives_exactly_the_best_value(name: str) -> None:
    metric, exercise = ALL[name], EXERCISES[name]
    best = exercise.best if exercise.best is not None else (0.0 if metric.direction < 0 else 1.0)
    for arguments in exercise.perfect:
        assert _value(exercise, arguments) == best, arguments


@every_metric
def test_without_gold_there_is_no_value(name: str) -> None:
    exercise = EXERCISES[name]
    for arguments in exercise.without_gold:
        assert _value(exercise, arguments) is None, arguments


@every_metric
def test_the_same_input_gives_the_same_value_twice(name: str) -> None:
    exercise = EXERCISES[name]
    for seed in SEEDS:
        arguments = exercise.random_arguments(random.Random(seed))
        assert _value(exercise, arguments) == _value(exercise, copy.deepcopy(arguments))


@every_metric
def test_order_and_repetition_change_nothing(name: str) -> None:
    exercise = EXERCISES[name]
    for change_name, change in exercise.same.items():
        for seed in SEEDS:
            rng = random.Random(seed)
            arguments = exercise.random_arguments(rng)
            changed = change(copy.deepcopy(arguments), rng)
            first, second = _value(exercise, arguments), _value(exercise, changed)
            assert (first is None) == (second is None), (change_name, arguments, changed)
            if first is not None:
                assert first == pytest.approx(second, abs=1e-12), (change_name, arguments, changed)


@every_metric
def test_better_input_is_never_scored_worse(name: str) -> None:
    metric, exercise = ALL[name], EXERCISES[name]
    for change_name, change in exercise.better.items():
        for seed in SEEDS:
            rng = random.Random(seed)
            arguments = exercise.random_arguments(rng)
            changed = change(copy.deepcopy(arguments), rng)
            before, after = _value(exercise, arguments), _value(exercise, changed)
            if before is not None and after is not None:
                gain = (after - before) * (-1 if metric.direction < 0 else 1)
                assert gain >= -1e-12, (change_name, arguments, changed, before, after)


@pytest.mark.parametrize("name", sorted(ALL))
def test_a_metric_says_what_it_is(name: str) -> None:
    metric = ALL[name]
    for field in ("title", "family", "formula", "inputs", "empty", "source", "version"):
        assert getattr(metric, field), f"{name} has no {field}"
    if metric.kind in ("binary", "bounded"):
        assert (metric.low, metric.high) == (0.0, 1.0)


def test_every_metric_of_the_metrics_package_is_declared_in_one_import() -> None:
    code = "from core.metrics import declared; from core.contracts import METRICS; print(*METRICS)"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    of_package = {
        name
        for name, m in ALL.items()
        if m.function is not None and m.function.__module__.startswith("core.metrics")
    }
    assert not of_package - set(found), "import their modules in core/metrics/declared.py"


def test_names_are_exact_and_every_one_is_in_the_reference() -> None:
    assert all(name == metric.name for name, metric in METRICS.items())
    text = metrics_markdown()
    for name in ALL:
        assert text.count(f"\n| {name} |") == 1
