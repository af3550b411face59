"""Notices → what a code list can learn from them: a label, a description and examples for each code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from core.inputs.notices import Notice
from core.lexicon import entries
from core.text import words

MAX_EXAMPLES = 12
MIN_CHARACTERS = 20
_DASHES = (" – ", " - ", " — ")


def catalog_entries(notices: Sequence[Notice]) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """Code → (label, description, at most 12 distinct examples), in order of first appearance.

    The label is the middle part of a title shaped "Country – Label – Title", else the whole title. Examples are
    titles and texts of at least 20 characters that are no placeholders ("see annex").
    """
    by_code: dict[str, list[Notice]] = {}
    for notice in notices:
        by_code.setdefault(notice.code, []).append(notice)
    return {
        code: (
            label_of(of_code[0].title or of_code[0].text),
            next((text for notice in of_code for text in notice.texts if is_usable(text)), ""),
            examples_of(text for notice in of_code for text in notice.texts),
        )
        for code, of_code in by_code.items()
    }


def label_of(title: str) -> str:
    """The label in a title of TED's own shape; the title itself otherwise."""
    for dash in _DASHES:
        parts = title.split(dash)
        if len(parts) >= 3:
            return parts[1].strip()
    return title


def examples_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Distinct usable texts, at most `MAX_EXAMPLES`."""
    found: dict[str, None] = {}
    for text in texts:
        if is_usable(text):
            found.setdefault(text, None)
        if len(found) == MAX_EXAMPLES:
            break
    return tuple(found)


@cache
def _placeholders() -> frozenset[tuple[str, ...]]:
    return frozenset(words(line) for line in entries("tender_placeholders.txt"))


def is_usable(text: str) -> bool:
    """Whether a text says what is bought: long enough, and no placeholder as a whole."""
    return len(text.strip()) >= MIN_CHARACTERS and words(text) not in _placeholders()
