"""What must match between two texts: numbers with units, dates, times, §-references, codes. Each with its span.

`slots(text)` reads them; `same(a, b)` and `comparable(a, b)` compare two. German and English first-class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from operator import attrgetter
from typing import NamedTuple

from core.metrics import bounds, moments, numerals
from core.metrics.units import dimension, in_base, unit_of
from core.text import stop_words, word_set

# A length of time in other units (8 weeks, two months) is only about the same: 5 % either way.
TOLERANCE = 0.05
_DAYS = frozenset({"calendar day", "working day", "business day"})
_POINT_LIKE = frozenset({"points", "credits"})


class Slot(NamedTuple):  # a tuple: made in tens of thousands
    """One thing that must match.

    `kind`: number | ordinal | date | time | reference | code. `value` is the number in its own unit (None for
    the other kinds), `key` the normalised text of the other kinds ("2010-07-08", "2010", "14:30", "§16 abs2",
    "b2"). `unit` is a name of `core/lexicon/units.txt` or "", `noun` the case-folded word counted where the unit
    is unknown. `bound`: "min" | "max" | "". `weak` marks readings that may be no number ("ein", "first").
    `start`/`end` are characters of the text, unit not included.
    """

    kind: str
    value: float | None
    key: str
    start: int
    end: int
    unit: str = ""
    noun: str = ""
    bound: str = ""
    weak: bool = False
    approximate: bool = False


# --- finding ----------------------------------------------------------------------------------------------------

_MARKER = re.compile(r"\[\s*(?:src:|doc:|#)?[\w.:/§-]*\d+[\w.:/-]*(?:\s*[,;–-]\s*\d+)*\s*\]")
_NUMBER = re.compile(
    r"(?<![\w.,])(?P<sign>[-−](?=\d))?(?P<digits>\d{1,3}(?:[.,'’   ]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)*)"
    r"(?P<fraction>\s?/\s?\d{1,2}(?![\d/]))?(?P<ordinal>(?:st|nd|rd|th)\b|\.(?=\s+[A-ZÄÖÜ]))?"
)
_GLYPHS = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3}
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*|[½¼¾⅓⅔]|(?<!\d)\d+-[^\W\d_]+", re.UNICODE)
_DIGITS_AND_WORD = re.compile(r"\d-[^\W\d_]")
_AFTER = re.compile(r"[\s -]*([^\W\d_][\w-]*|[%‰€$£°]\w?)")
_QUALIFIED = re.compile(
    r"(?:\bnur|genau|exakt|höchstens|mindestens|maximal|je(?:weils)?|noch|only|exactly|at (?:most|least)|just|precisely"
    r"|lediglich|single|einzig\w*|than|up to)\s+$",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"(?:zwischen|between|von|from)\s+$", re.IGNORECASE)
_JOINED = re.compile(
    r"\s*(?:und|oder|bis(?: zu)?|and|or|to|–|—|-|/|,)\s*(?:auf\s+)?(?:\(?(?:mindestens|höchstens|maximal|at (?:most|least))\)?)?\s*",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s*(?:bis(?: zu)?|to|–|—|-|through)\s*", re.IGNORECASE)
_RANGE_ENDS = ("bis", "zu", "to", "–", "—", "-", "through", "und", "and")
_UNIT = re.compile(r"^\s*[\w%€]+")
_PAIR = re.compile(r"\s*(?:und|and|bis|to)\s*", re.IGNORECASE)
_DIGITS = 18  # a longer run of digits is an identifier, not a quantity
_FAR = 40  # characters between two numbers of one expression at most
_WEAK_ARTICLES = frozenset("ein eine einen einem einer eines".split())
_NO_NUMBER = frozenset({"seconds"})
_start, _place = attrgetter("start"), attrgetter("start", "end")
_COUNTED_SCALES = frozenset("dutzend dozen hundred thousand million billion milliarde".split())


@lru_cache(maxsize=8_192)
def slots(text: str, language: str = "other") -> tuple[Slot, ...]:
    """Everything in a text that must match, in order of place. Citation markers ("[1]") are not read. Linear."""
    taken = bytearray(len(text))
    spans: list[tuple[int, int]] = [match.span() for match in _MARKER.finditer(text)] if "[" in text else []
    for start, end in spans:
        taken[start:end] = b"\x01" * (end - start)
    found: list[Slot] = []
    runs = moments.digit_runs(text)
    for start, end, kind, key in moments.moments(text, runs):
        if 1 not in taken[start:end]:
            found.append(Slot(kind, None, key, start, end))
            taken[start:end] = b"\x01" * (end - start)
            spans.append((start, end))
    free = _mask(text, sorted(spans))
    if any(taken[start] and not taken[end - 1] for start, end in runs):  # a time with digits left over
        runs = moments.digit_runs(free)
    numbers = _digits(free, [run for run in runs if not taken[run[0]]], language)
    if _may_have_number_words(text):
        numbers = sorted([*numbers, *_number_words(free, language)], key=_start)
    numbers = _share_units(free, _ranges(free, _dropped_ordinals(free, numbers)))
    return tuple(sorted([*found, *numbers], key=_place))


def _mask(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with the spans (sorted, disjoint) blotted out, as long as before."""
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at:start], "\x00" * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])


