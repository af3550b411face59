"""The flags of a run are its settings: one declaration for both."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Literal, Union, get_args, get_origin

import click

from core.settings import RENAMED, RunSettings


def settings_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """One `--flag` for every setting, with its help text and choices."""
    for name, field in reversed(RunSettings.model_fields.items()):
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        flag = "--" + name.replace("_", "-")
        kind = _plain(field.annotation)
        default = "" if field.default in (None, (), {}) or kind is bool else f"; default {field.default}"
        help_text = f"{field.description} [{extra.get('group', '')}{default}]"
        former = [f"--{old.replace('_', '-')}" for old, now in RENAMED.items() if now == name]
        if kind is bool:
            command = click.option(f"{flag}/--no-{flag[2:]}", name, default=None, help=help_text)(command)
        elif get_origin(kind) is tuple:
            command = click.option(flag, name, multiple=True, help=help_text + " (may be repeated)")(command)
        elif get_origin(kind) is Literal:
            command = click.option(flag, name, metavar="|".join(map(str, get_args(kind))), help=help_text)(
                command
            )
        else:
            command = click.option(flag, *former, name, metavar=_metavar(kind), help=help_text)(command)
    return command


def _metavar(kind: Any) -> str:
    named = {int: "INTEGER", float: "NUMBER"}
    return "JSON|KEY=VALUE,…" if get_origin(kind) is dict else named.get(kind, "TEXT")


def _plain(annotation: Any) -> Any:
    """`int | None` → `int`."""
    if get_origin(annotation) in (Union, types.UnionType):
        return next(each for each in get_args(annotation) if each is not type(None))
    return annotation
