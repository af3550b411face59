"""The texts a code list is searched by, and the form in which words are compared.

Word retrieval gets one item for each code and language: a label is as long as it is in its own language, and its
words are stemmed by the rules of that language. On 1,970 real tenders over 9,454 codes this lifted bm25 from
3.8 % to 6.0 % exact codes over one item a code with all labels in it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import snowballstemmer

from core.corpus import Catalog, Code
from core.text import stop_words, words

_STEMMED = {
    "da": "danish", "de": "german", "en": "english", "es": "spanish", "et": "estonian", "fi": "finnish",
    "fr": "french", "hu": "hungarian", "it": "italian", "nl": "dutch", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "sv": "swedish",
}  # fmt: skip
_LOCK = threading.Lock()
ANY = ""


@dataclass(frozen=True, slots=True)
class Example:
    """A text known to carry a code; `notice` is the number of the notice it comes from, empty where unknown."""

    code: str
    text: str
    notice: str = ""
    language: str | None = None


@dataclass(frozen=True, slots=True)
class CatalogItem:
    """What is indexed. `chunk_id` is `<code>#<language or number>`."""

    chunk_id: str
    text: str
    title: str = ""


def code_of(chunk_id: str) -> str:
    """The code of an item."""
    return chunk_id.rsplit("#", 1)[0]


def word_items(
    catalog: Catalog, languages: Sequence[str], examples: Sequence[Example], *, stems: bool
) -> tuple[CatalogItem, ...]:
    """Items of word retrieval: each label in its language, the description and the examples of a code as one
    further item, all as comparable words."""
    items = []
    extra: dict[str, list[str]] = {}
    for example in examples:
        extra.setdefault(example.code, []).append(comparable(example.text, example.language, stems=stems))
    for entry in catalog.codes:
        for language, label in labels(entry, languages).items():
            items.append(
                CatalogItem(f"{entry.code}#{language}", comparable(label, language or None, stems=stems))
            )
        more = [comparable(entry.description, None, stems=stems), *extra.get(entry.code, ())]
        if any(more):
            items.append(CatalogItem(f"{entry.code}#more", " ".join(more)))
    return tuple(items)


def text_items(
    catalog: Catalog, languages: Sequence[str], examples: Sequence[Example]
) -> tuple[CatalogItem, ...]:
    """Items for a model that reads sentences: one a code, as written. English labels unless languages are named
    (the shipped model reads English; a text of eight languages would fill its window)."""
    extra: dict[str, list[str]] = {}
    for example in examples:
        extra.setdefault(example.code, []).append(example.text)
    return tuple(
        CatalogItem(
            f"{entry.code}#text",
            "\n".join(
                dict.fromkeys(
                    part
                    for part in (
                        *labels(entry, languages or ("en",)).values(),
                        entry.description,
                        *extra.get(entry.code, ()),
                    )
                    if part
                )
            ),
        )
        for entry in catalog.codes
    )


def labels(entry: Code, languages: Sequence[str] = ()) -> dict[str, str]:
    """Labels by language; those of `languages` where any of them is there, else all; the plain label under ""
    where the list names no languages."""
    if not entry.labels:
        return {ANY: entry.label}
    chosen = {name: entry.labels[name] for name in languages if name in entry.labels}
    return chosen or dict(sorted(entry.labels.items()))


def comparable(text: str, language: str | None, *, stems: bool) -> str:
    """The words of a text without function words, stemmed by the rules of its language where there are any."""
    stops = _function_words()
    kept = [word for word in words(text) if word not in stops]
    if stems and language in _STEMMED:
        kept = [_stem(word, str(language)) for word in kept]
    return " ".join(kept)


@cache
def _function_words() -> frozenset[str]:
    return frozenset().union(*(stop_words(name) for name in ("de", "en", "other")))


@cache
def _stemmer(language: str) -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer(_STEMMED[language])


@lru_cache(maxsize=131_072)
def _stem(word: str, language: str) -> str:
    if not word.isalpha():
        return word
    with _LOCK:  # a stemmer keeps the word it works on
        return str(_stemmer(language).stemWord(word))
