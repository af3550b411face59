"""Raw page texts → one normalised text and the offset at which each page starts.

Line ends become LF, white space inside a line one blank, three and more line ends two; words broken at a line
end are rejoined ("Mo-\\ndul" → "Modul") while real hyphens stay ("Bachelor-\\nund Master…"). Everything is
Unicode NFC. All steps are linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_HYPHENS = "-\u2010\u00ad\ufffe"
_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u200b\ufeff]")
_BLANKS = re.compile(r"[^\S\n]+")
_EDGES = re.compile(r" *\n *")
_EMPTY_LINES = re.compile(r"\n{3,}")
_SOFT = re.compile("[\u00ad\ufffe](?!\n)")
_BREAK = re.compile(rf"(?<=[^\W\d_])[{_HYPHENS}]\n(?=[^\W\d_])")
_LETTERS = re.compile(r"[^\W\d_]+")
_COMPOUND = re.compile(r"([^\W\d_]+)(?=-([^\W\d_]+))")
_VISIBLE = {0x00AD: "-", 0xFFFE: "-"}
_SURROGATES = re.compile("[\ud800-\udfff]")
# A hyphen before one of these completes another word ("Bachelor- und Masterstudium").
_CONNECTING_WORDS = (
    "und oder bzw beziehungsweise sowie als wie bis noch aber sondern and or nor to but et ou ni y e o u ed"
)
_CONNECTING = frozenset(_CONNECTING_WORDS.split())


def clean(text: str, *, keep_indent: bool = False) -> str:
    """One page (or a text file) with normal line ends, blanks and Unicode; hyphens are left alone.

    `keep_indent` keeps leading and inner blanks, for text files in which they mean something.
    """
    text = _SURROGATES.sub("\ufffd", text)
    text = _CONTROL.sub("", _LINE_ENDS.sub("\n", text))
    text = unicodedata.normalize("NFC", text)
    text = (
        "\n".join(line.rstrip() for line in text.split("\n"))
        if keep_indent
        else _EDGES.sub("\n", _BLANKS.sub(" ", text)).strip(" ")
    )
    return _SOFT.sub("", _EMPTY_LINES.sub("\n\n", text))


def join_pages(pages: Sequence[str], *, keep_indent: bool = False) -> tuple[str, list[int]]:
    """The text of all pages and the offset of each page's first character.

    Pages are joined by one line end; a word broken over two pages is rejoined when nothing stands between its
    halves. Offsets never decrease; an empty page has the offset of the next one.
    """
    cleaned = [clean(page, keep_indent=keep_indent).strip("\n") for page in pages]
    starts, length = [], 0
    filled: list[str] = []
    for page in cleaned:
        starts.append(length)
        if page:
            filled.append(page)
            length += len(page) + 1
    text = "\n".join(filled)
    text, starts = _rejoin(text, starts)
    text = text.translate(
        _VISIBLE
    )  # what is left of them stood at the end of a line, where readers see a hyphen
    return text, [min(start, len(text)) for start in starts]


def _rejoin(text: str, starts: list[int]) -> tuple[str, list[int]]:
    """Take the hyphen and line end out of broken words, moving the page starts along."""
    compounds = {f"{first}-{second}".casefold() for first, second in _COMPOUND.findall(text)}
    words: set[str] | None = None
    pieces: list[str] = []
    cuts: list[tuple[int, int]] = []  # (offset in the old text, characters removed up to and with it)
    done = removed = 0
    for broken in _BREAK.finditer(text):
        start, end = broken.span()
        hyphen, second = text[start], _LETTERS.match(text, end)[0]  # type: ignore[index]
        if not second[0].islower() or (hyphen == "-" and second in _CONNECTING):
            continue
        first = _last_word(text, start) if hyphen == "-" and compounds else ""
        if first and f"{first}-{second}".casefold() in compounds:
            words = words if words is not None else set(_LETTERS.findall(text.casefold()))
            if f"{first}{second}".casefold() not in words:
                start += 1  # the document itself writes this word with its hyphen
        pieces.append(text[done:start])
        removed += end - start
        cuts.append((end, removed))
        done = end
    pieces.append(text[done:])
    return "".join(pieces), _shift(starts, cuts)


def _last_word(text: str, end: int, limit: int = 80) -> str:
    """The letters before `end`, at most `limit` of them."""
    start = end
    while start > max(0, end - limit) and text[start - 1].isalpha():
        start -= 1
    return text[start:end]


def _shift(starts: list[int], cuts: list[tuple[int, int]]) -> list[int]:
    moved, index, removed = [], 0, 0
    for start in starts:
        while index < len(cuts) and cuts[index][0] <= start:
            removed = cuts[index][1]
            index += 1
        moved.append(start - removed)
    return moved
