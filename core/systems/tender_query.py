"""The query of a tender without the words of tendering itself. What those are stands in word lists by language."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from core.lexicon import entries
from core.text import words

LANGUAGES = ("de", "en", "es", "fr", "it", "nl", "pl")


@dataclass(frozen=True, slots=True)
class CleanedQuery:
    """`cleaned` is the query without procedure phrases and bare numbers; `main_object` its part before a
    secondary one ("…, including maintenance"). Both are the query itself where nothing would be left."""

    cleaned: str
    main_object: str


def clean(query: str, language: str | None = None) -> CleanedQuery:
    """Clean a query with the lists of its language; with all lists where the language is unknown or has none.

    >>> clean("Framework agreement for the supply of school furniture, including assembly", "en").main_object
    'for the school furniture'
    """
    found = list(words(query))
    kept = _without_phrases(found, language if language in LANGUAGES else None)
    kept = [word for word in kept if not word[0].isdigit()]
    if not kept:
        return CleanedQuery(query, query)
    return CleanedQuery(" ".join(kept), " ".join(_main_part(kept)))


def _without_phrases(found: list[str], language: str | None) -> list[str]:
    phrases = _phrases(language)
    kept: list[str] = []
    at = 0
    while at < len(found):
        length = next(
            (n for n in phrases.get(found[at], ()) if tuple(found[at : at + n]) in _all(language)), 0
        )
        if length:
            at += length
        else:
            kept.append(found[at])
            at += 1
    return kept


def _main_part(kept: list[str]) -> list[str]:
    openers = {words(line) for line in entries("tender_secondary.txt")}
    for at in range(1, len(kept)):
        if any(tuple(kept[at : at + len(opener)]) == opener for opener in openers):
            return kept[:at]
    return kept


@cache
def _all(language: str | None) -> frozenset[tuple[str, ...]]:
    names = LANGUAGES if language is None else (language,)
    return frozenset(words(line) for name in names for line in entries(f"tender_procedure_{name}.txt"))


@cache
def _phrases(language: str | None) -> dict[str, tuple[int, ...]]:
    """First word → lengths of the phrases that begin with it, long ones first."""
    found: dict[str, set[int]] = {}
    for phrase in _all(language):
        found.setdefault(phrase[0], set()).add(len(phrase))
    return {first: tuple(sorted(lengths, reverse=True)) for first, lengths in found.items()}
