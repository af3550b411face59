"""Lexical comparison of an answer with its gold: exact match, token F1, ROUGE-L, stemmed content words.

All are functions of two texts; none knows a model. They are shown beside the label, never instead of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from core.contracts import metric
from core.text import fold, language, stem_set, stop_words, word_set, words

_ARTICLES = {
    "en": frozenset({"a", "an", "the"}),
    "de": frozenset("der die das den dem des ein eine einen einem einer eines".split()),
}
_SHARED = {"family": "answer", "inputs": "answer, gold answer", "version": "2"}


@lru_cache(maxsize=8_192)
def normalised(text: str, language: str = "en") -> tuple[str, ...]:
    """Words after NFKC and case folding, without punctuation and the articles of the language."""
    articles = _ARTICLES.get(language, frozenset())
    return tuple(word for word in words(text) if word not in articles)


def common_language(*texts: str | None) -> str:
    """The language of the texts taken together ("de", "en", "other")."""
    return language(*filter(None, texts))


@metric(
    name="exact_match",
    title="Exact match",
    kind="binary",
    formula="1 if the normalised words of answer and gold are the same sequence, else 0",
    empty="1 when both are empty after normalisation, 0 when one is; None without gold",
    source="Rajpurkar et al. 2016, with articles by language and numbers kept",
    **_SHARED,
)
def exact_match(answer: str, gold: str, language: str = "en") -> float:
    """Whether answer and gold are the same words in the same order (0 or 1).

    >>> exact_match("The Nile.", "nile")
    1.0
    """
    return float(normalised(answer, language) == normalised(gold, language))


@metric(
    name="token_f1",
    title="Token F1",
    formula="harmonic mean of p = shared words / answer words and r = shared words / gold words (as multisets)",
    empty="1 when both are empty after normalisation, 0 when one is; None without gold",
    source="Rajpurkar et al. 2016",
    **_SHARED,
)
def token_f1(answer: str, gold: str, language: str = "en") -> float:
    """Bag-of-words F1 in [0, 1].

    >>> round(token_f1("six semesters", "six terms"), 3)
    0.5
    """
    left, right = normalised(answer, language), normalised(gold, language)
    if not left or not right:
        return float(left == right)
    there = Counter(right)
    shared = sum(min(count, there[word]) for word, count in Counter(left).items())
    return 2 * shared / (len(left) + len(right))


@metric(
    name="rouge_l",
    title="ROUGE-L F1",
    formula="harmonic mean of LCS/answer words and LCS/gold words, LCS the longest common subsequence of words",
    empty="1 when both are empty after normalisation, 0 when one is; None without gold",
    source="Lin 2004",
    **_SHARED,
)
def rouge_l(answer: str, gold: str, language: str = "en") -> float:
    """Longest-common-subsequence F1 over words, in [0, 1].

    >>> rouge_l("the cat sat", "the cat sat")
    1.0
    """
    left, right = normalised(answer, language), normalised(gold, language)
    if not left or not right:
        return float(left == right)
    return 2 * lcs_length(left, right) / (len(left) + len(right))


def lcs_length(left: Sequence[str], right: Sequence[str]) -> int:
    """Length of the longest common subsequence (Hyyrö's bit-parallel recurrence: one big integer as the row)."""
    return lcs_of_places(places_of(left), len(left), right)


def places_of(words_: Sequence[str]) -> dict[str, int]:
    """Bits of the places at which each word stands."""
    places: dict[str, int] = {}
    for index, word in enumerate(words_):
        places[word] = places.get(word, 0) | (1 << index)
    return places


def lcs_of_places(places: Mapping[str, int], n: int, right: Iterable[str]) -> int:
    """`lcs_length` of a sequence of `n` words, given by its `places_of`, with another: for one held against many.
    Words that the first does not have may be left out of the second."""
    full = (1 << n) - 1
    row = full
    for found in filter(None, map(places.get, right)):
        matched = row & found
        row = ((row + matched) | (row - matched)) & full
    return n - row.bit_count()


@lru_cache(maxsize=8_192)
def content_set(text: str, language: str) -> frozenset[str]:
    """The set of stemmed content words; all words where nothing but function words is left ("Ja.")."""
    every = word_set(text)
    return stem_set(every - stop_words(language), language) or every


@metric(
    name="answer_proxy",
    title="Answer proxy",
    formula="2·|A ∩ G| / (|A| + |G|) over the sets of stemmed content words of answer and gold",
    empty="1 when both are empty, 0 when one is; None without gold",
    source="statistics 2.5: r = .543 with human overall preference on RAGChecker's meta-evaluation pairs",
    **_SHARED,
)
def answer_proxy(answer: str, gold: str, language: str = "en") -> float:
    """F1 of the sets of stemmed content words, in [0, 1].

    >>> answer_proxy("The rivers", "a river")
    1.0
    """
    left, right = content_set(answer, language), content_set(gold, language)
    if not left or not right:
        return float(left == right)
    return 2 * len(left & right) / (len(left) + len(right))


@metric(
    name="gold_answer_overlap",
    title="Gold words in the answer",
    formula="|G ∩ A| / |G| over the sets of stemmed content words",
    empty="None when the gold has no words",
    source="published name; numbers of any length are words here",
    **_SHARED,
)
def gold_answer_overlap(answer: str, gold: str, language: str = "en") -> float | None:
    """Share of the gold's content words that the answer has; None without gold words."""
    return share(content_set(gold, language), content_set(answer, language))


@metric(
    name="answer_gold_support",
    title="Answer words in the gold",
    formula="|A' ∩ G| / |A'|, A' the answer's content words that are not in the question (all of them if none is left)",
    empty="None when the answer has no words",
    source="published name",
    **{**_SHARED, "inputs": "answer, gold answer, question"},
)
def answer_gold_support(answer: str, gold: str, question: str = "", language: str = "en") -> float | None:
    """Share of what the answer adds to the question that stands in the gold; None for an answer without words."""
    said = content_set(answer, language)
    return share(said - content_set(question, language) or said, content_set(gold, language))


def share(part: frozenset[str], whole: frozenset[str]) -> float | None:
    """|part ∩ whole| / |part|, None when `part` is empty."""
    return len(part & whole) / len(part) if part else None


@metric(
    name="answer_has_gold_substring",
    title="Gold stands in the answer",
    kind="binary",
    formula="1 if the folded gold is in the folded answer, bounded by no letter or digit on either side",
    empty="None without gold; 0 for an empty answer",
    source="published name; 12 is not in 2012",
    **_SHARED,
)
def answer_has_gold_substring(answer: str, gold: str) -> float | None:
    """Whether the gold is literally in the answer, on word and number boundaries (0 or 1).

    >>> answer_has_gold_substring("It takes 16 semesters.", "6 semesters")
    0.0
    """
    needle = fold(gold).rstrip(" .!")
    if not needle:
        return None
    return float(_bounded(needle, fold(answer)))


def _bounded(needle: str, text: str) -> bool:
    at = text.find(needle)
    while at >= 0:
        end = at + len(needle)
        before, after = text[max(0, at - 2) : at], text[end : end + 2]
        glued = (
            before[-1:].isalnum()
            or before[-1:] == "_"
            or (before[-1:] in "-.," and _joins(before[:1], before[-1:]))
        )
        goes_on = after[:1].isalnum() or after[:1] == "_" or (after[:1] in ".," and after[1:].isdigit())
        if not (glued or goes_on):
            return True
        at = text.find(needle, at + 1)
    return False


def _joins(character: str, sign: str) -> bool:
    """Whether a sign behind this character belongs to the word ("irish-american") or number ("1.5")."""
    return character.isalnum() if sign == "-" else character.isdigit()