def _signed(text: str, runs: moments.Runs) -> Iterator[int]:
    """Where a number can begin: at a run of digits, or at the sign before it."""
    for start, _ in runs:
        if start and text[start - 1] in "-−":
            yield start - 1
        yield start


def _digits(text: str, runs: moments.Runs, language: str) -> list[Slot]:
    found = []
    for match in moments.at_runs(_NUMBER, text, _signed(text, runs)):
        if len(match["digits"]) > _DIGITS:
            found.append(Slot("code", None, match["digits"], match.start(), match.end("digits")))
            continue
        value = numerals.parse_digits(match["digits"].rstrip(".,"), language)
        if value is None:
            continue
        fraction = match["fraction"]
        if fraction:
            under = float(re.sub(r"\D", "", fraction))
            if not 1 < under <= 20 or value >= under:
                fraction = None
            else:
                value /= under
        end = match.end("fraction") if fraction else match.end("digits")
        kind = "number"
        if match["ordinal"] and not fraction:
            kind, end = "ordinal", match.end("ordinal")
        slot = Slot(kind, -value if match["sign"] else value, "", match.start(), end)
        found.append(_furnished(text, slot, directly=True))
    return found


def _may_have_number_words(text: str) -> bool:
    """Whether a word of the text may count something; in a compound with a hyphen a part of it does, or digits
    stand before it."""
    return (
        any(map(_may_count, word_set(text)))
        or _DIGITS_AND_WORD.search(text) is not None
        or any(map(text.__contains__, _GLYPHS))
    )


def _number_words(text: str, language: str) -> list[Slot]:
    found: list[Slot] = []
    tokens = list(_WORD.finditer(text))
    parts = [token.group().casefold() for token in tokens]
    past = 0
    for at, part in enumerate(parts):
        if at < past or not _may_count(part):
            continue
        slot, used = _read_words(text, tokens, parts, at, language)
        if slot is not None:
            found.append(slot)
        past = at + used
    return found


@lru_cache(maxsize=65_536)
def _may_count(word: str) -> bool:
    return (
        word in _GLYPHS
        or word in ("ein", "eine", "a")
        or numerals.word_number(word) is not None
        or ("-" in word and numerals.english_run(word.split("-")) is not None)
    )


def _read_words(
    text: str, tokens: list[re.Match[str]], parts: list[str], at: int, language: str
) -> tuple[Slot | None, int]:
    word, token = parts[at], tokens[at]
    if word in _GLYPHS:
        return _furnished(text, Slot("number", _GLYPHS[word], "", *token.span()), directly=True), 1
    run = _english_run(text, tokens, at) if language != "de" or "-" in word else []
    read = numerals.english_run(run) if run else None
    if read is not None and (read[2] > 1 or "-" in word):
        return _english_slot(text, tokens, at, run, read)
    if word in ("ein", "a", "eine") and at + 1 < len(parts) and parts[at + 1] in _COUNTED_SCALES:
        slot = Slot("number", float(numerals.SCALES[parts[at + 1]]), "", token.start(), tokens[at + 1].end())
        return _furnished(text, slot, directly=False), 2
    single = (
        None if word in _NO_NUMBER or (word == "elf" and language == "en") else numerals.word_number(word)
    )
    if single is None:
        return None, 1
    value, kind, unit = single
    below = numerals.fraction_word(parts[at + 1]) if at + 1 < len(parts) and kind == "cardinal" else None
    if below is not None and text[token.end() : tokens[at + 1].start()].isspace():
        slot = Slot("number", value / below, "", token.start(), tokens[at + 1].end())
        return _furnished(text, slot, directly=False), 2
    weak = word in _WEAK_ARTICLES or word in ("one", "once", "einmal", "half", "halb")
    slot = Slot("ordinal" if kind == "ordinal" else "number", value, "", *token.span(), weak=weak)
    if unit:
        slot = slot._replace(unit=unit_of(unit))
    slot = _furnished(text, slot, directly=False)
    qualified = bool(_QUALIFIED.search(text[max(0, slot.start - 24) : slot.start]))
    if weak and (qualified or (slot.unit and slot.unit != "time")):
        slot = slot._replace(weak=False)
    if slot.kind == "ordinal" and slot.value in (1.0, 2.0) and not slot.unit:
        slot = slot._replace(weak=True)
    return slot, 1


