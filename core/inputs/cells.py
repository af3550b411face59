"""Cells of results tables read as numbers, lists and codes."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from core.inputs.table_files import missing

CODE = re.compile(r"(?<!\d)(\d{8})(?:-\d)?(?!\d)")
_ARRAY_ITEM = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|([^\s,'\"\[\]]+)")
_WRAPPED = re.compile(r"^array\((.*?)(?:,\s*dtype=[\w<>.]+)?\)$", re.DOTALL)
_ADJACENT = re.compile(r"['\"]\s+['\"]")
FULL_CODE = 8


def as_number(value: Any) -> float | None:
    """A number, also with a decimal comma ("0,87", "1.234,5"); None for what is none."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str):
        return None
    text = value.strip().replace("\u00a0", "").replace("\u2212", "-")
    if "," in text:
        text = (
            text.replace(".", "").replace(",", ".")
            if text.rfind(",") > text.rfind(".")
            else text.replace(",", "")
        )
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number == number and abs(number) != float("inf") else None


def as_list(value: Any) -> list[Any]:
    """The items of a cell: a list, a list as JSON, Python or numpy text, or the value alone. Missing: none."""
    if isinstance(value, list | tuple):
        return [item for item in value if not missing(item)]
    if missing(value):
        return []
    if isinstance(value, str) and (text := value.strip()).startswith(("[", "(", "array(")):
        items = _parsed(text)
        if items is not None:
            return [item for item in items if not missing(item)]
    return [value]


def _parsed(text: str) -> list[Any] | None:
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if not isinstance(found, list | tuple):
            return None
        if _ADJACENT.search(text) and read is ast.literal_eval:
            items = _array_items(text)  # numpy prints no commas, and Python would join the texts
            return items if len(items) > len(found) else list(found)
        return list(found)
    wrapped = _WRAPPED.match(text)
    inner = wrapped[1] if wrapped else text
    if not (inner.startswith("[") and inner.endswith("]")):
        return None
    return _array_items(inner)


def _array_items(text: str) -> list[Any]:
    items = _ARRAY_ITEM.finditer(text.strip()[1:-1])
    return [next(group for group in item.groups() if group is not None) for item in items]


def as_text(value: Any) -> str:
    """A cell as text: whole numbers without `.0`, lists and mappings as JSON, None as nothing."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value).strip()


@dataclass(slots=True)
class CodeReader:
    """Reads labels from cells. A cell with 8-digit codes gives the codes (check digits dropped), any other its
    stripped text. `width` is the length to which numbers regain their leading zeros, None to leave them;
    `restored` counts where that happened, by column."""

    width: int | None
    restored: dict[str, int] = field(default_factory=dict)

    def labels(self, value: Any, column: str) -> list[str]:
        found: list[str] = []
        for item in as_list(value):
            if isinstance(item, dict):
                item = next(
                    (item[key] for key in ("label", "code", "cpv_code", "id", "answer") if item.get(key)), ""
                )
            text = self._padded(as_text(item), column)
            codes = CODE.findall(text)
            found.extend(codes or ([text] if text else []))
        return found

    def _padded(self, text: str, column: str) -> str:
        if self.width and text.isdigit() and len(text) < self.width:
            self.restored[column] = self.restored.get(column, 0) + 1
            return text.zfill(self.width)
        return text

    def notices(self) -> list[str]:
        return [
            f"column '{column}': {count} code(s) had lost leading zeros and were filled up to {self.width} digits"
            for column, count in self.restored.items()
        ]


def code_width(values: Iterable[Any], given: int | None) -> int | None:
    """The width to restore: the given one; else 8 where the values are codes of 8 digits among which some have
    lost exactly their first zero (7 digits); else None."""
    if given is not None:
        return given
    lengths = {len(text) for value in values for item in as_list(value) if (text := as_text(item)).isdigit()}
    return FULL_CODE if lengths == {FULL_CODE - 1, FULL_CODE} else None
