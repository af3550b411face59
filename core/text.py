"""Text as every layer sees it: normalised, in words, in sentences. Cached and Unicode-aware.

One tokenising rule for indexing, overlap and claims: a word is a run of letters and digits, lower-cased after
NFKC; numbers keep their inner separators ("3,5", "1.200"). Languages: German and English are first-class; for
others (`language` says "other") stop words are those of a few big languages and nothing is stemmed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from itertools import chain, islice

import snowballstemmer

from core.lexicon import word_list

# the first branch says nothing that the second does not: most words are read by it, and faster
WORD = re.compile(r"[a-zäöü]+(?:[^\W_]+)?|[^\W\d_][^\W_]*|\d+(?:[.,]\d+)*|\w", re.UNICODE)
TOKEN = re.compile(r"\d+(?:[.,]\d+)*|\w+|[^\w\s]", re.UNICODE)
_DETECTED = ("de", "en", "fr", "es", "it", "nl")
_STEMMERS = {"de": "german", "en": "english"}
_UMLAUTS = frozenset("äöüß")
_GERMAN_ENDINGS = ("ung", "ungen", "keit", "heit", "schaft", "lich", "isch")


def fold(text: str) -> str:
    """NFKC, case-folded, white space folded to single blanks: the form in which texts are compared."""
    return " ".join(unicodedata.normalize("NFKC", text).split()).casefold()


def blank(text: str | None) -> bool:
    """Whether a text says nothing: None, or without any letter or digit (white space, dots, invisible characters)."""
    return text is None or not any(map(str.isalnum, text))


@lru_cache(maxsize=16_384)
def words(text: str) -> tuple[str, ...]:
    """The words of a text in order, normalised (NFKC, case-folded); punctuation is dropped."""
    return tuple(WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


@lru_cache(maxsize=16_384)
def word_set(text: str) -> frozenset[str]:
    """The distinct words of a text."""
    return frozenset(words(text))


def token_spans(text: str) -> list[tuple[int, int]]:
    """Character ranges of our own tokens: words, numbers, single punctuation marks. Nothing is normalised, so
    that `text[start:end]` is the token."""
    return [match.span() for match in TOKEN.finditer(text)]


def word_spans(text: str) -> list[tuple[int, int]]:
    """Character ranges of the non-space runs of a text (words as users count them)."""
    return [match.span() for match in re.finditer(r"\S+", text)]


# --- language, stop words, stems --------------------------------------------------------------------------------


@cache
def stop_words(language: str) -> frozenset[str]:
    """Function words of a language (ISO 639-1), case-folded. For a language without a list ("other") those of
    the big languages that are detected but neither German nor English."""
    if language in _DETECTED:
        return frozenset(w.casefold() for w in word_list(f"stopwords_{language}.txt"))
    return frozenset().union(*(stop_words(each) for each in ("fr", "es", "it", "nl")))


@cache
def _languages_of_stop_words() -> dict[str, tuple[str, ...]]:
    every = frozenset().union(*(stop_words(name) for name in _DETECTED))
    return {word: tuple(name for name in _DETECTED if word in stop_words(name)) for word in every}


@lru_cache(maxsize=16_384)
def language(*texts: str) -> str:
    """ "de", "en" or "other": the language whose function words fill most of the first 400 words of the texts.

    A text without function words is German when it has umlauts or German endings, else "other"; ask with more
    text (question and answer together) where answers are short.
    """
    counts = dict.fromkeys(_DETECTED, 0)
    spoken_in = _languages_of_stop_words()
    first = (
        words(texts[0])[:400]
        if len(texts) == 1
        else tuple(islice(chain.from_iterable(map(words, texts)), 400))
    )
    for names in filter(None, map(spoken_in.get, first)):
        for name in names:
            counts[name] += 1
    best = max(_DETECTED, key=counts.__getitem__)  # the first named wins a tie
    if counts[best] == 0:
        return "de" if any(map(_looks_german, first)) else "other"
    return best if best in ("de", "en") else "other"


def _looks_german(word: str) -> bool:
    return not _UMLAUTS.isdisjoint(word) or (len(word) > 6 and word.endswith(_GERMAN_ENDINGS))


@cache
def _stemmer(language: str) -> snowballstemmer.stemmer | None:
    name = _STEMMERS.get(language)
    return snowballstemmer.stemmer(name) if name else None


@lru_cache(maxsize=131_072)
def stem(word: str, language: str) -> str:
    """The Snowball stem of one normalised word; words with digits, and languages that are neither German nor
    English, are left as they are."""
    stemmer = _stemmer(language)
    if stemmer is None or not word.isalpha():
        return word
    return str(stemmer.stemWord(word))


class WordTable(dict[str, str]):
    """What a function makes of single words, kept: reads at the speed of a dictionary. Emptied when it has grown large."""

    def __init__(self, function: Callable[[str], str], largest: int = 131_072) -> None:
        super().__init__()
        self._function = function
        self._largest = largest

    def __missing__(self, word: str) -> str:
        if len(self) >= self._largest:
            self.clear()
        found = self[word] = self._function(word)
        return found


@cache
def _stems(language: str) -> WordTable:
    return WordTable(lambda word: stem(word, language))


def stem_set(some: Iterable[str], language: str) -> frozenset[str]:
    """The distinct stems of normalised words."""
    return frozenset(map(_stems(language).__getitem__, some))


@lru_cache(maxsize=8_192)
def content_words(text: str, language: str) -> tuple[str, ...]:
    """The words of a text without the function words of `language`, in order, not stemmed. Numbers stay,
    however short."""
    stops = stop_words(language)
    return tuple(word for word in words(text) if word not in stops)


@lru_cache(maxsize=8_192)
def stems(text: str, language: str) -> tuple[str, ...]:
    """The stemmed content words of a text, in order."""
    return tuple(stem(word, language) for word in content_words(text, language))


# --- sentences --------------------------------------------------------------------------------------------------

# A full stop may end a sentence; a blank line, a bullet or a list number at the start of a line always does.
_BOUNDARY = re.compile(
    r"(?P<stop>[.!?…]+[\"'»“”’)\]]*)(?=\s)|(?P<cjk>[。！？]+)|(?P<line>\n[ \t]*(?=\n))"
    r"|(?P<item>\n(?=[ \t]*(?:[-*•–·▪◦‣]|\(?\d{1,2}[.)]|\(?[a-z]\))[ \t]))"
)
_LAST = re.compile(r"(\S+?)[.!?…]+[\"'»“”’)\]]*$")
_NEXT = re.compile(r"\s+([\"'„“»«(\[]*)(\w+|.)?")
_OPENERS = "([{\"'„“»«‚‘"


@lru_cache(maxsize=8_192)
def sentence_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Character ranges of the sentences of a text, without white space at their ends, in order and disjoint.

    Abbreviations ("z. B.", "e.g.", "§ 5 Abs. 2 S. 1"), initials, German ordinals ("3. Semester", "8. Juli")
    and decimals end no sentence; blank lines and list items begin a new one. Linear in the text.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _BOUNDARY.finditer(text):
        if match.lastgroup == "stop" and not _ends_sentence(text, start, match):
            continue
        end = match.end() if match.lastgroup in ("stop", "cjk") else match.start()
        _keep(text, start, end, spans)
        start = end
    _keep(text, start, len(text), spans)
    return tuple(spans)


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text (see `sentence_spans`)."""
    return tuple(text[start:end] for start, end in sentence_spans(text))


