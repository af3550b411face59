"""Any results table by its columns (`core.inputs.columns`), guessed or mapped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.inputs.foreign.imported import KIND, Imported
from core.inputs.table_files import ENDINGS
from core.inputs.workbook import load_prepared


def sniff(path: Path) -> bool:
    return path.is_file() and path.suffix.lower() in ENDINGS


def load(path: Path, mapping: Mapping[str, Any]) -> list[Imported]:
    """One run for each model in the file."""
    width = mapping.get("width")
    columns = {role: column for role, column in mapping.items() if role != "width"}
    sets = load_prepared(path, columns, width=int(width) if width else None)
    return [
        Imported(
            each.name, KIND, path.stem, each.cases, each.outputs, notices=each.notices, digest=each.digest
        )
        for each in sets
    ]
