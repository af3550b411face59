"""Local support: directional, local, guarded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.metrics.support import SUPPORTED, support
from tests.benchmarks.support import auroc, begin
from tests.real_data import real_data

PASSAGE = (
    "§ 5 Regelstudienzeit. Die Regelstudienzeit beträgt im Bachelorstudiengang sechs Semester. "
    "Das Industriepraktikum dauert mindestens neun Wochen und wird nicht benotet. "
    "Die Anmeldung endet spätestens drei Kalendertage vor dem Prüfungstermin."
)


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("Die Regelstudienzeit beträgt im Bachelorstudiengang sechs Semester.", "supported"),
        ("Die Regelstudienzeit beträgt im Bachelorstudiengang 6 Semester.", "supported"),
        ("Die Regelstudienzeit beträgt im Bachelorstudiengang acht Semester.", "contradicted"),
        ("Die Anmeldung endet spätestens drei Werktage vor dem Prüfungstermin.", "contradicted"),
        ("Das Industriepraktikum dauert mindestens neun Monate.", "contradicted"),
        ("Der Mond umkreist die Erde.", "not_enough_info"),
    ],
)
def test_numbers_and_units_guard(claim: str, label: str) -> None:
    assert support(claim, PASSAGE).label == label


def test_negation_guards() -> None:
    assert (
        support("Das Industriepraktikum dauert mindestens neun Wochen und wird benotet.", PASSAGE).score
        < SUPPORTED
    )
    assert (
        support("Die Regelstudienzeit beträgt im Bachelorstudiengang nicht sechs Semester.", PASSAGE).score
        < SUPPORTED
    )


def test_the_span_is_the_sentence() -> None:
    found = support("Die Anmeldung endet drei Kalendertage vor dem Prüfungstermin.", PASSAGE)
    assert found.start is not None
    assert PASSAGE[found.start : found.end].startswith("Die Anmeldung endet")


@pytest.mark.parametrize(("claim", "passage"), [("", PASSAGE), ("Etwas.", ""), (" ", " \n"), ("...", "!!")])
def test_nothing_supports_nothing(claim: str, passage: str) -> None:
    found = support(claim, passage)
    assert (found.label, found.score) == ("not_enough_info", 0.0)


@given(st.text(max_size=80), st.text(max_size=200))
def test_scores_are_bounded_and_spans_lie_inside(claim: str, passage: str) -> None:
    found = support(claim, passage)
    assert 0.0 <= found.score <= found.unguarded <= 1.0 or found.score == found.unguarded == 0.0
    if found.start is not None and found.end is not None:
        assert 0 <= found.start < found.end <= len(passage)


def test_a_sentence_of_the_passage_scores_one() -> None:
    assert (
        support("Das Industriepraktikum dauert mindestens neun Wochen und wird nicht benotet.", PASSAGE).score
        == 1.0
    )


def test_it_separates_human_labels() -> None:
    real_data("begin_wow")
    pairs = list(begin())
    scores = [support(claim, passage).score for claim, passage, _ in pairs]
    assert auroc(scores, [label for _, _, label in pairs]) > 0.92


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("12.50 EUR", "Die Gebühr beträgt 12,50 EUR am Tag."),
        ("The fee is 1,000 euros.", "The fee is 1000 euros."),
        ("6 Wochen", "Die Frist beträgt sechs Wochen."),
        ("It came into force on 8 July 2010.", "It came into force on 2010-07-08."),
        ("Die Frist endet am 8. Juli 2010.", "Die Frist endet am 08.07.2010."),
    ],
)
def test_a_number_or_day_in_another_spelling_is_the_same(claim: str, passage: str) -> None:
    assert support(claim, passage).score == 1.0
    assert support(passage, passage).score == 1.0


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("It came into force on 8 July 2010.", "It came into force on 2011-07-08."),
        ("Die Gebühr beträgt 12.50 EUR am Tag.", "Die Gebühr beträgt 12,60 EUR am Tag."),
    ],
)
def test_another_number_or_day_contradicts(claim: str, passage: str) -> None:
    assert support(claim, passage).label == "contradicted"
