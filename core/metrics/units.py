"""Units of measurement by their German and English names, from `core/lexicon/units.txt`."""

from __future__ import annotations

from functools import cache, lru_cache

from core.lexicon import entries


@cache
def _units() -> dict[str, tuple[str, str, float]]:
    table = {}
    for line in entries("units.txt"):
        name, dimension, factor, forms = (part.strip() for part in line.split("|"))
        for form in forms.split():
            table[form] = (name, dimension, float(factor))
    return table


@cache
def _named_units() -> dict[str, tuple[str, float]]:
    return {name: (dimension, factor) for name, dimension, factor in _units().values()}


@lru_cache(maxsize=16_384)
def unit_of(word: str, directly: bool = True) -> str:
    """The unit a case-folded word names ("fachsemester" → "semester"), "" if none. Forms of one letter count
    only `directly` behind digits."""
    word = word.strip("-")
    found = _units().get(word)
    if found is not None:
        return found[0] if directly or len(word) > 2 or word == "lp" else ""
    for cut in range(1, len(word) - 3):
        found = _units().get(word[cut:])
        if found is not None:
            return found[0]
    if "-" in word:
        return unit_of(word.split("-")[0], directly)
    return ""


@cache
def dimension(unit: str) -> str:
    """The dimension of a unit ("semester" → "time"), "" for no unit."""
    return _named_units()[unit][0] if unit else ""


def in_base(value: float, unit: str) -> float:
    """A value in the base unit of its dimension (time in seconds, data in bytes); unchanged without a unit."""
    return value * (_named_units()[unit][1] if unit else 1.0)
