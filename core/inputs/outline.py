"""A PDF's outline, used where its entries are found as lines of the page they point to."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from core.inputs.headings import Heading
from core.inputs.lines import Line
from core.inputs.markdown import _heading as named
from core.text import fold

LEAST_MATCHES = 2


def outline_headings(
    kept: list[Heading],
    lines: Sequence[Line],
    page_starts: Sequence[int],
    outline: Sequence[tuple[int, str, int]],
    contents: set[int],
) -> list[Heading]:
    """`kept` together with the outline's entries that stand, as a line of their own, on the page they name.

    An outline that mostly does not match the pages is left out; so is an entry in a table of contents
    (`contents`: line indexes), and one before the first numbered heading of a document that has several.
    """
    starts = [line.start for line in lines]
    taken = {heading.line for heading in kept}
    floor = kept[0].line if len(kept) >= 3 else -1
    counted = any(heading.family in ("section_sign", "article") for heading in kept)
    extra: list[Heading] = []
    matches = 0
    for level, title, page in outline:
        if not 1 <= page <= len(page_starts):
            continue
        first = bisect_left(starts, page_starts[page - 1])
        last = bisect_left(starts, page_starts[page]) if page < len(page_starts) else len(lines)
        index = _find(fold(title), lines, first, last)
        if index is None:
            continue
        matches += 1
        if index not in taken and index not in contents and index > floor and not lines[index].noise:
            taken.add(index)
            heading = named(index, title, level)
            if counted and heading.section_id[0].isdigit():
                continue  # an item of a numbered list, below the document's own sections
            extra.append(Heading(index, "outline", heading.section_id, heading.title, level=level, firm=True))
    if matches < LEAST_MATCHES or matches * 2 < len(outline):
        return kept
    return sorted([*kept, *extra], key=lambda each: each.line)


def _find(title: str, lines: Sequence[Line], first: int, last: int) -> int | None:
    """The first line that is the title, or its beginning where the title wraps."""
    if not title:
        return None
    for index in range(first, last):
        text = fold(lines[index].text)
        if text == title or (len(text) >= 10 and len(text) * 2 >= len(title) and title.startswith(text)):
            return index
    return None
