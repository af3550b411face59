"""Comparison of texts as readers compare."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.evaluation.mentions import mentions


@pytest.mark.parametrize(
    ("wanted", "text", "expected"),
    [
        ("$5.2M", "Revenue was 5.2 million dollars.", True),
        ("5.2 million dollars", "It came to $5.2M.", True),
        ("5,2 Mio. $", "$5.2M", True),
        ("1,000", "1000", True),
        ("1.000", "tausend, also 1000", True),
        ("10 000", "10,000 items", True),
        ("1,234.56", "1.234,56", True),
        ("€1,250", "1.250 Euro", True),
        ("50%", "50 Prozent", True),
        ("30 days", "within 30\u00a0days", True),
        ("Straße", "STRASSE", True),
        ("x-ray", "x‑ray", True),
        ("300 people", "In 2012 300 people came", True),
        ("v2.0", "since v2.0", True),
        ("5m", "5 m deep", True),
        ("5 millionaires", "we met 5 millionaires", True),
        ("12", "in 2012", False),
        ("12", "12.5", False),
        ("5", "5.2", False),
        ("1000", "10000", False),
        ("3", "1.2.3", False),
        ("$5", "5 euros", False),
        ("007", "7", False),
        ("", "anything", False),
        ("  ", "anything", False),
    ],
)
def test_pairs(wanted: str, text: str, expected: bool) -> None:
    assert mentions(text, wanted) is expected


@pytest.mark.parametrize(
    ("locale", "wanted", "text", "expected"),
    [
        ("en", "1.5", "1,5", True),
        ("en", "1234", "1.234", False),
        ("de", "1234", "1.234", True),
        ("de", "1.234", "1,234", False),
    ],
)
def test_a_locale_has_one_reading(locale: str, wanted: str, text: str, expected: bool) -> None:
    assert mentions(text, wanted, locale) is expected  # type: ignore[arg-type]


@given(st.integers(0, 10**12))
@settings(max_examples=200)
def test_thousands_separators_change_nothing(number: int) -> None:
    grouped = f"{number:,}"
    for mark in (",", ".", "\u00a0", "\u202f", "'"):
        assert mentions(f"It is {grouped.replace(',', mark)} in all.", str(number))
    assert mentions(f"It is {number} in all.", grouped)


@given(st.integers(1, 10**9), st.integers(1, 10**9))
@settings(max_examples=200)
def test_a_number_is_mentioned_by_itself_alone(one: int, other: int) -> None:
    assert mentions(f"({one})", str(one))
    assert mentions(f"It is {other}.", str(one)) is (one == other)


@given(st.decimals(0, 999, places=2), st.sampled_from(["$", "€", "£"]))
@settings(max_examples=100)
def test_money_is_the_same_before_and_after(amount: object, sign: str) -> None:
    word = {"$": "dollars", "€": "euros", "£": "pounds"}[sign]
    assert mentions(f"costs {amount} {word}", f"{sign}{amount}")
    assert mentions(f"costs {sign}{amount}", f"{amount} {word}")


@given(st.text(max_size=60), st.text(max_size=20), st.text(max_size=60))
@settings(max_examples=300)
def test_never_fails_and_every_text_mentions_itself(before: str, wanted: str, after: str) -> None:
    assert mentions(wanted, wanted) or not any(letter.isalnum() for letter in wanted)
    mentions(before + wanted + after, wanted)
