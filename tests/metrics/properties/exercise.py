"""How a metric is exercised by the property tests: arguments that must give known values, and ways to change
arguments that may not change the value, or only for the better.

A family of metrics has a module `exercises_<family>.py` with a dict `EXERCISES` from metric name to `Exercise`.
A registered metric without one fails `test_every_metric_is_exercised`.
"""

from __future__ import annotations

import importlib
import pkgutil
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import tests.metrics.properties as here

Arguments = tuple[Any, ...]
Change = Callable[[Arguments, random.Random], Arguments]


@dataclass(frozen=True)
class Exercise:
    """`function` takes what `random_arguments` makes. `perfect` must give exactly the best value (1 for a bounded
    metric where higher is better, 0 where lower is; `best` where it is another). `without_gold` must give None.
    `same` are changes that leave the value as it is, `better` changes that may not make it worse. A property that
    does not apply to a metric is left out, and `because` says why."""

    function: Callable[..., float | None]
    random_arguments: Callable[[random.Random], Arguments]
    perfect: tuple[Arguments, ...] = ()
    best: float | None = None
    without_gold: tuple[Arguments, ...] = ()
    same: dict[str, Change] = field(default_factory=dict)
    better: dict[str, Change] = field(default_factory=dict)
    because: str = ""


def all_exercises() -> dict[str, Exercise]:
    """Every exercise by metric name."""
    found: dict[str, Exercise] = {}
    for module in pkgutil.iter_modules(here.__path__):
        if module.name.startswith("exercises_"):
            family = importlib.import_module(f"tests.metrics.properties.{module.name}").EXERCISES
            assert not set(family) & set(found), f"{module.name} exercises metrics that another module has"
            found |= family
    return found
