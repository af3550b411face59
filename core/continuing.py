"""Whether an interrupted run can be gone on with: only in the way it was begun."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from core.errors import ConfigError, Problem
from core.records import Run
from core.settings import RunSettings
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
