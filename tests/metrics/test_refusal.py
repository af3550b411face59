"""Refusals by speech act: the labelled list, its traps, and the figures the docstring states."""

from __future__ import annotations

import json
import re

import pytest

import core.metrics.refusal
from core.metrics import refusal_patterns
from core.metrics.refusal import is_refusal
from core.statistics.intervals import wilson
from tests.benchmarks.refusal import LABELLED, Counted, graded_answers, labelled
from tests.real_data import real_data

ROWS = [json.loads(line) for line in LABELLED.read_text("utf-8").splitlines()]


def _stated(name: str) -> list[float]:
    doc = " ".join((core.metrics.refusal.__doc__ or "").split())
    part = re.search(rf"{name} \(.*?recall [\d.]+ \[[\d., ]+\]", doc)
    assert part, f"the docstring states no figures for {name}"
    return [float(number) for number in re.findall(r"\d\.\d{3}", part.group())]


def _measured(found: Counted) -> list[float]:
    figures = []
    for part, whole in ((found.tp, found.tp + found.fp), (found.tp, found.tp + found.fn)):
        bounds = wilson(part, whole)
        figures += [part / whole, bounds.low, bounds.high]
    return [round(figure, 3) for figure in figures]


def test_the_list_is_large_and_half_of_it_traps() -> None:
    assert len(ROWS) >= 300
    assert 0.45 < sum(row["refused"] for row in ROWS) / len(ROWS) < 0.55
    assert {row["language"] for row in ROWS} == {"de", "en"}


def test_held_back_third() -> None:
    found = labelled("held_back")
    assert found.precision >= 0.95
    assert found.recall >= 0.95
    assert _measured(found) == _stated("held back")


def test_graded_answers() -> None:
    real_data("ulm_questions")
    found = graded_answers()
    assert found.precision >= 0.95
    assert found.recall >= 0.95
    assert _measured(found) == _stated("graded answers")


@pytest.mark.parametrize(
    "text",
    [
        "You cannot exceed 80 credits.",
        "No evidence of prior knowledge is required.",
        "Unable to attend? Then notify the office.",
        "He said: “I don't know.”",
        "Die Prüfung kann nicht wiederholt werden.",
        "Wenn keine Angaben vorliegen, entscheidet der Ausschuss.",
        "In 2011 it was two exams; for 2004 I have no information.",
    ],
)
def test_traps_are_answers(text: str) -> None:
    assert not is_refusal(text).refused


@pytest.mark.parametrize("text", ["", " \n\t", "???", "…"])
def test_nothing_said_is_no_refusal(text: str) -> None:
    assert not is_refusal(text).refused


def test_the_span_is_the_refusing_clause() -> None:
    text = "Thank you for asking. I do not have that information."
    found = is_refusal(text)
    assert found.span is not None
    assert "do not have" in text[slice(*found.span)]


def test_other_languages_degrade_visibly() -> None:
    french = is_refusal("Je ne peux pas répondre à cette question avec les documents.")
    assert french.language == "other"
    assert not french.reliable


def test_the_quick_check_changes_nothing() -> None:
    """The words that let most answers skip the patterns occur in every response that the patterns catch."""
    for row in ROWS:
        if row["refused"] and not refusal_patterns.TERSE.match(row["text"]):
            assert refusal_patterns.HINT.search(row["text"].replace("’", "'")), row["text"]
