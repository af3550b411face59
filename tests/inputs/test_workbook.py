"""Prepared results: wide, long, answers, several models; roles of columns; codes and their zeros."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.errors import ConfigError, InputError
from core.inputs.column_names import split_rank
from core.inputs.columns import column_map, guess_mapping
from core.inputs.table_files import Table
from core.inputs.workbook import PreparedSet, load_prepared
from tests.inputs.test_tables import as_csv, write_xlsx
from tests.real_data import real_data


def table(*columns: str, rows: list[tuple[Any, ...]] | None = None) -> Table:
    rows = rows or [tuple("1" for _ in columns)]
    return Table(columns, tuple(rows), tuple(range(2, len(rows) + 2)))


def one(
    path: Path, rows: list[list[Any]], mapping: dict[str, Any] | None = None, width: int | None = None
) -> PreparedSet:
    file = path / "results.csv"
    file.write_text(as_csv(rows), encoding="utf-8", newline="")
    (found,) = load_prepared(file, mapping, width=width)
    return found


def ranking(found: PreparedSet, index: int = 0) -> list[tuple[str, float | None]]:
    return [(hit.id, hit.score) for hit in found.outputs[index].hits]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Predicted CPV #2", ("predictedcpv", 2)),
        ("candidate_3", ("candidate", 3)),
        ("2. Candidate", ("candidate", 2)),
        ("rank3_score", ("score", 3)),
        ("Predicted CPV Rank 2 Score", ("predictedcpvscore", 2)),
        ("Top 3 Prediction", ("prediction", 3)),
        ("Query (BANF)", ("querybanf", None)),
        ("top1_predicted_cpv", ("top1predictedcpv", None)),
        ("cpv2008", ("cpv2008", None)),
        ("Réponse Attendue", ("reponseattendue", None)),
    ],
)
def test_names_and_ranks_of_columns(name: str, expected: tuple[str, int | None]) -> None:
    assert split_rank(name) == expected


def test_each_column_has_one_role() -> None:
    guess = guess_mapping(table("id", "Query", "Label", "Prediction", "Answer", "Score"))
    assert guess.roles["expected"] == ("Label",)
    assert guess.roles["prediction"] == ("Prediction",)
    assert guess.roles["answer"] == ("Answer",)
    assert guess.sure
    columns = [column for role in guess.roles for column in guess.columns(role)]
    assert len(columns) == len(set(columns)) == 6


def test_a_column_of_answers_with_codes_is_a_prediction() -> None:
    assert guess_mapping(table("query", "Answer", rows=[("q", "45000000-7")])).roles["prediction"] == (
        "Answer",
    )
    assert guess_mapping(table("query", "Answer", rows=[("q", "Yes, it is.")])).roles["answer"] == ("Answer",)


def test_a_guess_that_is_not_sure_says_what_it_might_be_and_a_mapping_settles_it() -> None:
    doubtful = table("Query", "Label")
    guess = guess_mapping(doubtful)
    assert not guess.sure
    assert "expected or prediction" in guess.doubts[0]
    assert guess.candidates["prediction"] == ("Label",)
    settled = guess_mapping(doubtful, {"prediction": "label"})
    assert settled.sure
    assert settled.roles["prediction"] == ("Label",)


def test_each_column_says_why_it_has_its_role() -> None:
    doubtful = table("Query", "Label", "Answer", "Remark", rows=[("q", "A", "Yes, it is.", "x")])
    assert guess_mapping(doubtful).grounds == {
        "Query": "name",
        "Label": "unsure",
        "Answer": "content",
        "Remark": "",
    }
    assert guess_mapping(doubtful, {"expected": "Remark"}).grounds["Remark"] == "given"


def test_values_that_contradict_a_name_leave_the_column_out() -> None:
    rows = [(f"q{n}", "A", "good" if n else "0.4", f"run-{n}") for n in range(4)]
    guess = guess_mapping(table("Query", "Prediction", "Score", "run_id", rows=rows))
    assert guess.columns("score") == () == guess.columns("model")
    assert any("'Score' holds texts" in doubt for doubt in guess.doubts)
    assert any("'run_id' differs in every row" in doubt for doubt in guess.doubts)
    numbers = [("q", "A", "0,4", "m"), ("r", "A", "[0.1, 0.2]", "m"), ("s", "A", None, "n")]
    assert guess_mapping(table("Query", "Prediction", "Score", "run_id", rows=numbers)).sure


WANTED = [
    (("Query", "Label", "Code", "Score"), {"Label": "prediction", "Code": "expected"}),
    (("Query", "Label", "Prediction", "Answer"), {"Label": ""}),
    (("Query", "Label", "Prediction", "Answer"), {"Prediction": "", "Label": "prediction"}),
    (("Frage", "Vorschlag 2 neu", "Vorschlag 1 neu"), {"Vorschlag 2 neu": "prediction", "Vorschlag 1 neu": "prediction"}),
    (("Query", "Gold", "candidate_1", "candidate_3", "score_1", "score_3"), {"score_1": "", "score_3": ""}),
    (("Query", "Vector Score", "RRF Score", "Predicted", "Note"), {"Note": "expected"}),
    (("Query", "Gold", "Predicted"), {}),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "wanted"), WANTED)
def test_a_mapping_gives_each_column_the_wanted_role(
    columns: tuple[str, ...], wanted: dict[str, str]
) -> None:
    given = table(*columns)
    first = guess_mapping(given)
    second = guess_mapping(given, column_map(given, first, wanted))
    for column in columns:
        assert second.role_of(column) == wanted.get(column, first.role_of(column)), column
    if "Vector Score" in columns:
        assert second.roles["score"] == first.roles["score"], "alternatives stay alternatives"
    if "Frage" in columns:
        assert second.ranked["prediction"] == {1: "Vorschlag 1 neu", 2: "Vorschlag 2 neu"}
    assert wanted or not column_map(given, first, wanted)


def test_impossible_mappings_are_listed() -> None:
    with pytest.raises(ConfigError) as error:
        guess_mapping(
            table("Query", "Label"),
            {"expected": "Lable", "gold": "Label", "query": "Label", "prediction": "Label"},
        )
    text = str(error.value)
    assert "did you mean 'Label'" in text
    assert "unknown role 'gold'" in text or "unknown role" in text
    assert "given two roles" in text


def test_a_wide_workbook_with_numbers_as_codes(tmp_path: Path) -> None:
    file = write_xlsx(
        tmp_path / "wide.xlsx",
        [
            [
                "Record ID",
                "Query (BANF)",
                "Ground Truth CPV",
                "Predicted CPV #1",
                "Predicted CPV #2",
                "Score 1",
                "Score 2",
            ],
            ["a", "heat", 9310000, 9310000, "45000000-7", 0.9, "0,5"],
            ["b", "cars", "34100000", "34110000; 34100000", None, 0.8, None],
        ],
    )
    (found,) = load_prepared(file)
    assert found.cases[0].gold_codes == ("09310000",)
    assert ranking(found) == [("09310000", 0.9), ("45000000", 0.5)]
    assert ranking(found, 1) == [("34110000", 0.8), ("34100000", 0.8)]
    assert any("lost leading zeros" in notice for notice in found.notices)
    assert found.outputs[0].raw["row"]["Predicted CPV #1"] == 9310000


def test_other_labels_are_never_padded(tmp_path: Path) -> None:
    found = one(tmp_path, [["query", "gold", "prediction"], ["a", "3", "12"], ["b", "sports", "Sports "]])
    assert [case.gold_codes for case in found.cases] == [("3",), ("sports",)]
    assert ranking(found) == [("12", None)]
    found = one(tmp_path, [["query", "gold", "prediction"], ["a", "3", "12"]], width=3)
    assert (found.cases[0].gold_codes, ranking(found)) == (("003",), [("012", None)])


def test_a_long_table_is_ranked_by_rank_then_score_then_row(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["id", "query", "gold", "rank", "candidate", "score"],
        ["a", "q", "x", 2, "x", 0.3],
        ["a", "", "", 1, "y", 0.1],
        ["b", "r", "z", "", "u", 0.2],
        ["b", "r", "", "", "v", 0.7],
        ["b", "r", "", "", "w", ""],
    ]
    found = one(tmp_path, rows)
    assert ranking(found) == [("y", 0.1), ("x", 0.3)]
    assert ranking(found, 1) == [("v", 0.7), ("u", 0.2), ("w", None)]
    assert [case.query for case in found.cases] == ["q", "r"]


def test_missing_scores_stay_missing_and_confidence_needs_its_name(tmp_path: Path) -> None:
    found = one(tmp_path, [["query", "prediction", "confidence"], ["a", "x", 0.8], ["b", "y", ""]])
    assert [output.confidence for output in found.outputs] == [0.8, None]
    found = one(tmp_path, [["query", "prediction", "score"], ["a", "x", 0.8]])
    assert found.outputs[0].confidence is None


def test_answers_with_contexts_and_foreign_scores(tmp_path: Path) -> None:
    rows = [
        ["question", "contexts", "answer", "ground_truth", "faithfulness", "Difficulty"],
        ["Q?", "['one text', 'two text']", "A", "G", "0,9", "hard"],
        ["R?", "[]", "B", "", "", ""],
    ]
    found = one(tmp_path, rows)
    first, second = found.outputs
    assert [hit.text for hit in first.hits] == ["one text", "two text"]
    assert (first.text, found.cases[0].gold_answer, found.cases[0].metadata) == (
        "A",
        "G",
        {"difficulty": "hard"},
    )
    assert first.raw["foreign_scores"] == {"faithfulness": 0.9}
    assert (second.hits, second.raw.get("foreign_scores"), found.cases[1].gold_answer) == ((), None, None)


def test_several_models_become_several_sets_and_repeats_repeats(tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    rows: list[list[Any]] = [
        ["id", "question", "model", "response"],
        *[[i, f"Q{i}", model, f"A{i}"] for model in ("m1", "m2") for i in (1, 2, 2)],
    ]
    file.write_text(as_csv(rows), encoding="utf-8", newline="")
    sets = load_prepared(file)
    assert [each.name for each in sets] == ["runs m1", "runs m2"]
    assert [[(o.case_id, o.repeat) for o in each.outputs] for each in sets] == [
        [("1", 0), ("2", 0), ("2", 1)]
    ] * 2
    assert sets[0].digest != sets[1].digest


def test_a_row_that_failed_is_a_failure(tmp_path: Path) -> None:
    found = one(tmp_path, [["question", "answer", "error"], ["Q", "", "timed out"], ["R", "A", ""]])
    assert found.outputs[0].failure is not None
    assert found.outputs[0].failure.message == "timed out"
    assert found.outputs[1].failure is None


def test_wrong_cells_are_named_by_row_and_column(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["id", "query", "rank", "candidate", "score"],
        ["a", "q", "first", "x", "high"],
        ["a", "other", 2, "y", 0.1],
    ]
    with pytest.raises(InputError) as error:
        one(tmp_path, rows)
    text = str(error.value)
    assert "column 'rank' (line 2): must be a whole number" in text
    assert "column 'score' (line 2): must be a number, not 'high'" in text
    assert "column 'id' (line 3): 'a' stands for another question" in text


def test_a_table_without_results_is_refused_with_its_columns(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column holds predictions"):
        one(tmp_path, [["question", "weather"], ["q", "sunny"]])
    found = one(tmp_path, [["question", "weather"], ["q", "sunny"]], {"answer": "Weather"})
    assert found.outputs[0].text == "sunny"


def test_ranks_given_by_the_user_follow_the_order_of_the_columns(tmp_path: Path) -> None:
    rows = [["question", "best", "second"], ["q", "x", "y"]]
    assert ranking(one(tmp_path, rows, {"prediction": ["best", "second"]})) == [("x", None), ("y", None)]


@pytest.mark.parametrize(
    "parts",
    [("results_xlsx", "yassine_evaluation_results.xlsx"), ("telecom_faq_fr", "evaluation_results.xlsx")],
)
def test_real_workbooks_of_answers(parts: tuple[str, str]) -> None:
    (found,) = load_prepared(real_data(*parts))
    assert len(found.cases) == len(found.outputs) == 25
    assert all(case.query and case.gold_answer for case in found.cases)
    assert {output.raw["foreign_scores"]["Score"] for output in found.outputs} <= {0.0, 1.0}
    assert all(output.confidence is None for output in found.outputs)
