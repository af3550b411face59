"""`--map ROLE=COLUMN` of the commands that read results tables."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import ConfigError, Problem


def roles_of(pairs: Sequence[str]) -> dict[str, str | list[str]]:
    """`--map expected="Ground Truth"` → role and column; a column's name may hold anything but is not split. A role
    that is named again gets several columns."""
    wrong = [pair for pair in pairs if "=" not in pair]
    if wrong:
        raise ConfigError(
            "--map takes ROLE=COLUMN", [Problem("--map", f"'{pair}' has no '='") for pair in wrong]
        )
    found: dict[str, list[str]] = {}
    for pair in pairs:
        role, column = pair.split("=", 1)
        found.setdefault(role, []).append(column)
    return {role: columns[0] if len(columns) == 1 else columns for role, columns in found.items()}
