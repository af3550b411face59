"""A text as lines with their offsets, and which of them are running headers, page numbers or blank."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_PAGE_NUMBER = re.compile(
    r"^[^\w§]*(?:(?:Seite|Page|S\.|p\.)\s*)?\d{1,4}(?:\s*(?:/|von|of|de|sur)\s*\d{1,4})?\W*$", re.IGNORECASE
)
_NUMBER_FIRST = re.compile(r"^(?:§|Artikel|Article|Art\.|Q|F) ?\d+ ?[a-z]?\b|^\d+(?:\.\d+)*\.? (?=[^\W\d_])")
_DIGITS = re.compile(r"\d+")
_SENTENCE_END = re.compile(r"[.;:!?…][\"“”»')\]]*$")
EDGE_LINES = 3


@dataclass(frozen=True, slots=True)
class Line:
    """`text` is stripped; `start` is the offset of its first character. `noise` marks page numbers and running
    headers and footers, which stand in the text but not in its structure. `after` says what precedes the line:
    start | blank | page | sentence (a line that ends one) | text."""

    start: int
    end: int
    text: str
    noise: bool
    after: str


def split_lines(text: str, page_starts: Sequence[int]) -> list[Line]:
    """The non-blank lines of a text. `page_starts` are sorted offsets (empty or [0] for a text without pages)."""
    found: list[tuple[int, int, str, bool]] = []
    position, blank = 0, False
    for raw in text.split("\n"):
        stripped = raw.strip()
        if stripped:
            start = position + raw.index(stripped[0])
            found.append((start, start + len(stripped), stripped, blank))
        blank = not stripped
        position += len(raw) + 1
    starts = [line[0] for line in found]
    first_of_page = {bisect_left(starts, page) for page in page_starts}
    running = _running(found, starts, page_starts)
    lines: list[Line] = []
    for index, (start, end, stripped, after_blank) in enumerate(found):
        noise = index in running or (len(page_starts) > 1 and _is_page_number(stripped))
        lines.append(Line(start, end, stripped, noise, _after(lines, after_blank, index in first_of_page)))
    return lines


def _is_page_number(text: str) -> bool:
    return len(text) <= 60 and _PAGE_NUMBER.match(text) is not None


def ends_sentence(text: str) -> bool:
    return bool(_SENTENCE_END.search(text))


def _after(lines: list[Line], blank: bool, new_page: bool) -> str:
    previous = next((line for line in reversed(lines[-4:]) if not line.noise), None)
    if previous is None:
        return "start" if len(lines) < 4 else "page"
    if ends_sentence(previous.text):
        return "sentence"
    if blank:
        return "blank"
    return "page" if new_page or lines[-1].noise else "text"


def _running(
    found: Sequence[tuple[int, int, str, bool]], starts: Sequence[int], page_starts: Sequence[int]
) -> set[int]:
    """Indexes of lines that stand, but for their digits, at the edge of three pages or more and of a third of
    all pages."""
    if len(page_starts) < 3:
        return set()
    edges: list[int] = []
    bounds = [bisect_left(starts, page) for page in page_starts] + [len(starts)]
    for first, last in pairwise(bounds):
        top, bottom = range(first, min(first + EDGE_LINES, last)), range(max(first, last - EDGE_LINES), last)
        edges.extend(sorted({*top, *bottom}))
    keys = {index: _key(found[index][2]) for index in edges}
    counts = Counter(keys.values())
    least = max(3, len(page_starts) // 3)
    return {index for index, key in keys.items() if counts[key] >= least and len(key) < 200}


def _key(text: str) -> str:
    """What two running lines have in common. The number of a heading is kept: "§ 3 Title" and "§ 5 Title" are
    two headings, "Title | page 3" and "Title | page 5" one header."""
    number = _NUMBER_FIRST.match(text)
    head = number[0] if number else ""
    return head + _DIGITS.sub("#", text[len(head) :].casefold())


def page_of(offset: int, page_starts: Sequence[int]) -> int:
    """Index from 0 of the page that holds an offset."""
    return max(0, bisect_right(page_starts, offset) - 1)
