"""Which interrupted run is gone on with, and whether it can be: only in the way it was begun."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from core.errors import ConfigError, Problem, StoreError
from core.records import Run
from core.settings import RunSettings
from core.store.runs import Store
from core.task import Task


def refuse_mixing(earlier: Run, task: Task, settings: Mapping[str, Any]) -> None:
    """ConfigError where answers of another design, to other questions or over other documents would come into the
    run. Time-outs, retries, places and how many cases are asked at once may differ."""
    if earlier.suite_digest != task.suite_digest:
        raise ConfigError(
            f"run {earlier.id} was made with other cases (suite '{earlier.suite}'): it cannot be continued; "
            "start a new run instead"
        )
    found = _other_choices(earlier.settings, settings)
    found += [
        Problem(name, "is made of files that have changed since")
        for name, value in task.digests.items()
        if earlier.digests.get(name, value) != value
    ]
    if found:
        raise ConfigError(
            f"run {earlier.id} was begun in another way and cannot be continued; start a new run instead",
            found,
        )


def interrupted(task: Task, store: Store) -> Run:
    """The newest run of these cases that was not sealed; StoreError without one."""
    for each in store.runs(kind=task.kind, suite=task.suite, light=True):
        if each.status != "sealed" and each.suite_digest == task.suite_digest:
            return each
    raise StoreError(f"no run of suite '{task.suite}' was interrupted: nothing is left to resume")


def _other_choices(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Problem]:
    try:
        one, two = (RunSettings.model_validate(each).design() for each in (before, now))
    except ValidationError:  # an audit: what decides its answers is in its cases
        return []
    return [
        Problem(name, f"was {one.get(name)!r} and is {two.get(name)!r} now")
        for name in dict.fromkeys((*one, *two))
        if one.get(name) != two.get(name)
    ]
