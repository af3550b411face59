"""Whether a judge's evidence is in the material: a check without a model.

A label that needs evidence and comes with a quote that is not there is `unverified`: the judge made it up.
"""

from __future__ import annotations

import difflib
import re

from core.text import fold

FUZZY = 0.9
_PLACES = 200  # places of the source that are compared at most
_HYPHEN_AT_LINE_END = re.compile(r"(\w)[-\u00ad]\s*\n\s*(\w)")
_ELLIPSIS = re.compile(r"\s*(?:\[…\]|\[\.\.\.\]|…|\.\.\.)\s*")
_MARKS = str.maketrans(
    {"„": '"', "“": '"', "”": '"', "«": '"', "»": '"', "’": "'", "‘": "'", "–": "-", "—": "-", "‑": "-"}
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def is_quoted(quote: str, source: str) -> bool:
    """Whether `quote` stands in `source`.

    Case, white space, typographic marks and hyphens at line ends do not count. Pieces around an ellipsis must all
    be there, in order. As a last resort a passage of the source that is at least 0.9 alike is accepted, provided
    that it holds the same numbers. An empty quote is not in any source.
    """
    text = _plain(source)
    place = 0
    pieces = [piece for piece in (_plain(each).strip(" \"'") for each in _ELLIPSIS.split(quote)) if piece]
    for piece in pieces:
        found = text.find(piece, place)
        if found < 0:
            found = _alike(piece, text, place)
        if found < 0:
            return False
        place = found + 1
    return bool(pieces)


def _plain(text: str) -> str:
    return fold(_HYPHEN_AT_LINE_END.sub(r"\1\2", text).translate(_MARKS))


def _alike(piece: str, text: str, start: int) -> int:
    """Place of a passage at least 0.9 alike, or -1. Anchored at the longest words of the piece, so it stays quick."""
    if len(piece) < 12:
        return -1
    numbers = _NUMBER.findall(piece)
    matcher = difflib.SequenceMatcher(None, b=piece, autojunk=False)
    tried: set[int] = set()
    for token in sorted(set(piece.split()), key=lambda word: (-len(word), word))[:4]:
        offset = piece.find(token)
        at = text.find(token, start)
        while at >= 0 and len(tried) < _PLACES:
            begin = max(at - offset, start)
            if begin not in tried:
                tried.add(begin)
                window = text[begin : begin + len(piece)]
                matcher.set_seq1(window)
                # the cheap upper bound settles nearly every place; the exact one is quadratic
                alike = matcher.quick_ratio() >= FUZZY and matcher.ratio() >= FUZZY
                if alike and _NUMBER.findall(window) == numbers:
                    return begin
            at = text.find(token, at + 1)
    return -1