def _keep(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    piece = text[start:end]
    left = start + len(piece) - len(piece.lstrip())
    right = start + len(piece.rstrip())
    if left < right:
        spans.append((left, right))


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    following = _NEXT.match(text, match.end())
    after = following.group(2) or "" if following else ""
    if not after:
        return True
    if "." not in match.group():
        return not after[0].islower()
    if after[0].islower() and not (following and "\n" in following.group()[:1]):
        return False
    last = _LAST.match(text[max(start, match.end() - 40) : match.end()].split()[-1])
    if last is None or match.group().startswith(("..", "…")):
        return True
    return not _keeps_on(last.group(1).lstrip(_OPENERS), after, text, start, match)


def _keeps_on(word: str, after: str, text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a full stop after `word`, before `after`, belongs to the word."""
    folded = word.casefold()
    if folded in word_list("abbreviations.txt") or folded.rstrip(".") in word_list("abbreviations.txt"):
        # "usw." and "etc." may end a sentence; a function word behind them says that they do.
        return not (folded in ("usw", "etc", "ff", "f", "usf") and _starts_sentence(after))
    if len(word) == 1 and word.isalpha():
        return True  # an initial, or the first part of "z. B."
    digits = word.removeprefix("§")
    if digits.isdigit() and len(digits) <= 2:
        near = max(start, match.start() - 40)
        at_line_start = not text[text.rfind("\n", near, match.start()) + 1 or near : match.start()].strip(
            " \t(" + digits
        )
        if at_line_start or after[0].isdigit():
            return True
        return not _starts_sentence(after) and language(text) != "en"
    return False


def _starts_sentence(word: str) -> bool:
    folded = word.casefold()
    return folded in stop_words("de") or folded in stop_words("en")
