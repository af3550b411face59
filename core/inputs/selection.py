"""Which of the lines that look like headings are headings: tables of contents, lists and references fall out."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence

from core.inputs.headings import REPEALED, Heading
from core.inputs.lines import Line, ends_sentence

_SUBSECTION = re.compile(r"^\(\d{1,3}[a-z]?\)")
_PAGE_AT_END = re.compile(r"\D\s(\d{1,4})$")
LEAST_RUN = 3
BODY_WORDS = 25
LARGEST_GAP = 15
ENOUGH_TO_LEAD = 3
BELOW_TITLE = 2
CELL = 30  # characters; running text breaks its lines later than that


def select(found: Sequence[Heading], lines: Sequence[Line]) -> tuple[list[Heading], set[int]]:
    """(headings, line indexes that belong to a table of contents)."""
    contents = _contents(found, lines)
    rest = [heading for heading in found if heading.line not in contents]
    listed = {(each.family, each.number): each.title for each in found if each.line in contents}
    kept = [*_section_signs(rest, listed), *_articles(rest), *_questions(rest)]
    leading = len(kept)
    kept += _annexes(rest) + _parts(rest)
    if leading < ENOUGH_TO_LEAD:
        kept += _numbered(rest, lines)
    kept.sort(key=lambda each: each.line)
    kept += _amendments(rest, kept)
    return sorted(kept, key=lambda each: each.line), contents


def _contents(found: Sequence[Heading], lines: Sequence[Line]) -> set[int]:
    """Line indexes of entries of tables of contents.

    An entry has dot leaders, or stands in a run of at least three headings without body of which at least half
    come again further down (or end in rising page numbers). The last entry of a run has body behind it; it
    belongs to the run when it too comes again.
    """
    contents = {heading.line for heading in found if heading.dotted}
    last_seen = {(heading.family, heading.section_id): heading.line for heading in found}
    last_entry = {_entry(heading): heading.line for heading in found}
    bodies = [_has_body(found, index, lines) for index in range(len(found))]
    index = 0
    while index < len(found):
        end = index
        while end < len(found) and not bodies[end]:
            end += 1
        run = list(found[index:end])
        first = {_entry(heading): heading.line for heading in reversed(run)}
        while run and first[_entry(run[-1])] < run[-1].line == last_entry[_entry(run[-1])]:
            run.pop()  # here the text itself begins, with a part's heading right above its first section
        if _is_contents(run, last_seen):
            contents.update(heading.line for heading in run)
            if (
                end < len(found)
                and end - index == len(run)
                and last_entry[_entry(found[end])] > found[end].line
            ):
                contents.add(found[end].line)
        index = end + 1
    return contents


def _is_contents(run: Sequence[Heading], last_seen: Mapping[tuple[str, str], int]) -> bool:
    """Whether most of a run's entries come again below it. Items of a list do not count beside sections."""
    sections = [heading for heading in run if heading.family != "numbered"] or run
    if len(sections) < LEAST_RUN:
        return False
    again = sum(last_seen[heading.family, heading.section_id] > run[-1].line for heading in sections)
    dotted = sum(heading.dotted for heading in sections)
    return (again + dotted) * 2 >= len(sections) or _rising_pages(sections)


def _entry(heading: Heading) -> tuple[str, str, str]:
    """What an entry of a table of contents and its heading have in common."""
    return heading.family, heading.section_id, " ".join(heading.title.casefold().split()[:2])


def _has_body(found: Sequence[Heading], index: int, lines: Sequence[Line]) -> bool:
    """Whether text stands between a heading and the next: a sentence, a "(1)", or more than a few words."""
    heading = found[index]
    if REPEALED.search(heading.title):
        return True
    end = found[index + 1].line if index + 1 < len(found) else len(lines)
    words = 0
    for line in lines[heading.line + 1 : end]:
        if line.noise:
            continue
        if _SUBSECTION.match(line.text) or ends_sentence(line.text):
            return True
        words += len(line.text.split())
        if words > BODY_WORDS:
            return True
    return False


def _rising_pages(run: Sequence[Heading]) -> bool:
    pages = [int(found[1]) for heading in run if (found := _PAGE_AT_END.search(heading.title))]
    return len(pages) == len(run) and pages == sorted(pages) and len(set(pages)) > 1


def _section_signs(
    found: Sequence[Heading], listed: Mapping[tuple[str, tuple[int, ...]], str]
) -> list[Heading]:
    """`§` headings. A firm one may leap ahead or start again at 1; a doubtful one must follow one that was
    accepted (§ 4 after § 3, § 4b after § 4a), as references in running text hardly ever do, or begin like the
    entry of the same number in the table of contents (`listed`)."""
    kept: list[Heading] = []
    seen: set[tuple[int, str]] = set()
    highest = 0
    for heading in found:
        if heading.family == "annex":
            seen, highest = set(), 0
        if heading.family != "section_sign":
            continue
        number, suffix = heading.number[0], heading.suffix
        follows = (number, suffix) not in seen and any(each in seen for each in _predecessors(number, suffix))
        restarts = number == 1 and not suffix and (not seen or highest > 2)
        leaps = heading.firm and (not seen or number <= highest + LARGEST_GAP)
        if not (follows or restarts or leaps or _is_listed(heading, listed)):
            continue
        if restarts and highest > 2:
            seen, highest = set(), 0
        seen.add((number, suffix))
        highest = max(highest, number)
        kept.append(heading)
    return kept


