"""What a gold answer requires: its parts, the slots and the words in them that the question did not give away.

Text in parentheses and parts opened by "zusätzlich", "additionally" are side remarks: allowed, not required.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from core.lexicon import word_list
from core.metrics.numerals import word_number
from core.metrics.polarity import stance
from core.metrics.quantities import Slot, same, slots
from core.metrics.units import unit_of
from core.text import sentence_spans, stem, stop_words

_PARENTHESIS = re.compile(r"\([^()]*\)")
_ASIDE = re.compile(
    r"^\W*(?:zusätzlich|außerdem|daneben|im übrigen|übrigens|additionally|in addition|besides)\b", re.I
)
_ASKS_COUNT = re.compile(
    r"\b(?:wie ?viele?[rns]?|wieviele?|wie oft|anzahl|zahl|how many|how often|number of|how much|wie hoch|wie lang)\b",
    re.I,
)
_ASKS_PLACE = re.compile(
    r"§|\b(?:paragra(?:ph|f)\w*|abschnitt|artikel|kapitel|section|article|chapter|clause)\b", re.I
)
_INTERROGATIVE = re.compile(
    r"\b(?:wo|wohin|wer|wem|wen|wann|warum|wie|welche[mnrs]?|was|worin|bei welcher|who|what|where|when|why|which|how)\b",
    re.I,
)
_LABEL = re.compile(r"\s*([^:;.]{3,60}):\s")
_SAID = 0.6  # of a part without slots: from this share of its words on it counts as said
_TOKEN = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*", re.UNICODE)
_SHORTEST_TAIL, _SHORTEST_HEAD = 5, 6


@dataclass(frozen=True, slots=True)
class Part:
    """A clause of the gold: its text, its required slots, and its own words as (stem, weight)."""

    text: str
    slots: tuple[Slot, ...]
    words: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A gold read against its question. `core` is the gold without side remarks; `required` and `optional` are
    slots with places in `gold`."""

    gold: str
    core: str
    parts: tuple[Part, ...]
    required: tuple[Slot, ...]
    optional: tuple[Slot, ...]

    @classmethod
    def of(cls, gold: str, question: str, language: str) -> Reading:
        """Read a gold (cached: a gold is compared with many answers)."""
        return _read(gold, question, language)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the gold's own words an answer has. `share` is weighted, None without words; `hits` and
    `needed` count words; `missing_parts` are parts of which nothing is said, `half_parts` those of which some is;
    `replaced` says that a name of the gold is missing while the answer has a name that the gold does not know;
    `negated` whether a part that is said denies something."""

    share: float | None
    hits: int
    needed: int
    missing_parts: tuple[str, ...]
    half_parts: tuple[str, ...]
    replaced: bool
    negated: bool


@lru_cache(maxsize=16_384)
def _read(gold: str, question: str, language: str) -> Reading:
    core = _PARENTHESIS.sub(lambda match: " " * len(match.group()), gold)
    if not core.strip(" .;"):
        core = gold
    spans = _part_spans(core, commas=len(_INTERROGATIVE.findall(question)) > 1)
    every = slots(gold, language)
    asked = slots(question, language)
    wanted = bool(_ASKS_COUNT.search(question))
    place = (bool(_ASKS_PLACE.search(question)) and not wanted) or _only_places(core, every, language)
    required: list[Slot] = []
    optional: list[Slot] = []
    strong = [slot for slot in every if not slot.weak]
    for slot in every:
        aside = not core[slot.start : slot.end].strip() or any(
            start <= slot.start < end and _ASIDE.match(core[start:end]) for start, end in spans
        )
        given = slot.kind != "ordinal" and any(
            slot.kind == each.kind and not each.weak and same(slot, each) for each in asked
        )
        counted = wanted and (not strong or any(_same_noun(slot, each) for each in strong))
        soft = (slot.weak and not counted) or (slot.kind == "reference" and not place)
        (optional if aside or given or soft else required).append(slot)
    known = {stem(word.casefold(), language) for word in _TOKEN.findall(question)}
    several = len(spans) > 1
    built = [_part(core, start, end, required, known, language, several) for start, end in spans]
    kept = tuple(part for part in built if part is not None and (part.slots or part.words))
    return Reading(gold, core, kept, tuple(required), tuple(optional))


def _only_places(core: str, every: tuple[Slot, ...], language: str) -> bool:
    """Whether a gold is nothing but a place in a text ("§ 16 Abs. 2")."""
    places = [(slot.start, slot.end) for slot in every]
    return (
        bool(every)
        and all(slot.kind == "reference" for slot in every)
        and not own_words(core, language, places)
    )


def _same_noun(left: Slot, right: Slot) -> bool:
    """ "ein Exemplar" beside "zwei Exemplare"."""
    return bool(left.noun and right.noun and left.noun[:5] == right.noun[:5])


def _part_spans(text: str, *, commas: bool) -> list[tuple[int, int]]:
    """Clauses of a gold; commas part them too where the question asks for several things."""
    cut = re.compile(r";|,\s" if commas else r";")
    spans = []
    for start, end in sentence_spans(text):
        at = start
        for match in cut.finditer(text[start:end]):
            spans.append((at, start + match.start()))
            at = start + match.end()
        spans.append((at, end))
    return spans


def _part(
    core: str, start: int, end: int, required: list[Slot], known: set[str], language: str, several: bool
) -> Part | None:
    text = core[start:end]
    if _ASIDE.match(text):
        return None
    inside = tuple(slot for slot in required if start <= slot.start < end)
    words = dict(own_words(text, language, [(slot.start - start, slot.end - start) for slot in inside]))
    fresh = {word: weight for word, weight in words.items() if not _given(word, known)}
    label = _LABEL.match(text) if several else None
    if label:  # "Elektrotechnik: …" is named although the question named it
        fresh |= dict.fromkeys((word for word, _ in own_words(label.group(1), language, [])), 1.0)
    if several and not inside and not fresh:
        fresh = words
    return Part(text.strip(" .;"), inside, tuple(sorted(fresh.items())))


def _given(word: str, known: set[str]) -> bool:
    """Whether the question has the word, be it at the end of a compound ("Mindestvolumen" gives "Volumen")."""
    return word in known or (len(word) >= _SHORTEST_TAIL and any(each.endswith(word) for each in known))


def own_words(text: str, language: str, taken: list[tuple[int, int]]) -> list[tuple[str, float]]:
    """Stems of the words that carry the statement, with weights: nouns and names 1, other words ½. Units,
    numbers and framing words are left out; hyphenated words count by their parts."""
    found = []
    stops, filler = stop_words(language), word_list("filler.txt")
    for match in _TOKEN.finditer(text):
        if any(start <= match.start() < end for start, end in taken):
            continue
        for piece in match.group().split("-"):
            folded = piece.casefold()
            if len(folded) < 2 or folded in stops or folded in filler or word_number(folded):
                continue
            if unit_of(folded, directly=False):
                continue
            heavy = piece[0].isupper() or language != "de"
            found.append((stem(folded, language), 1.0 if heavy else 0.5))
    return found


def coverage(read: Reading, answer: str, language: str) -> Coverage:
    """How much of the gold's own words the answer has."""
    said = {stem(word.casefold(), language) for run in _TOKEN.findall(answer) for word in run.split("-")}
    total = found = 0.0
    hits = needed = 0
    missing: list[str] = []
    half: list[str] = []
    lost_name = negated = False
    for part in read.parts:
        weight = sum(each for _, each in part.words)
        got = [(word, each) for word, each in part.words if _among(word, said)]
        reached = sum(each for _, each in got)
        total += weight
        found += reached
        hits += len(got)
        needed += len(part.words)
        names = sum(each >= 1.0 for _, each in part.words)
        if weight and not got and (not part.slots or names > (language != "de")):
            missing.append(part.text)
        else:
            negated = negated or bool(stance(part.text).negations)
            if got and not part.slots and reached < _SAID * weight:
                half.append(part.text)
        lost_name = lost_name or any(each >= 1.0 and (word, each) not in got for word, each in part.words)
    replaced = bool(missing) and lost_name and language == "de" and _has_new_name(read, answer, language)
    return Coverage(
        found / total if total else None, hits, needed, tuple(missing), tuple(half), replaced, negated
    )


def _has_new_name(read: Reading, answer: str, language: str) -> bool:
    known = {word for word, _ in own_words(read.gold, language, [])}
    first = True
    for match in _TOKEN.finditer(answer):
        word = match.group()
        folded = word.casefold()
        if word[0].isupper() and not first and folded not in stop_words(language):
            fresh = stem(folded, language)
            if not _among(fresh, known) and not unit_of(folded, directly=False) and not word_number(folded):
                return True
        first = False
    return False


def _among(word: str, known: set[str]) -> bool:
    """Whether a stem is there, as a whole, as the tail of a compound, or by a long common beginning."""
    if word in known:
        return True
    if len(word) < _SHORTEST_TAIL:
        return False
    for other in known:
        if len(other) < _SHORTEST_TAIL:
            continue
        if word.endswith(other) or other.endswith(word):
            return True
        if min(len(word), len(other)) >= _SHORTEST_HEAD and word[:_SHORTEST_HEAD] == other[:_SHORTEST_HEAD]:
            return True
    return False
