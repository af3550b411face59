"""Markdown headings: `#` and underlined ones, but not in fenced code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.inputs.headings import Heading
from core.inputs.lines import Line

_ATX = re.compile(r"^(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?$")
_FENCE = re.compile(r"^(`{3,}|~{3,})")
_UNDERLINE = re.compile(r"^(=+|-{2,})$")
_PRINTED = re.compile(
    r"^(§ ?\d+ ?[a-z]?|(?:Artikel|Article|Art\.) \d+[a-z]?|(?:Anlage|Anhang|Annex|Appendix) \w{1,3}|[IVXL]+\.|\d+(?:\.\d+)*)"
    r"(?!\w)[.:)]?\s*(.*)$"
)
_EMPHASIS = re.compile(r"[*_`]{1,3}")


def markdown_headings(lines: Sequence[Line]) -> tuple[list[Heading], set[int]]:
    """Headings, and the indexes of lines inside fenced code, in which nothing is a heading."""
    headings: list[Heading] = []
    code: set[int] = set()
    fence = ""
    for index, line in enumerate(lines):
        mark = _FENCE.match(line.text)
        if fence or mark:
            code.add(index)
            if not fence:
                fence = mark[1] if mark else ""
            elif mark and mark[1].startswith(fence) and line.text == mark[1]:
                fence = ""
        elif found := _ATX.match(line.text):
            headings.append(_heading(index, found[2], len(found[1])))
        elif (underline := _UNDERLINE.match(line.text)) and index and _is_title(lines, index, code, headings):
            headings.append(_heading(index - 1, lines[index - 1].text, 1 if underline[1][0] == "=" else 2))
    return headings, code


def _is_title(lines: Sequence[Line], index: int, code: set[int], headings: Sequence[Heading]) -> bool:
    """Whether the line above an underline is a heading: right above it, alone, and not a table or list."""
    above = lines[index - 1]
    taken = bool(headings) and headings[-1].line == index - 1
    adjacent = lines[index].after != "blank" and lines[index].start - above.end <= 2
    alone = above.after in ("start", "blank", "sentence", "page")
    return adjacent and alone and not taken and index - 1 not in code and above.text[0] not in "|-*>#"


def _heading(index: int, title: str, level: int) -> Heading:
    """`section_id` is the printed number where the title has one, else the title itself."""
    title = _EMPHASIS.sub("", title).strip()
    printed = _PRINTED.match(title)
    if printed:
        section_id = re.sub(r"^§ ?", "§ ", printed[1]).replace("  ", " ")
        section_id = re.sub(r"(§ \d+) ([a-z])$", r"\1\2", section_id)
        return Heading(index, "markdown", section_id, printed[2], level=level, firm=True)
    return Heading(index, "markdown", title[:80] or "#", title, level=level, firm=True)
