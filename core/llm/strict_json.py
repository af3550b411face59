"""JSON as the standard has it, and nothing beside it.

Python's reader accepts NaN, infinities and repeated keys; a judge's reply with any of them has no single meaning
and must not be read as one.
"""

from __future__ import annotations

import json
import math
from typing import Any


def parse(text: str) -> Any:
    """The value of a JSON text. ValueError (with what is wrong) for NaN, infinities, numbers too large for a
    double, repeated keys, trailing text, nesting too deep, and everything that is not JSON."""
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_distinct)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def well_formed(text: str) -> str:
    """The text with lone surrogates replaced: what can be stored as UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text} is out of range")
    return value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key '{twice}' is given twice")
    return result
