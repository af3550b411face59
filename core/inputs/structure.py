"""One text → sections without gaps, and paragraphs inside them. Linear in the length of the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.corpus import Page, Paragraph, Section
from core.inputs.headings import Heading, candidates, full_title
from core.inputs.lines import Line, ends_sentence, split_lines
from core.inputs.markdown import markdown_headings
from core.inputs.outline import outline_headings
from core.inputs.selection import select

PREAMBLE = "PREAMBLE"
LONG_WITHOUT_HEADINGS = 4_000
_NEW_BLOCK = re.compile(r"^\(\d{1,3}[a-z]?\) |^[•▪●‣◦–—*-] |^\d{1,3}\.? [^\W\d_]|^[a-z]\) ")
_NEW_SUBSECTION = re.compile(r"^\(\d{1,3}[a-z]?\)(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Layout:
    """The parts of one text, all as ranges of it."""

    pages: tuple[Page, ...]
    sections: tuple[Section, ...]
    paragraphs: tuple[Paragraph, ...]
    title: str


def structure(
    text: str,
    page_starts: Sequence[int],
    *,
    markdown: bool = False,
    outline: Sequence[tuple[int, str, int]] = (),
) -> Layout:
    """Find the parts of a text. `page_starts` are the offsets of its pages; `outline` holds (level, title, page
    from 1). Sections cover the text; what stands before the first heading is the section PREAMBLE."""
    lines = split_lines(text, page_starts)
    headings = _headings(text, lines, page_starts, markdown, outline)
    sections = _sections(text, lines, headings, page_starts)
    return Layout(
        pages=_pages(text, page_starts),
        sections=sections,
        paragraphs=_paragraphs(text, lines, sections, {heading.line for heading in headings}),
        title=_title(lines, headings, markdown),
    )


def _headings(
    text: str,
    lines: Sequence[Line],
    page_starts: Sequence[int],
    markdown: bool,
    outline: Sequence[tuple[int, str, int]],
) -> list[Heading]:
    marked, hidden = markdown_headings(lines) if markdown else ([], set())
    taken = {heading.line for heading in marked}
    found = [each for each in candidates(lines) if each.line not in taken and each.line not in hidden]
    if marked:
        found = [each for each in found if each.family != "numbered"]
    kept, contents = select(found, lines)
    if outline:
        kept = outline_headings(kept, lines, page_starts, outline, contents)
    return _levelled(sorted([*marked, *kept], key=lambda each: each.line))


def _levelled(headings: list[Heading]) -> list[Heading]:
    """Levels from 1 without regard to how deep a family usually is: parts hold articles hold numbers."""
    families = {heading.family for heading in headings}
    below_part = 2 if families & {"part", "annex"} else 1
    levels = {
        "annex": 1,
        "part": 1,
        "section_sign": below_part,
        "article": below_part,
        "question": below_part,
        "amendment": below_part + 1 if families & {"article"} else below_part,
    }
    levelled: list[Heading] = []
    marked = above = 0
    for heading in headings:
        if heading.family == "markdown":
            marked = heading.level
            levelled.append(heading)
        elif heading.family == "outline":
            levelled.append(replace(heading, level=above + 1 if above else heading.level))
            continue
        elif heading.family == "numbered":
            levelled.append(replace(heading, level=below_part - 1 + len(heading.number)))
        else:
            base = marked if "markdown" in families else 0
            levelled.append(replace(heading, level=base + levels[heading.family]))
        above = levelled[-1].level
    return levelled


def _unstructured(text: str, page_starts: Sequence[int]) -> tuple[Section, ...]:
    """A text without headings: one section, or one for each page where it is long and has pages."""
    starts = sorted({0, *(start for start in page_starts if start < len(text))})
    if len(text) < LONG_WITHOUT_HEADINGS or len(starts) < 2:
        return (Section(ordinal=0, section_id=PREAMBLE, start=0, end=len(text)),)
    numbers = {start: number for number, start in reversed(list(enumerate(page_starts, 1)))}
    return tuple(
        Section(ordinal=ordinal, section_id=f"page {numbers.get(start, 1)}", start=start, end=end)
        for ordinal, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True))
    )


def _sections(
    text: str, lines: Sequence[Line], headings: Sequence[Heading], page_starts: Sequence[int]
) -> tuple[Section, ...]:
    if not text:
        return ()
    if not headings:
        return _unstructured(text, page_starts)
    starts = [lines[heading.line].start for heading in headings]
    sections: list[Section] = []
    if text[: starts[0]].strip():
        sections.append(Section(ordinal=0, section_id=PREAMBLE, start=0, end=starts[0]))
    else:
        starts[0] = 0
    part = named_part = ""
    last: dict[str, tuple[int, ...]] = {}
    restarts = 1
    for heading, start, end in zip(headings, starts, [*starts[1:], len(text)], strict=True):
        title = full_title(heading, lines)
        if heading.family in ("annex", "part"):
            part = named_part = f"{heading.section_id} {title}".strip()[:200]
            if heading.family == "annex":
                last.clear()
        elif heading.family in ("section_sign", "article"):
            if heading.number == (1,) and last.get(heading.family, (1,)) > (2,):
                restarts += 1
                part = ", ".join(filter(None, (named_part, f"part {restarts}")))
            last[heading.family] = heading.number
        sections.append(
            Section(
                ordinal=len(sections),
                section_id=heading.section_id,
                title=title,
                level=heading.level,
                part=part,
                start=start,
                end=end,
            )
        )
    return tuple(sections)


def _paragraphs(
    text: str, lines: Sequence[Line], sections: Sequence[Section], heading_lines: set[int]
) -> tuple[Paragraph, ...]:
    """Blocks inside sections: parted by blank lines, by "(1)", and where a line that ends a sentence is clearly
    shorter than the lines around it. A heading belongs to the block that follows it."""
    if not lines:
        return ()
    width = sorted(len(line.text) for line in lines)[int(len(lines) * 0.9)]
    starts = [section.start for section in sections]
    blocks: list[list[int]] = []  # [section ordinal, start, end]
    only_heading = True
    previous: Line | None = None
    for index, line in enumerate(lines):
        section = max(0, bisect_right(starts, line.start) - 1)
        new = not blocks or blocks[-1][0] != section
        if not new and previous is not None and not only_heading:
            new = _begins(text, previous, line, width)
        if new:
            blocks.append([section, line.start, line.end])
            only_heading = index in heading_lines
        else:
            blocks[-1][2] = line.end
            only_heading = only_heading and line.noise
        previous = line if not line.noise else previous
    return tuple(
        Paragraph(ordinal=ordinal, section=section, start=start, end=end)
        for ordinal, (section, start, end) in enumerate(blocks)
    )


def _begins(text: str, previous: Line, line: Line, width: int) -> bool:
    if line.noise:
        return False
    if _NEW_SUBSECTION.match(line.text):
        return True
    if "\n\n" in text[previous.end : line.start]:
        return not (line.text[0].islower() and not ends_sentence(previous.text))
    if not ends_sentence(previous.text) or previous.text.endswith(":"):
        return False
    return len(previous.text) < 0.7 * width and (line.text[0].isupper() or bool(_NEW_BLOCK.match(line.text)))


def _pages(text: str, page_starts: Sequence[int]) -> tuple[Page, ...]:
    ends = [*page_starts[1:], len(text)][: len(page_starts)]
    return tuple(
        Page(number=number, start=start, end=end)
        for number, (start, end) in enumerate(zip(page_starts, ends, strict=True), 1)
    )


def _title(lines: Sequence[Line], headings: Sequence[Heading], markdown: bool) -> str:
    """The first Markdown heading, or the first line that is more than a page number."""
    if markdown:
        for heading in headings:
            if heading.family == "markdown":
                return heading.title[:200]
    for line in lines[:20]:
        if not line.noise and sum(char.isalpha() for char in line.text) >= 4:
            return line.text[:200]
    return ""