def _predecessors(number: int, suffix: str) -> list[tuple[int, str]]:
    if suffix > "a":
        return [(number, chr(ord(suffix) - 1))]
    return [(number, "")] if suffix else [(number - 1, letter) for letter in ("", *"abcdefghijklm")]


def _is_listed(heading: Heading, listed: Mapping[tuple[str, tuple[int, ...]], str]) -> bool:
    """Whether a table of contents names this number, and the heading is firm or has the title's first words."""
    title = listed.get((heading.family, heading.number))
    if title is None:
        return False
    return heading.firm or " ".join(title.split()[:2]) in heading.title


def _articles(found: Sequence[Heading]) -> list[Heading]:
    kept: list[Heading] = []
    last = 0
    for heading in found:
        if heading.family != "article":
            continue
        number = heading.number[0]
        if number in (last, last + 1) or (
            heading.firm and (number == 1 or not kept or last < number <= last + 3)
        ):
            kept.append(heading)
            last = number
    return kept


def _questions(found: Sequence[Heading]) -> list[Heading]:
    kept: list[Heading] = []
    last = 0
    for heading in found:
        if heading.family == "question" and heading.number[0] in (1, last + 1, last + 2):
            kept.append(heading)
            last = heading.number[0]
    return kept if len(kept) >= 2 else []


def _annexes(found: Sequence[Heading]) -> list[Heading]:
    """Annexes, each once: a repeated line is the header of its further pages. One without a number counts only
    where the line stands apart."""
    kept: list[Heading] = []
    last = ""
    for heading in found:
        if heading.family != "annex" or heading.section_id.casefold() == last:
            continue
        if heading.firm or " " in heading.section_id:
            kept.append(heading)
            last = heading.section_id.casefold()
    return kept


def _parts(found: Sequence[Heading]) -> list[Heading]:
    """Parts ("II. Title", "Chapter 3", "B. Title"), counted from 1 in each series; a series may start again at
    1. Letters need a series of at least two, as "A. Name" is also a person."""
    series: dict[str, list[Heading]] = defaultdict(list)
    for heading in found:
        if heading.family != "part":
            continue
        word = heading.suffix or (
            "roman" if heading.section_id.endswith(".") else heading.section_id.split()[0]
        )
        chain = series[word]
        last = chain[-1].number[0] if chain else 0
        if heading.number[0] in (last + 1, 1) or (heading.number[0] == last + 2 and heading.firm):
            chain.append(heading)
    kept = []
    for word, chain in series.items():
        if word == "letter" and max(heading.number[0] for heading in chain) < 2:
            continue
        kept.extend(chain)
    return kept


def _amendments(found: Sequence[Heading], kept: Sequence[Heading]) -> list[Heading]:
    """Numbered items of an amending statute ("3. § 5 wird wie folgt geändert:"), below its articles."""
    if not any(heading.family == "article" for heading in kept):
        return []
    borders = [heading.line for heading in kept if heading.family == "article"]
    chosen: list[Heading] = []
    last, passed = 0, -1
    for heading in found:
        border = bisect_left(borders, heading.line) - 1
        if heading.family != "amendment" or border < 0:
            continue
        if border != passed:
            last, passed = 0, border
        if heading.number[0] == last + 1:
            chosen.append(heading)
            last = heading.number[0]
    return chosen


def _numbered(found: Sequence[Heading], lines: Sequence[Line]) -> list[Heading]:
    """ "3.2 Title": each must follow the one before it (3.1 → 3.2, 4, 3.1.1). Numbers of one level are headings
    only where they have body text and are no list: see `_is_list_item`."""
    numbered = [heading for heading in found if heading.family == "numbered"]
    nested = any(len(heading.number) > 1 for heading in numbered)
    kept: list[Heading] = []
    skipped: tuple[int, ...] = ()
    for position, heading in enumerate(numbered):
        last = kept[-1].number if kept else ()
        following = numbered[position + 1] if position + 1 < len(numbered) else None
        single = len(heading.number) == 1
        if not _succeeds(heading.number, last) or (
            single and _is_list_item(heading, following, skipped, lines, nested, len(kept) > 1)
        ):
            if single:
                skipped = heading.number
            continue
        kept.append(heading)
        skipped = ()
    return kept if len(kept) >= 2 else []


def _succeeds(number: tuple[int, ...], last: tuple[int, ...]) -> bool:
    if not last:
        return set(number) <= {0, 1}
    if number[: len(last)] == last and number[len(last) :] in ((0,), (1,)):
        return True
    for depth in range(len(last)):
        same = number[:depth] == last[:depth] and len(number) > depth
        if (
            same
            and number[depth] in (last[depth] + 1, last[depth] + 2)
            and set(number[depth + 1 :]) <= {0, 1}
        ):
            return True
    return False


def _is_list_item(
    heading: Heading,
    following: Heading | None,
    skipped: tuple[int, ...],
    lines: Sequence[Line],
    nested: bool,
    begun: bool,
) -> bool:
    """Whether "3. Text" is an item of a list: its predecessor was one, the line before announces a list (":"),
    the next number follows at once, or nothing sets it apart from the text."""
    if skipped and heading.number[0] == skipped[0] + 1:
        return True
    before = lines[heading.line - 1].text if heading.line else ""
    if before.endswith(":"):
        return True
    if following is not None and following.line == heading.line + 1 and len(following.number) == 1:
        return True
    # nothing sets a heading apart right below the title of a document, or below the cells of a table
    below = heading.line <= BELOW_TITLE or (begun and len(before) < CELL and len(before.split()) <= 4)
    apart = (heading.firm or below) and len(heading.title.split()) <= 12
    return not (apart or (nested and len(heading.title.split()) <= 12))
