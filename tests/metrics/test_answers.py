"""The answer label: what must match, and what the graded answers demand."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from core.metrics.answers import LABELS, compare
from core.metrics.overlap import answer_has_gold_substring, lcs_length, rouge_l, token_f1
from tests.benchmarks.answers import HARD, graded, label_of
from tests.real_data import real_data


def _label(answer: str, gold: str, question: str = "Wie lange dauert es?") -> str:
    found = compare(answer, gold, question)
    assert found is not None
    return found.label


@pytest.mark.parametrize(
    ("answer", "gold", "label"),
    [
        ("8 Semester", "6 Semester", "incorrect"),
        ("16 Semester", "6 Semester", "incorrect"),
        ("sechs Semester", "6 Semester", "correct"),
        ("Die Regelstudienzeit beträgt 6 Semester.", "6 Semester", "correct"),
        ("6 Monate", "6 Wochen", "incorrect"),
        ("drei Werktage", "drei Kalendertage", "incorrect"),
        ("am 1. Juli 2010", "am 1. Juni 2010", "incorrect"),
        ("höchstens 12 LP", "mindestens 12 LP", "incorrect"),
        ("6 oder 8 Semester", "6 Semester", "needs_manual_review"),
        ("Mindestens 10 Minuten.", "Mindestens 10 und höchstens 50 Minuten.", "partially_correct"),
        ("", "6 Semester", "incorrect"),
        ("  \n", "6 Semester", "incorrect"),
    ],
)
def test_numbers_units_dates_and_limits(answer: str, gold: str, label: str) -> None:
    assert _label(answer, gold) == label


@pytest.mark.parametrize(
    ("answer", "gold", "label"),
    [
        ("Ja.", "Nein, das ist nicht nötig.", "incorrect"),
        ("Nein.", "Nein, das ist nicht nötig.", "correct"),
        ("Yes, it must.", "No.", "incorrect"),
        ("Six exams may be retaken, including the thesis.", "Six exams may be retaken; this does not apply to the thesis.", "incorrect"),
    ],
)  # fmt: skip
def test_polarity(answer: str, gold: str, label: str) -> None:
    assert _label(answer, gold, "Muss man das?") == label


def test_exchanged_values_are_another_statement() -> None:
    gold = "Bachelorarbeit: zwölf Wochen. Masterarbeit: sechs Wochen."
    assert _label("Bachelorarbeit sechs Wochen, Masterarbeit zwölf Wochen.", gold) == "incorrect"
    assert _label("Bachelorarbeit zwölf Wochen, Masterarbeit sechs Wochen.", gold) == "correct"


def test_a_side_remark_is_allowed_and_not_required() -> None:
    gold = "Höchstens 30 LP (im Bachelor wären es 45)."
    question = "Wie viele LP können im Master anerkannt werden?"
    assert _label("30 LP", gold, question) == "correct"
    assert _label("45 LP", gold, question) == "incorrect"


def test_naming_both_of_a_choice_decides_nothing() -> None:
    question = "Which has more members, Alpha or Beta?"
    assert _label("Alpha", "Alpha", question) == "correct"
    assert _label("Beta has more members than Alpha.", "Alpha", question) == "needs_manual_review"


@pytest.mark.parametrize("gold", ["", " ", "\n\t"])
def test_no_gold_no_label(gold: str) -> None:
    assert compare("6 Semester", gold) is None


def test_the_gold_itself_is_correct_everywhere() -> None:
    real_data("ulm_questions")
    golds = {(case.question, case.gold) for case in graded()}
    assert {compare(gold, gold, question).label for question, gold in golds} == {"correct"}  # type: ignore[union-attr]


def test_graded_answers() -> None:
    real_data("ulm_questions")
    found = [(case, label_of(case)) for case in graded()]
    assert len(found) == 120
    assert {label for _, label in found} <= set(LABELS)
    passed = [case for case, label in found if label == "correct" and case.truth in ("incorrect", "refusal")]
    assert not [case for case in passed if case.error_type in HARD]
    assert len(passed) <= 2
    assert sum(case.truth == "correct" and label == "incorrect" for case, label in found) <= 4
    assert sum(label != "needs_manual_review" for _, label in found) >= 72
    refused = Counter(label for case, label in found if case.truth == "refusal")
    assert refused == {"incorrect": 17}


@pytest.mark.parametrize(
    ("answer", "gold", "found"),
    [
        ("in 2012 it was", "12", 0.0),
        ("12 of them", "12", 1.0),
        ("16 semesters", "6 semesters", 0.0),
        ("1.5", "5", 0.0),
        ("Irish-American", "American", 0.0),
        ("It is B2.", "b2", 1.0),
        ("anything", " ", None),
    ],
)
def test_gold_substring_minds_its_borders(answer: str, gold: str, found: float | None) -> None:
    assert answer_has_gold_substring(answer, gold) == found


def test_token_f1_is_zero_without_a_shared_word() -> None:
    assert token_f1("alpha beta", "gamma") == 0.0
    assert rouge_l("alpha beta", "gamma") == 0.0


def test_lcs_equals_the_textbook_table() -> None:
    rng = random.Random(0)
    for _ in range(200):
        left = [rng.choice("abcd") for _ in range(rng.randint(0, 12))]
        right = [rng.choice("abcd") for _ in range(rng.randint(0, 12))]
        table = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
        for i, a in enumerate(left):
            for j, b in enumerate(right):
                table[i + 1][j + 1] = table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
        assert lcs_length(left, right) == table[-1][-1]
