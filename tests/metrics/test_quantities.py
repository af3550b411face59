"""Numbers, units, dates, times, references, codes: what is read and what agrees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.metrics.numerals import german_cardinal, german_ordinal, parse_digits
from core.metrics.quantities import bounds_differ, same, slots


def _read(text: str, language: str = "de") -> list[tuple[object, str]]:
    return [(slot.key if slot.value is None else slot.value, slot.unit) for slot in slots(text, language)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sechs Semester", [(6.0, "semester")]),
        ("6 Fachsemester", [(6.0, "semester")]),
        ("dreiundachtzig Kreditpunkte", [(83.0, "credit")]),
        ("einundzwanzig Tage", [(21.0, "day")]),
        ("anderthalb Stunden", [(1.5, "hour")]),
        ("zwei Drittel", [(2 / 3, "")]),
        ("50 %", [(50.0, "percent")]),
        ("1.200,50 €", [(1200.5, "euro")]),
        ("im 3. Semester", [(3.0, "semester")]),
        ("des sechsten Semesters", [(6.0, "semester")]),
        ("eine sechssemestrige Regelstudienzeit", [(1.0, ""), (6.0, "semester")]),
        ("drei Werktage", [(3.0, "working day")]),
        ("am 8. Juli 2010", [("2010-07-08", "")]),
        ("vom 08.07.2010", [("2010-07-08", "")]),
        ("nach § 16 Abs. 2 S. 1", [("§16 abs2 s1", "")]),
        ("Niveau B2 [1]", [("b2", "")]),
        ("um 14.30 Uhr", [("14:30", "")]),
        ("innerhalb der ersten zwei Monate", [(2.0, "month")]),
        ("Der Wert ist 3,07.", [(3.07, "")]),
    ],
)
def test_german(text: str, expected: list[tuple[object, str]]) -> None:
    assert _read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("twenty-one days", [(21.0, "day")]),
        ("one hundred and twenty pages", [(120.0, "page")]),
        ("$3.5 million", [(3_500_000.0, "dollar")]),
        ("1,200 people", [(1200.0, "")]),
        ("a seven-layer model", [(7.0, "")]),
        ("in December 2012", [("2012-12", "")]),
        ("on July 8, 2010", [("2010-07-08", "")]),
        ("at 2 pm", [("14:00", "")]),
        ("The size was 3.07.", [(3.07, "")]),
        ("12 kB", [(12.0, "kilobyte")]),
    ],
)
def test_english(text: str, expected: list[tuple[object, str]]) -> None:
    assert _read(text, "en") == expected


def test_a_range_is_a_minimum_and_a_maximum() -> None:
    low, high = slots("zwischen 4 und 16 LP", "de")
    assert (low.value, low.bound, low.unit) == (4.0, "min", "credit")
    assert (high.value, high.bound) == (16.0, "max")
    assert [slot.bound for slot in slots("Between ten minutes and fifty minutes", "en")] == ["min", "max"]


def _pair(left: str, right: str) -> bool:
    return same(slots(left, "de")[0], slots(right, "de")[0])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("6 Semester", "sechs Semester"),
        ("3 Kalendertage", "drei Tage"),
        ("8 Wochen", "56 Tage"),
        ("1 Jahr", "zwei Semester"),
        ("30 LP", "dreißig Punkte"),
        ("08.07.2010", "8. Juli 2010"),
        ("20.12.2012", "Dezember 2012"),
        ("§ 16", "§ 16 Abs. 2"),
        ("1,5", "anderthalb"),
    ],
)
def test_these_agree(left: str, right: str) -> None:
    assert _pair(left, right)
    assert _pair(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("6 Semester", "8 Semester"),
        ("3 Kalendertage", "3 Werktage"),
        ("6 Wochen", "6 Monate"),
        ("12 LP", "12 SWS"),
        ("1. Oktober", "2017"),
        ("08.07.2010", "08.07.2011"),
        ("§ 16", "§ 17"),
        ("B2", "B1"),
        ("12", "2012"),
    ],
)
def test_these_do_not(left: str, right: str) -> None:
    assert not _pair(left, right)


def test_minimum_is_not_maximum() -> None:
    assert bounds_differ(slots("mindestens 12 LP", "de")[0], slots("höchstens 12 LP", "de")[0])


@given(st.integers(min_value=2, max_value=999_999))
def test_german_words_and_digits_agree(number: int) -> None:
    assert german_cardinal(_spoken(number)) == number


@pytest.mark.parametrize(
    ("word", "value"), [("dritten", 3), ("siebte", 7), ("zwanzigsten", 20), ("hundertste", 100)]
)
def test_german_ordinals(word: str, value: int) -> None:
    assert german_ordinal(word) == value


@pytest.mark.parametrize("word", ["beste", "gute", "erbst", "weit", "achtung", "einheit", "elfen"])
def test_ordinary_words_are_no_numbers(word: str) -> None:
    assert german_ordinal(word) is None
    assert german_cardinal(word) is None


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("1.200", "de", 1200.0),
        ("1.200", "en", 1.2),
        ("1,200", "en", 1200.0),
        ("1,200", "de", 1.2),
        ("1.234.567,8", "de", 1234567.8),
        ("0.125", "de", 0.125),
        ("3.2.1", "en", None),
    ],
)
def test_separators(text: str, language: str, value: float | None) -> None:
    assert parse_digits(text, language) == value


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    found = slots(text, "de")
    assert all(0 <= slot.start < slot.end <= len(text) for slot in found)
    assert list(found) == sorted(found, key=lambda slot: (slot.start, slot.end))


_ONES = "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn"
_SMALL = [*_ONES.split(), "achtzehn", "neunzehn"]
_TENS = ["", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"]


def _spoken(number: int) -> str:
    if number >= 1000:
        return _spoken(number // 1000) + "tausend" + (_spoken(number % 1000) if number % 1000 else "")
    if number >= 100:
        return _SMALL[number // 100] + "hundert" + (_spoken(number % 100) if number % 100 else "")
    if number < 20:
        return "eins" if number == 1 else _SMALL[number]
    return (_SMALL[number % 10] + "und" if number % 10 else "") + _TENS[number // 10]