def _english_run(text: str, tokens: list[re.Match[str]], at: int) -> list[str]:
    run: list[str] = []
    for index in range(at, min(at + 6, len(tokens))):
        if index > at and not text[tokens[index - 1].end() : tokens[index].start()].isspace():
            break
        run += tokens[index].group().casefold().split("-")
    return run


def _english_slot(
    text: str, tokens: list[re.Match[str]], at: int, run: list[str], read: tuple[float, str, int]
) -> tuple[Slot | None, int]:
    value, kind, used = read
    count, tokens_used = 0, 0
    while count < used:
        count += len(tokens[at + tokens_used].group().split("-"))
        tokens_used += 1
    last = tokens[at + tokens_used - 1]
    rest = run[used:count]
    end = last.end() - (len("-".join(rest)) + 1 if rest else 0)
    slot = Slot("ordinal" if kind == "ordinal" else "number", value, "", tokens[at].start(), end)
    return _furnished(text, slot, directly=False), tokens_used


@cache
def _function_words() -> frozenset[str]:
    return stop_words("de") | stop_words("en")


def _furnished(text: str, slot: Slot, *, directly: bool) -> Slot:
    """The slot with scale, unit, counted noun, bound and approximation read from its surroundings."""
    value, end, unit, noun = slot.value, slot.end, slot.unit, ""
    match = _AFTER.match(text, end)
    scale = numerals.SCALES.get(match.group(1).casefold()) if match and slot.kind == "number" else None
    if match and scale and value is not None:
        value, end = value * scale, match.end()
        match = _AFTER.match(text, end + (text[end : end + 1] == "."))
    sign = text[max(0, slot.start - 2) : slot.start].strip()[-1:]
    if sign and sign in "€$£":
        unit = unit_of(sign)
    place = skipped = 0
    while match is not None and not unit and skipped < 4:
        raw = match.group(1)
        if skipped and text[place : match.start(1)].strip():
            break
        word = raw.casefold()
        unit = unit_of(word, directly and skipped == 0)
        if unit or word in _function_words() or numerals.word_number(word):
            break
        noun = noun or word
        if skipped and raw[0].isupper():
            break
        place, skipped = match.end(), skipped + 1
        match = _AFTER.match(text, place)
    before, after = text[max(0, slot.start - 60) : slot.start], text[end : end + 40]
    noun = "" if unit else noun
    bound, about = bounds.bound(before, after), bounds.approximate(before)
    return Slot(slot.kind, value, "", slot.start, end, unit, noun, bound, slot.weak, about)


def _dropped_ordinals(text: str, numbers: list[Slot]) -> list[Slot]:
    """Without the "first" of "the first two months", which counts nothing."""
    kept = []
    for index, slot in enumerate(numbers):
        following = numbers[index + 1] if index + 1 < len(numbers) else None
        leads = following is not None and text[slot.end : following.start].isspace()
        if not (slot.kind == "ordinal" and leads and following is not None and following.kind == "number"):
            kept.append(slot)
    return kept


