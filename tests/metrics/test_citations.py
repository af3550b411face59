"""Citations parsed from the answer and checked (ALCE, with dangling ones counted)."""

from __future__ import annotations

import re

import pytest

from core.metrics.citations import citation_scores, cited_statements, mentions
from core.records import Citation, Hit

SOURCES = {
    "c1": "Die Regelstudienzeit beträgt sechs Semester.",
    "c2": "Das Praktikum dauert acht Wochen.",
    "c3": "Der Antrag ist beim Studiensekretariat zu stellen.",
}
HITS = tuple(Hit(id=key, rank=rank, text=text) for rank, (key, text) in enumerate(SOURCES.items(), 1))


def _scores(answer: str, citations: tuple[Citation, ...] = ()) -> dict[str, float | None]:
    return citation_scores(cited_statements(answer, citations, HITS, SOURCES), SOURCES, HITS)[0]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("So ist es [1].", [("1",)]),
        ("So ist es [1, 3] und [2-4].", [("1", "3"), ("2", "3", "4")]),
        ("So [src:doc-7], so [doc: a; b] und so 【2】.", [("doc-7",), ("a", "b"), ("2",)]),
        ("Kein [Hinweis] und kein (1).", []),
    ],
)
def test_markers(text: str, names: list[tuple[str, ...]]) -> None:
    assert [each.names for each in mentions(text)] == names


def test_a_pattern_of_ones_own() -> None:
    pattern = re.compile(r"\(vgl\. (?P<ids>[^)]+)\)")
    assert [each.names for each in mentions("So ist es (vgl. c1).", pattern)] == [("c1",)]


def test_right_citations() -> None:
    scores = _scores("Die Regelstudienzeit beträgt sechs Semester [1]. Das Praktikum dauert acht Wochen. [2]")
    assert scores["citation_recall"] == 1.0
    assert scores["citation_precision"] == 1.0
    assert scores["uncited_claim_rate"] == 0.0
    assert scores["dangling_citation_count"] == 0.0


def test_the_wrong_source_is_misattributed() -> None:
    scores = _scores("Die Regelstudienzeit beträgt sechs Semester [3].")
    assert scores["citation_recall"] == 0.0
    assert scores["citation_precision"] == 0.0
    assert scores["correct_but_misattributed"] == 1.0


def test_a_dangling_citation_counts_as_imprecise() -> None:
    scores = _scores("Die Regelstudienzeit beträgt sechs Semester [1][9].")
    assert scores["citation_recall"] == 0.0
    assert scores["citation_precision"] == 0.5
    assert scores["dangling_citation_count"] == 1.0


def test_an_irrelevant_second_source_costs_precision() -> None:
    scores = _scores("Die Regelstudienzeit beträgt sechs Semester [1][3].")
    assert scores["citation_recall"] == 1.0
    assert scores["citation_precision"] == 0.5


def test_no_citation_at_all() -> None:
    found = cited_statements("Die Regelstudienzeit beträgt sechs Semester.", (), HITS, SOURCES)
    scores, reasons = citation_scores(found, SOURCES, HITS)
    assert scores["citation_recall"] == 0.0
    assert scores["citation_precision"] is None
    assert reasons["citation_precision"] == "no_citations"
    assert scores["uncited_claim_rate"] == 1.0


def test_citations_given_beside_the_text() -> None:
    given = (Citation(id="1", source_id="c2", marker="[1]"),)
    assert _scores("Das Praktikum dauert acht Wochen [1].", given)["citation_recall"] == 1.0
    loose = (Citation(id="1", source_id="c2"),)
    assert _scores("Das Praktikum dauert acht Wochen.", loose)["citation_recall"] == 1.0
    spanned = (Citation(id="1", source_id="c2", span="acht Wochen"),)
    assert (
        _scores("Das Praktikum dauert acht Wochen. Es ist unbenotet.", spanned)["uncited_claim_rate"] == 0.5
    )


@pytest.mark.parametrize("answer", ["", " ", "[1]", "..."])
def test_nothing_said_is_none(answer: str) -> None:
    scores, reasons = citation_scores(cited_statements(answer, (), HITS, SOURCES), SOURCES, HITS)
    assert set(scores.values()) == {None}
    assert set(reasons.values()) == {"no_claims"}
