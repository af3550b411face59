"""Sentences, language, stop words and stems."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text import blank, content_words, language, sentence_spans, sentences, stems


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Nach § 5 Abs. 2 S. 1 sind es z. B. 3 Monate. Das gilt.", ("Nach § 5 Abs. 2 S. 1 sind es z. B. 3 Monate.", "Das gilt.")),
        ("Im 3. Semester geht das. Am 8. Juli auch.", ("Im 3. Semester geht das.", "Am 8. Juli auch.")),
        ("Die Note ist 1,1. Wer besser ist, gewinnt.", ("Die Note ist 1,1.", "Wer besser ist, gewinnt.")),
        ("It costs $3.50. See e.g. Dr. Smith.", ("It costs $3.50.", "See e.g. Dr. Smith.")),
        ("There are 12. However, six left.", ("There are 12.", "However, six left.")),
        ("Ja.\n- 6 Semester\n- B2", ("Ja.", "- 6 Semester", "- B2")),
        ("Eins\n\nZwei", ("Eins", "Zwei")),
        ("Wirklich? Ja! Gut.", ("Wirklich?", "Ja!", "Gut.")),
        ("「はい。」いいえ。", ("「はい。", "」いいえ。")),
        ("", ()),
        (" \n ", ()),
    ],
)  # fmt: skip
def test_boundaries(text: str, expected: tuple[str, ...]) -> None:
    assert sentences(text) == expected


@given(st.text(max_size=300))
def test_spans_are_disjoint_trimmed_and_complete(text: str) -> None:
    spans = sentence_spans(text)
    at = 0
    for start, end in spans:
        assert at <= start < end
        assert text[start:end] == text[start:end].strip()
        assert not text[at:start].strip()
        at = end
    assert not text[at:].strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wie viele Leistungspunkte braucht man für die Masterarbeit?", "de"),
        ("How many credits do I need for the thesis?", "en"),
        ("Quels sont les documents à fournir pour la demande ?", "other"),
        ("¿Cuántos créditos se necesitan para la tesis?", "other"),
        ("Prüfungsanspruch", "de"),
        ("", "other"),
        ("12", "other"),
    ],
)
def test_language(text: str, expected: str) -> None:
    assert language(text) == expected


def test_short_numbers_stay_content_words() -> None:
    assert content_words("Die 6 Semester", "de") == ("6", "semester")
    assert stems("the universities", "en") == stems("university", "en")
    assert stems("Prüfungen", "de") == stems("Prüfung", "de")
    assert stems("naïves", "other") == ("naïves",)


@pytest.mark.parametrize("text", [None, "", " ", "...", "\u200b", "\ufeff", "—"])
def test_blank(text: str | None) -> None:
    assert blank(text)
    assert not blank("6")
