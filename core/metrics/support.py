"""Does a passage support a claim? Directional, local, lexical, with guards; no model.

`grounding_proxy` = min(guards, ½ · ROUGE-L precision against the best sentence + ½ · containment of the claim's
character 4-grams in the passage). A guard caps the score where, in the best sentence or beside it, a number,
date, unit or negation of the claim is absent or differs, or where a name is nowhere in the passage. The score is shown; it decides a verdict only
with thresholds fitted on labels (`python -m tests.benchmarks support` prints how well it separates).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from core.contracts import metric
from core.metrics.entities import names
from core.metrics.numerals import plain_number, spelled
from core.metrics.overlap import lcs_of_places, places_of
from core.metrics.polarity import negated
from core.metrics.quantities import Slot, comparable, same, slots
from core.text import WordTable, fold, language, sentence_spans, stem, stop_words, words

SCORER = "lexical-1"
SUPPORTED = 0.6  # from this score on a claim is called supported
# What a failed guard leaves of the score at most; FAR: the value stands in the passage, but elsewhere.
GUARD_VALUE, GUARD_NEGATION, GUARD_NAME, GUARD_FAR = 0.3, 0.4, 0.5, 0.55
ALIKE = 0.5  # from this unguarded score on a differing value or negation contradicts
_CANDIDATES = 3  # best sentences that are tried against the guards
_GRAM = 4
_SHORT = 3_000  # characters up to which looking grams up in the text beats making a set of them
_MARKER = re.compile(r"\[[^\[\]]{1,40}\]")

Label = Literal["supported", "contradicted", "not_enough_info"]


@dataclass(frozen=True, slots=True)
class Support:
    """`score` in [0, 1]; `start`/`end` mark the best sentence in the passage, None for an empty passage or a
    claim without words. `unguarded` is the score before the guards, `guard` the one that capped it or ""."""

    label: Label
    score: float
    start: int | None = None
    end: int | None = None
    unguarded: float = 0.0
    guard: str = ""


@dataclass(frozen=True, slots=True)
class _Sentence:
    start: int
    end: int
    tokens: tuple[str, ...]
    kinds: frozenset[str]


@lru_cache(maxsize=2_048)
def _sentences(passage: str, dated: bool) -> tuple[_Sentence, ...]:
    found = []
    for start, end in sentence_spans(passage):
        said = passage[start:end]
        tokens = _tokens(_iso(said) if dated else said)
        if tokens:
            found.append(_Sentence(start, end, tokens, frozenset(tokens)))
    return tuple(found)


def _canonical(word: str) -> str:
    number = plain_number(word)
    if number is not None:
        return number
    tongue = "de" if word in stop_words("de") else "en"
    return word if word in stop_words(tongue) else stem(stem(word, "de"), "en")


_CANONICAL = WordTable(_canonical)


@lru_cache(maxsize=8_192)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(map(_CANONICAL.__getitem__, words(text)))


@lru_cache(maxsize=1_024)
def _grams(text: str) -> frozenset[str]:
    plain = _plain(text)
    if len(plain) < _GRAM:
        return frozenset({plain}) if plain else frozenset()
    return frozenset(plain[at : at + _GRAM] for at in range(len(plain) - _GRAM + 1))


@lru_cache(maxsize=2_048)
def _plain(text: str) -> str:
    return " ".join(spelled(text))


@lru_cache(maxsize=8_192)
def _iso(text: str) -> str:
    """The text with its calendar days written in one way (2010-07-08)."""
    pieces, at = [], 0
    for slot in slots(text, language(text)):
        if _is_day(slot):
            pieces += [text[at : slot.start], slot.key]
            at = slot.end
    return "".join([*pieces, text[at:]])


def _is_day(slot: Slot) -> bool:
    return slot.kind == "date" and len(slot.key) == len("2010-07-08")


def _contained(grams: frozenset[str], passage: str) -> float:
    """Share of the grams that the passage has."""
    plain = _plain(passage)
    if len(plain) < _SHORT:
        return sum(map(plain.__contains__, grams)) / len(grams)
    return len(grams & _grams(passage)) / len(grams)


@lru_cache(maxsize=2_048)
def _folded(passage: str) -> str:
    return fold(passage)


@lru_cache(maxsize=2_048)
def _all_slots(passage: str) -> tuple[tuple[int, ...], tuple[Slot, ...]]:
    """(starts, slots) of a passage, sorted."""
    found = slots(passage, language(passage))
    return tuple(slot.start for slot in found), found


@lru_cache(maxsize=16_384)
def _claim(text: str) -> tuple[str, tuple[Slot, ...], bool, frozenset[str]]:
    plain = _MARKER.sub(" ", text).strip()
    spoken = language(plain)
    kept = tuple(slot for slot in slots(plain, spoken) if not slot.weak and slot.kind != "reference")
    named = names(plain, spoken)
    days = [slot for slot in kept if _is_day(slot)]
    if days:  # a month is no name of its own, and its spelling does not matter
        named -= {word for slot in days for word in words(plain[slot.start : slot.end])}
        plain = _iso(plain)
    return plain, kept, negated(plain), named


@lru_cache(maxsize=16_384)
def support(claim: str, passage: str) -> Support:
    """Hold one claim against one passage. Memoised; each distinct passage is cut and tokenised once.

    >>> support("The thesis takes six months.", "The thesis takes 6 months. It is graded.").label
    'supported'
    >>> support("The thesis takes nine months.", "The thesis takes 6 months. It is graded.").label
    'contradicted'
    """
    plain, needed, negative, named = _claim(claim)
    tokens = _tokens(plain)
    dated = any(map(_is_day, needed))
    cut = _sentences(passage, dated)
    if not tokens or not cut:
        return Support("not_enough_info", 0.0)
    grams = _grams(plain)
    contained = _contained(grams, _iso(passage) if dated else passage)
    best = Support("not_enough_info", -1.0)
    for index, precision in _best_sentences(tokens, cut):
        score = 0.5 * precision + 0.5 * contained
        if score <= best.score:
            break  # no guard can raise it
        guard, cap, differs = "", 1.0, False
        if score > GUARD_VALUE:  # below that no guard changes anything
            window = (cut[max(0, index - 1)].start, cut[min(len(cut) - 1, index + 1)].end)
            guard, cap, differs = _guard(needed, negative, named, passage, cut[index], window)
        guarded = min(score, cap)
        label: Label = "supported" if guarded >= SUPPORTED else "not_enough_info"
        if differs and score >= ALIKE:
            label = "contradicted"
        found = Support(label, guarded, cut[index].start, cut[index].end, score, guard)
        if found.score > best.score or (found.score == best.score and found.unguarded > best.unguarded):
            best = found
    return best


@lru_cache(maxsize=4_096)
def _places(tokens: tuple[str, ...]) -> dict[str, int]:
    return places_of(tokens)


def _best_sentences(tokens: tuple[str, ...], cut: tuple[_Sentence, ...]) -> list[tuple[int, float]]:
    """(index, ROUGE-L precision) of the best sentences, best first, earlier first among equals."""
    places = _places(tokens)
    kinds = places.keys()
    ceilings = []
    for index, sentence in enumerate(cut):
        shared = kinds & sentence.kinds
        if len(kinds) < len(tokens):  # a word that comes twice counts twice
            ceilings.append((-sum(places[token].bit_count() for token in shared), index))
        else:
            ceilings.append((-len(shared), index))
    ceilings.sort()
    found: list[tuple[float, int]] = []
    for negative, index in ceilings:
        if len(found) >= _CANDIDATES and -negative / len(tokens) <= -sorted(found)[_CANDIDATES - 1][0]:
            break
        precision = lcs_of_places(places, len(tokens), cut[index].tokens) / len(tokens)
        found.append((-precision, index))
    found.sort()
    return [(index, -precision) for precision, index in found[:_CANDIDATES]]


def _guard(
    needed: tuple[Slot, ...],
    negative: bool,
    named: frozenset[str],
    passage: str,
    sentence: _Sentence,
    window: tuple[int, int],
) -> tuple[str, float, bool]:
    """(guard that failed or "", cap on the score, whether the passage says something else)."""
    said = passage[sentence.start : sentence.end]
    if needed:
        starts, every = _all_slots(passage)
        there = every[bisect_left(starts, window[0]) : bisect_left(starts, window[1])]
        lost = [slot for slot in needed if not any(same(slot, each) for each in there)]
        if lost:
            here = [each for each in there if sentence.start <= each.start < sentence.end]
            differs = any(
                comparable(slot, each)
                and not each.weak
                and each.kind == slot.kind
                and (slot.unit or not each.unit)
                and not any(same(each, other) for other in needed)
                for slot in lost
                for each in here
            )
            if differs or any(not any(same(slot, each) for each in every) for slot in lost):
                return lost[0].kind, GUARD_VALUE, differs
            return lost[0].kind, GUARD_FAR, False
    if negative != negated(said) and (negative or len(said) < 3 * 80):
        return "negation", GUARD_NEGATION if negative else GUARD_NAME, negative is True
    if named:
        folded = _folded(passage)
        if any(name not in folded for name in named):
            return "name", GUARD_NAME, False
    return "", 1.0, False


@metric(
    name="grounding_proxy",
    title="Grounding proxy",
    family="claims",
    formula="mean over answer claims of min(guards, ½·ROUGE-L precision with the best sentence + ½·char-4-gram containment), "
    "best chunk",
    inputs="answer claims, retrieved chunks",
    empty="None without claims or without context",
    source="statistics 2.5; Lin 2004 (ROUGE-L)",
    version="2",
)
def grounding_proxy(claims: tuple[str, ...], passages: tuple[str, ...]) -> float | None:
    """Mean support of the claims by their best passage, in [0, 1]; None without claims or passages.

    >>> grounding_proxy(("The exam takes two hours.",), ("The exam takes two hours.",))
    1.0
    """
    if not claims or not passages:
        return None
    return sum(max(support(claim, each).score for each in passages) for claim in claims) / len(claims)
