"""Claim splitting, the claim table, and the metrics that follow from it, on texts."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.metrics.claim_metrics import CLAIM_METRICS, against_gold, claim_scores, f1
from core.metrics.claims import build, checkable, rows, split_claims, statement_spans

QUESTION = "Wie lange ist die Regelstudienzeit?"
CHUNKS = [
    ("a", "Die Regelstudienzeit beträgt sechs Semester. Das Praktikum dauert acht Wochen."),
    ("b", "Der Antrag ist beim Studiensekretariat zu stellen."),
]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("6 Semester", ("6 Semester",)),
        ("B2", ("B2",)),
        ("Ja.", ("Ja.",)),
        ("", ()),
        (" \n ", ()),
        ("Nach § 5 Abs. 2 S. 1 sind es z. B. 3 Tage.", ("Nach § 5 Abs. 2 S. 1 sind es z. B. 3 Tage.",)),
        ("Erstens das; zweitens jenes.", ("Erstens das", "zweitens jenes.")),
        ("- Punkt eins\n- Punkt zwei", ("Punkt eins", "Punkt zwei")),
        ("Es gilt. Es gilt.", ("Es gilt.",)),
        ("Sechs Semester. [1] Acht Wochen [2].", ("Sechs Semester.", "Acht Wochen.")),
    ],
)
def test_splitting(text: str, claims: tuple[str, ...]) -> None:
    assert split_claims(text) == claims


def test_a_marker_ends_a_statement_without_a_full_stop() -> None:
    text = "Das ist der erste längere Satz -215- [1] Hier steht der zweite längere Satz."
    assert [text[slice(*span)] for span in statement_spans(text)] == [
        "Das ist der erste längere Satz -215- [1]",
        " Hier steht der zweite längere Satz.",
    ]


@given(st.text(max_size=200))
def test_statements_are_disjoint_and_in_order(text: str) -> None:
    spans = statement_spans(text)
    assert all(start < end for start, end in spans)
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))


def test_one_table_serves_all() -> None:
    table = build(
        "Sechs Semester. Das Praktikum dauert 12 Wochen.", "6 Semester", QUESTION, CHUNKS, spoken="de"
    )
    scores, _ = claim_scores(table)
    assert scores["answer_claim_precision"] == 0.5
    assert scores["answer_claim_recall"] == 1.0
    assert scores["context_claim_recall"] == 1.0
    assert scores["grounded_claim_ratio"] == 0.5
    assert scores["contradicted_claim_count"] == 1.0
    assert scores["context_precision"] == 0.5
    targets = {(row.claim_type, row.target) for row in rows(table)}
    assert {("gold", "answer"), ("gold", "context"), ("gold", "chunk:a"), ("answer", "gold")} <= targets


def test_a_wrong_number_is_not_supported_by_anything() -> None:
    scores, _ = claim_scores(build("8 Semester", "6 Semester", QUESTION, CHUNKS, spoken="de"))
    assert scores["answer_claim_f1"] == 0.0
    assert scores["grounded_claim_ratio"] == 0.0
    assert scores["hallucination"] == 1.0


def test_the_order_of_chunks_and_repeated_chunks_change_nothing() -> None:
    answer = "Sechs Semester. Der Antrag geht an das Dekanat."
    plain = claim_scores(build(answer, "6 Semester", QUESTION, CHUNKS, spoken="de"))
    assert claim_scores(build(answer, "6 Semester", QUESTION, CHUNKS[::-1], spoken="de")) == plain
    assert claim_scores(build(answer, "6 Semester", QUESTION, [*CHUNKS, *CHUNKS], spoken="de")) == plain


@pytest.mark.parametrize("empty", ["", " ", "\n\t"])
def test_nothing_gives_none_with_a_reason(empty: str) -> None:
    cases = {
        "no_gold": build("6 Semester", empty, QUESTION, CHUNKS, spoken="de"),
        "no_claims": build(empty, "6 Semester", QUESTION, CHUNKS, spoken="de"),
        "no_context": build("6 Semester", "6 Semester", QUESTION, [("a", empty)], spoken="de"),
    }
    for why, table in cases.items():
        scores, reasons = claim_scores(table)
        assert set(scores) == set(CLAIM_METRICS)
        assert why in reasons.values()
        assert {name for name, value in scores.items() if value is None} == set(reasons)


def test_a_refusal_makes_no_claims() -> None:
    scores, reasons = claim_scores(build("", "6 Semester", QUESTION, CHUNKS, spoken="de"), abstained=True)
    assert scores["grounded_claim_ratio"] is None
    assert reasons["grounded_claim_ratio"] == "abstained"
    assert scores["answer_claim_recall"] == 0.0
    assert scores["context_claim_recall"] == 1.0


def test_another_language_is_said_not_scored() -> None:
    english = "The standard period of study for the bachelor's programme is six semesters."
    table = build(english, english, "How long is it?", [("a", CHUNKS[0][1] * 3)], spoken="en")
    scores, reasons = claim_scores(table)
    assert table.cross_language
    assert scores["grounded_claim_ratio"] is None
    assert reasons["grounded_claim_ratio"] == "cross_language"
    assert scores["answer_claim_f1"] == 1.0


def test_a_bare_yes_is_judged_against_the_gold_only() -> None:
    assert not checkable("Ja.")
    scores, reasons = claim_scores(build("Ja.", "Nein.", "Muss man das?", CHUNKS, spoken="de"))
    assert scores["answer_claim_precision"] == 0.0
    assert reasons["grounded_claim_ratio"] == "not_checkable"


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.lists(st.booleans(), min_size=1, max_size=6))
def test_factual_correctness_is_the_published_one(correct: list[bool], said: list[bool]) -> None:
    scores = against_gold(correct, said)
    tp, fp, fn = sum(correct), len(correct) - sum(correct), len(said) - sum(said)
    assert scores["factual_correctness_precision"] == tp / (tp + fp)
    assert scores["factual_correctness_recall"] == (tp / (tp + fn) if tp + fn else None)
    assert scores["answer_claim_f1"] is not None


def test_f1_is_zero_at_zero() -> None:
    assert f1(0.0, 0.0) == 0.0
    assert f1(None, 0.5) is None
    assert f1(1.0, 1.0) == 1.0
