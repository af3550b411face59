"""Statements turned round without a "not": sides, modality, signs, Roman numerals, places, shares."""

from __future__ import annotations

import pytest

from core.metrics.answers import compare
from core.metrics.directions import arabic, sides, turned


@pytest.mark.parametrize(
    ("gold", "answer", "question"),
    [
        ("vor dem 3. Fachsemester", "ab dem 3. Fachsemester", "Wann?"),
        ("bis zum 3. Semester", "ab dem 3. Semester", "Wann?"),
        ("before the exam", "after the exam", "When?"),
        ("nach der Prüfung", "vor der Prüfung", "Wann?"),
        ("on or after 1 May 2020", "before 1 May 2020", "When?"),
        ("more than 100", "less than 100", "How many?"),
        ("über 18", "unter 18", "Welches Alter?"),
        ("at least 3 months", "less than 3 months", "How long?"),
        ("Students must submit the form.", "Students may submit the form.", "What must students do?"),
        ("Studierende müssen sich anmelden.", "Studierende können sich anmelden.", "Was ist zu tun?"),
        ("Sie dürfen nicht teilnehmen.", "Sie müssen nicht teilnehmen.", "Dürfen sie teilnehmen?"),
        (
            "Ein Praktikum ist nicht erforderlich.",
            "Ein Praktikum ist erforderlich.",
            "Ist ein Praktikum erforderlich?",
        ),
        ("-5 °C", "5 °C", "How cold?"),
        ("Phase II", "Phase III", "Which phase?"),
        ("Heinrich VIII", "Heinrich VII", "Wer?"),
        ("§ 16 Abs. 2", "§ 16 Abs. 3", "Wo?"),
        ("50 %", "0,05", "Welcher Anteil?"),
    ],
)
def test_another_statement_is_incorrect(gold: str, answer: str, question: str) -> None:
    found = compare(answer, gold, question)
    assert found is not None
    assert found.label == "incorrect", found


@pytest.mark.parametrize(
    ("gold", "answer", "question"),
    [
        ("nicht mehr als 100", "höchstens 100", "Wie viele?"),
        ("at least 3 months", "not less than 3 months", "How long?"),
        ("no later than 15 March", "by March 15", "Deadline?"),
        ("from 1 to 5", "between 1 and 5", "Range?"),
        ("until 2020", "up to 2020", "When?"),
        ("-5 °C", "−5 °C", "How cold?"),
        ("Phase II", "Phase 2", "Which phase?"),
        ("Heinrich VIII", "Heinrich 8", "Wer?"),
        ("§ 16 Abs. 2", "Das regelt § 16 Absatz 2.", "Wo?"),
        ("50 %", "die Hälfte", "Welcher Anteil?"),
        ("50 %", "0,5", "Welcher Anteil?"),
        ("Students must submit the form.", "Students have to submit the form.", "What must students do?"),
    ],
)
def test_the_same_statement_is_correct(gold: str, answer: str, question: str) -> None:
    found = compare(answer, gold, question)
    assert found is not None
    assert found.label == "correct", found


def test_a_preposition_with_another_meaning_speaks_against_nothing() -> None:
    assert turned("nach § 5 der Satzung", "vor Ablauf der Frist nach § 5", "de") == ""
    assert turned("over the years", "under the roof", "en") == ""
    assert ("before", "3") in sides("Anmeldung vor dem 3. Fachsemester", "de")
    assert arabic("IV infusion, Anlage IX, MIX, I am") == "IV infusion, Anlage 9, MIX, I am"
