"""Text as every layer sees it: normalised, in words, in sentences. Cached and Unicode-aware.

One tokenising rule for indexing, overlap and claims: a word is a run of letters and digits, lower-cased after
NFKC; numbers keep their inner separators ("3,5", "1.200").
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:[^\W_])*|\w", re.UNICODE)
TOKEN = re.compile(r"\d+(?:[.,]\d+)*|\w+|[^\w\s]", re.UNICODE)
_SPACE = re.compile(r"\s+")


def fold(text: str) -> str:
    """NFKC, case-folded, white space folded to single blanks: the form in which texts are compared."""
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text)).strip().casefold()


@lru_cache(maxsize=65_536)
def words(text: str) -> tuple[str, ...]:
    """The words of a text in order, normalised (NFKC, case-folded); punctuation is dropped."""
    return tuple(WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def token_spans(text: str) -> list[tuple[int, int]]:
    """Character ranges of our own tokens: words, numbers, single punctuation marks. Nothing is normalised, so
    that `text[start:end]` is the token."""
    return [match.span() for match in TOKEN.finditer(text)]


def word_spans(text: str) -> list[tuple[int, int]]:
    """Character ranges of the non-space runs of a text (words as users count them)."""
    return [match.span() for match in re.finditer(r"\S+", text)]