def _ranges(text: str, numbers: list[Slot]) -> list[Slot]:
    """ "4 bis 16", "between 4 and 16": the first is the minimum, the second the maximum."""
    kept = list(numbers)
    for index in range(len(kept) - 1):
        left, right = kept[index], kept[index + 1]
        if right.start - left.end > _FAR:
            continue
        gap = text[left.end : right.start]
        if not gap.rstrip().lower().endswith(_RANGE_ENDS):
            continue
        if left.unit:  # "ten minutes and fifty minutes"
            gap = _UNIT.sub("", gap) if not _PAIR.fullmatch(gap) else gap
        between = bool(_BETWEEN.search(text[max(0, left.start - 12) : left.start]))
        is_range = bool(_RANGE.fullmatch(gap)) or (between and bool(_PAIR.fullmatch(gap)))
        rising = left.value is not None and right.value is not None and left.value < right.value
        if is_range and rising and left.kind == right.kind == "number":
            kept[index] = left._replace(bound=left.bound or "min", weak=False)
            kept[index + 1] = right._replace(bound="max", weak=False)
    return kept


def _share_units(text: str, numbers: list[Slot]) -> list[Slot]:
    """ "ten and fifty minutes": the unit of the last counts for the first."""
    kept = list(numbers)
    for index in range(len(kept) - 2, -1, -1):
        left, right = kept[index], kept[index + 1]
        near = right.start - left.end <= _FAR
        joined = near and not left.unit and not left.noun and _JOINED.fullmatch(text[left.end : right.start])
        if joined and left.kind == right.kind and (right.unit or right.noun):
            kept[index] = left._replace(unit=right.unit, noun=right.noun)
    return kept


# --- comparing --------------------------------------------------------------------------------------------------


def same(gold: Slot, given: Slot) -> bool:
    """Whether the second says what the first says. A number without a unit agrees with any unit; a general day
    agrees with a calendar day, a calendar day never with a working day; §-references agree when one is a
    prefix of the other; a date agrees with a coarser one."""
    if gold.value is None or given.value is None:
        return gold.kind == given.kind and _same_key(gold, given)
    if gold.unit == given.unit:
        return abs(gold.value - given.value) <= 1e-9 * max(1.0, abs(gold.value))
    if "percent" in (gold.unit, given.unit) and "" in (gold.unit, given.unit):
        share, plain = (gold.value, given.value) if gold.unit else (given.value, gold.value)
        if 0 < plain < 1:  # "50 %" and "half"
            return abs(share / 100 - plain) <= 1e-9
    if not _same_dimension(gold, given):
        return False
    left, right = in_base(gold.value, gold.unit), in_base(given.value, given.unit)
    if gold.unit and given.unit and _dated(gold, given):
        return abs(left - right) <= TOLERANCE * max(abs(left), abs(right))
    if gold.unit and given.unit and dimension(gold.unit) not in _POINT_LIKE:
        return abs(left - right) <= 1e-9 * max(1.0, abs(left), abs(right))
    return abs(gold.value - given.value) <= 1e-9 * max(1.0, abs(gold.value))


def comparable(gold: Slot, given: Slot) -> bool:
    """Whether the second speaks of the same kind of thing, so that another value is another claim."""
    if gold.value is None or given.value is None:
        return gold.kind == given.kind and gold.kind != "code"
    gold_dimension, given_dimension = dimension(gold.unit), dimension(given.unit)
    if not gold_dimension or not given_dimension:
        return True
    return gold_dimension == given_dimension or {gold_dimension, given_dimension} <= _POINT_LIKE


def bounds_differ(gold: Slot, given: Slot) -> bool:
    """Whether one is a minimum and the other a maximum."""
    return bool(gold.bound and given.bound and gold.bound != given.bound)


def _dated(gold: Slot, given: Slot) -> bool:
    return dimension(gold.unit) == "time" and dimension(given.unit) == "time"


def _same_dimension(gold: Slot, given: Slot) -> bool:
    left, right = dimension(gold.unit), dimension(given.unit)
    if not left or not right:
        return True
    if left != right:
        return {left, right} <= _POINT_LIKE
    return not (gold.unit in _DAYS and given.unit in _DAYS and gold.unit != given.unit)


def _same_key(gold: Slot, given: Slot) -> bool:
    if gold.kind == "reference":
        left, right = gold.key.split(), given.key.split()
        shorter = min(len(left), len(right))
        return left[:shorter] == right[:shorter]
    if gold.kind == "date":
        return moments.same_date(gold.key, given.key)
    return gold.key == given.key
