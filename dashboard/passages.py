"""Where a quoted piece stands in a text that was shown or stored with other white space and line breaks."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"\w+|[^\w\s]")
_BETWEEN = r"[\s\u00ad\u200b-]*"
_LONGEST = 400  # words; a longer quote is found by its beginning


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """Character range of the quote in the text, or None. Case, white space and hyphens at line ends are folded."""
    words = _WORD.findall(quote)[:_LONGEST]
    if not words:
        return None
    found = re.search(_BETWEEN.join(_pattern(word) for word in words), text, re.IGNORECASE)
    return found.span() if found else None


def around(text: str, start: int, end: int, margin: int = 700) -> tuple[int, int]:
    """A window around a range that begins and ends at white space."""
    low, high = max(start - margin, 0), min(end + margin, len(text))
    if low:
        low = next((i for i in range(low, start) if text[i].isspace()), low)
    if high < len(text):
        high = next((i for i in range(high, end, -1) if text[i - 1].isspace()), high)
    return low, high


def without_overlaps(marks: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Marks in order; of two that overlap the first stays whole."""
    kept: list[tuple[int, int, str]] = []
    for start, end, kind in sorted(marks):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end, kind))
    return kept


def _pattern(word: str) -> str:
    # a word may be broken over a line end, with or without a hyphen
    return (
        r"(?:[-\u00ad]?\s*\n\s*)?".join(map(re.escape, word))
        if len(word) > 3 and word.isalpha()
        else re.escape(word)
    )
