"""How the columns of a file of prepared results would be read: `plumbline describe --columns` says it."""

from __future__ import annotations

import json
from typing import Any

from dashboard.queries import descriptions, source


def report(path: str, stamp: int, mapping: dict[str, Any], wanted: dict[str, str] | None) -> dict[str, Any]:
    """`core.inputs.column_report` of a file as it was at `stamp`; with `error` alone where the command failed.
    `mapping` is role → columns; `wanted`, where given, column → role for every column."""
    return dict(_report(path, stamp, json.dumps(mapping), None if wanted is None else json.dumps(wanted)))


@source.cached
def _report(path: str, stamp: int, mapping: str, wanted: str | None) -> dict[str, Any]:
    arguments = ["describe", "--columns", path, "--json"]
    for role, columns in json.loads(mapping).items():
        for column in [columns] if isinstance(columns, str) else columns or [""]:
            arguments += ["--map", f"{role}={column}"]
    if wanted is not None:
        arguments += ["--wanted", wanted]
    answer = descriptions.command(*arguments)
    if answer.code:
        return {"error": answer.err.removeprefix("plumbline: ").strip()}
    found: dict[str, Any] = json.loads(answer.out)
    return found
