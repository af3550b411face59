"""Pages to one text: hyphens, line ends, offsets."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.inputs.page_text import clean, join_pages

PIECES = st.lists(
    st.sampled_from(
        [
            "Mo-\ndul",
            "Bachelor-\nund",
            "a\u0308rztlich",
            "  ",
            "\t",
            "\r\n",
            "\r",
            "\n\n\n",
            "wort",
            "(1)",
            "x\u00ad\ny",
            "\u00ad",
            "Ü-",
            "\n",
        ]
    ),
    max_size=12,
).map("".join)


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("Das Mo-\ndul umfasst", "Das Modul umfasst"),
        ("Bachelor-\nund Masterstudium", "Bachelor-\nund Masterstudium"),
        ("Verfasste-\nStudierendenschaft", "Verfasste-\nStudierendenschaft"),
        ("2010-\n2012", "2010-\n2012"),
        ("Mo\u00ad\ndul und Se\ufffe\nnat", "Modul und Senat"),
        ("Prü-   \n   fung", "Prüfung"),
        ("ein E-Mail-Dienst, kein E-Mail-\ndienst", "ein E-Mail-Dienst, kein E-Mail-dienst"),
        ("state-of-the-art and the-\nart", "state-of-the-art and the-art"),
    ],
)
def test_only_broken_words_are_rejoined(given_text: str, expected: str) -> None:
    assert join_pages([given_text])[0] == expected


def test_a_word_broken_over_two_pages_is_rejoined_and_the_second_page_starts_inside_it() -> None:
    text, starts = join_pages(["Die Prü-", "fung findet statt", "Ende"])
    assert text == "Die Prüfung findet statt\nEnde"
    assert starts == [0, 7, 25]
    assert text[starts[1] :].startswith("fung")


def test_line_ends_blanks_controls_and_unicode_are_normalised() -> None:
    assert clean("a\r\nb\rc\t d\u00a0e \x00\n\n\n\nf\ud800 u\u0308") == "a\nb\nc d e\n\nf\ufffd ü"


def test_indented_text_keeps_its_indent() -> None:
    assert join_pages(["def f():\n    return  1   \n"], keep_indent=True)[0] == "def f():\n    return  1"


def test_empty_pages_start_where_the_next_one_does() -> None:
    text, starts = join_pages(["", "eins", " \n ", "zwei", ""])
    assert text == "eins\nzwei"
    assert starts == [0, 0, 5, 5, 9]


@given(st.lists(PIECES, max_size=6))
def test_offsets_never_decrease_and_text_is_normal(pages: list[str]) -> None:
    text, starts = join_pages(pages)
    assert len(starts) == len(pages)
    assert starts == sorted(starts)
    assert all(0 <= start <= len(text) for start in starts)
    assert "\r" not in text
    assert "\n\n\n" not in text
    assert "\u00ad" not in text
    assert unicodedata.is_normalized("NFC", text)


@given(st.lists(st.text(max_size=60), max_size=5))
def test_any_text_can_be_joined_and_stored(pages: list[str]) -> None:
    text, starts = join_pages(pages)
    text.encode("utf-8")
    assert starts == sorted(starts)
