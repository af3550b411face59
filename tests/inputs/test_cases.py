"""Questions to cases: what is read, and that everything wrong is said at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, Problem
from core.inputs.cases import LoadedCases, cases_from, load_questions
from core.inputs.question_types import question_type
from core.records import Evidence
from tests.real_data import real_data


def loaded(*entries: Any) -> LoadedCases:
    return cases_from(list(entries), name="test.json", suite="test")


def problems(*entries: Any) -> list[str]:
    with pytest.raises(InputError) as error:
        loaded(*entries)
    return [str(problem) for problem in error.value.problems]


def test_only_the_question_is_mandatory() -> None:
    (case,) = loaded({"question": "What is due?"}).cases
    assert (case.id, case.query, case.gold_answer, case.answerable, case.cluster) == (
        "q1",
        "What is due?",
        None,
        None,
        None,
    )


def test_all_keys_of_the_published_format_are_read() -> None:
    (case,) = loaded(
        {
            "id": 7,
            "question": "Welche Frist gilt?",
            "gold_answer": "Drei Tage",
            "expected_keywords": ["Frist", "drei Tage"],
            "doc_id": "ordnung",
            "doc_path": "a\\b/Pru\u0308fung.pdf",
            "program_ids": ["inf"],
            "program_name": "Informatik",
            "year": 2014,
            "is_answerable": "ja",
            "must_have_triples": [
                ["Frist", "beträgt", "drei Tage"],
                {"subject": "a", "predicate": "b", "object": "c"},
            ],
            "evidence": [{"page": 3, "quote": "drei Tage"}, {"doc_path": "c.pdf", "start": 4, "end": 9}],
            "near_miss": "zwei Tage",
        }
    ).cases
    assert (case.id, case.doc_paths, case.cluster) == ("7", ("a/b/Prüfung.pdf",), "a/b/Prüfung.pdf")
    assert case.answerable is True
    assert case.question_type == "relation"
    assert case.evidence == (
        Evidence(doc_path="a/b/Prüfung.pdf", page=3, quote="drei Tage"),
        Evidence(doc_path="c.pdf", start=4, end=9),
    )
    assert case.metadata["year"] == 2014
    assert case.metadata["program_names"] == ["Informatik"]
    assert [triple["evidence_doc_id"] for triple in case.metadata["must_have_triples"]] == [
        "ordnung",
        "ordnung",
    ]
    assert case.metadata["near_miss"] == "zwei Tage"


def test_everything_wrong_is_listed_at_once() -> None:
    found = problems(
        {"id": "a", "question": "Q?"},
        {"id": "a", "question": "  "},
        {"question": 1.5, "expected_keywords": "one", "year": "soon", "answerable": "perhaps"},
        "text",
        {"id": True, "question": ["x"]},
        {
            "id": "e",
            "question": "Q?",
            "evidence": [{"page": 0, "quote": ""}, {"doc_path": "x", "start": 5, "end": 5}, 3],
        },
        {"id": "t", "question": "Q?", "must_have_triples": [["a", "b"]], "qrels": {"x": -1}},
    )
    text = "\n".join(found)
    for part in (
        "questions[0], questions[1]: have the same id 'a'",
        "questions[1] (id a): question is empty",
        "questions[2] (id q3): expected_keywords must be a list",
        "questions[2] (id q3): year must be",
        "questions[2] (id q3): answerable must be true or false",
        "questions[3]: must be an object",
        "id must be a text or a whole number",
        "questions[4] (id q5): question must be a text, not list",
        "evidence[0]: doc_path is missing",
        "evidence[0]: quote must be",
        "evidence[0]: page must be",
        "evidence[1]: start and end",
        "evidence[2] must be an object",
        "must_have_triples[0] must name",
        "qrels must map",
    ):
        assert part in text


def test_unknown_keys_are_kept_and_reported_with_the_nearest_known_one() -> None:
    result = loaded(
        {"question": "Q?", "gold_anwser": "x", "evidence": {"doc_path": "a", "qoute": "x", "quote": "y"}}
    )
    assert result.cases[0].metadata["gold_anwser"] == "x"
    assert any(
        "'gold_anwser'" in notice and "did you mean 'gold_answer'" in notice for notice in result.notices
    )
    assert any("'evidence.qoute'" in notice and "did you mean 'quote'" in notice for notice in result.notices)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"answerable": True}, True),
        ({"answerable": "nein"}, False),
        ({"is_answerable": 0}, False),
        ({"unanswerable": True}, False),
        ({"unanswerable": "no"}, True),
        ({"unanswerable": "unanswerable"}, False),
        ({"answerable": None, "is_answerable": "y"}, True),
        ({"answerable": False, "unanswerable": False}, False),
        ({"question_type": "unanswerable"}, False),
        ({}, None),
    ],
)
def test_answerability_is_read_from_the_first_key_present(
    entry: dict[str, Any], expected: bool | None
) -> None:
    assert loaded({"question": "Q?", **entry}).cases[0].answerable is expected


@pytest.mark.parametrize(
    ("question", "given_keys", "expected"),
    [
        ("Anything", {"task_type": "Multi_Hop"}, "multi_hop"),
        ("Give an overview and compare both", {"cpv_code": "45000000"}, "taxonomy"),
        ("Gib einen Überblick über die Fristen", {}, "summary_global"),
        ("What are the requirements and deadlines?", {}, "relation"),
        ("Welche Anmeldefrist gilt?", {}, "relation"),
        ("Wer prüft und wer beisitzt?", {}, "multi_hop"),
        ("Who?", {"must_have_triples": [1, 2]}, "multi_hop"),
        ("Who is the dean?", {}, "single_hop"),
    ],
)
def test_the_type_of_a_question(question: str, given_keys: dict[str, Any], expected: str) -> None:
    assert question_type(question, given_keys) == expected


@pytest.mark.parametrize("ending", ["json", "jsonl", "yaml", "csv"])
def test_one_suite_in_four_formats_has_one_digest(tmp_path: Path, ending: str) -> None:
    entries = [
        {
            "id": "a",
            "question": "Wie lange?",
            "gold_answer": "6 Semester; höchstens",
            "expected_keywords": ["6", "Semester"],
        },
        {"id": "b", "question": "Wo?", "answerable": False},
    ]
    texts = {
        "json": json.dumps({"questions": entries}),
        "jsonl": "\n".join(json.dumps(entry) for entry in entries) + "\n",
        "yaml": "questions:\n" + "\n".join(f"- {json.dumps(entry, ensure_ascii=False)}" for entry in entries),
        "csv": "id;question;gold_answer;expected_keywords;answerable\n"
        'a;Wie lange?;"6 Semester; höchstens";6|Semester;\nb;Wo?;;;false\n',
    }
    file = tmp_path / f"suite.{ending}"
    file.write_text(texts[ending], encoding="utf-8-sig")
    result = load_questions(file)
    assert result.digest == loaded(*entries).digest
    assert result.suite == "suite"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"questions": [', "not valid JSON"),
        (b'{"question": "x"}', "holds no 'questions'"),
        (b'{"questions": "x"}', "must be a list"),
        (b"[]", "the list is empty"),
        (b'[{"question": NaN}]', "NaN is not a JSON value"),
        (b'[{"question": "\xfc"}]', "cannot be read as text"),
        (b"[" * 100_000, "nested too deeply|not valid JSON"),
    ],
)
def test_files_that_cannot_be_used_say_why(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "q.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match=message):
        load_questions(file)


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_questions(tmp_path / "none.json")


def test_the_digest_knows_golds_and_ids_but_not_notes() -> None:
    base = {"id": "a", "question": "Q?", "gold_answer": "6"}
    same = loaded({**base, "notes": "n", "difficulty": "hard"}).digest
    assert same == loaded(base).digest
    for change in (
        {"gold_answer": "8"},
        {"id": "b"},
        {"question": "R?"},
        {"answerable": True},
        {"expected_keywords": ["x"]},
    ):
        assert loaded({**base, **change}).digest != same


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8), lambda inner: st.lists(inner, max_size=3)
)
KEYS = st.sampled_from(
    ["id", "question", "gold_answer", "evidence", "doc_paths", "year", "answerable", "must_have_triples", "x"]
)


@given(st.lists(st.dictionaries(KEYS, JSON, max_size=5), max_size=4))
def test_any_entries_give_cases_or_problems(entries: list[dict[str, Any]]) -> None:
    ids: set[str] = set()
    found: tuple[Problem, ...] = ()
    try:
        ids = {case.id for case in cases_from(entries, name="x", suite="x").cases}
    except InputError as error:
        found = error.problems
    assert bool(found) != bool(ids)
    assert found or len(ids) == len(entries)


def test_the_real_questions_are_read_without_a_notice() -> None:
    result = load_questions(real_data("ulm_questions", "questions_by_file.json"))
    assert (len(result.cases), result.notices, result.suite) == (60, (), "questions_by_file")
    assert sum(case.answerable is False for case in result.cases) == 9
    assert sum(len(case.evidence) for case in result.cases) == 89
    assert all(case.language in ("de", "en") for case in result.cases)
