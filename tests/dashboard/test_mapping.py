"""Columns of prepared results in the New-run form: guessed, changed, previewed, started."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import uploads
from tests.dashboard.conftest import Open, fine, words
from tests.dashboard.visits import text_of

DOUBTFUL = b"Query,Label,Code,Remark\nheat,09310000,09310000,x\ncars,34100000,34110000,y\n"


def chosen(app: Open, name: str, content: bytes) -> AppTest:
    """The form with an uploaded file of results chosen in it."""
    at = fine(app("empty", "new"))
    kept = uploads.keep("results", name, content)
    assert kept.path, kept.problem
    at.selectbox(key="set_classifier_type").select("prepared_rag_results").run()
    at.selectbox(key="set_prepared_results").select(str(kept.path)).run()
    return fine(at)


def plain(at: AppTest) -> str:
    return f"{words(at)}\n{text_of(at)}".replace("\\", "")


def role(at: AppTest, column: str) -> str:
    return str(next(each for each in at.selectbox if each.label == column).value)


def choose(at: AppTest, column: str, wanted: str) -> None:
    next(each for each in at.selectbox if each.label == column).select(wanted).run()


def test_columns_that_are_sure_need_no_answer(app: Open) -> None:
    at = chosen(app, "sure.csv", DOUBTFUL)
    assert [role(at, each) for each in ("Query", "Label", "Code", "Remark")] == [
        "query",
        "expected",
        "prediction",
        "",
    ]
    assert "by its values" in plain(at)
    assert "2 rows: 2 results" in plain(at)
    assert at.dataframe[0].value["given"].tolist() == ["09310000", "34110000"]
    assert not at.button(key="start_run").disabled
    assert "column_map" not in plain(at), "what is guessed is not given"


def test_a_changed_role_is_read_anew_and_given_to_the_run(app: Open) -> None:
    at = chosen(app, "swap.csv", DOUBTFUL)
    choose(at, "Label", "prediction")
    choose(at, "Code", "expected")
    assert at.dataframe[0].value["expected"].tolist() == ["09310000", "34110000"]
    assert at.dataframe[0].value["given"].tolist() == ["09310000", "34100000"]
    said = plain(at)
    assert "column_map = {'expected': 'Code', 'prediction': 'Label'}" in said
    choose(at, "Label", "expected")
    assert "Nothing can be scored with these columns" in plain(at)
    assert at.button(key="start_run").disabled


def test_an_unsure_guess_asks(app: Open) -> None:
    at = chosen(app, "unsure.csv", b"Query,Label,Answer\nheat,A,It is A.\ncars,B,It is B.\n")
    assert "not sure" in plain(at)
    assert "may hold expected or prediction" in plain(at)
    assert at.button(key="start_run").disabled
    next(each for each in at.checkbox if each.label.startswith("The columns are right")).check().run()
    assert not at.button(key="start_run").disabled


def test_a_file_that_is_no_table_is_said(app: Open) -> None:
    at = chosen(app, "broken.csv", b'a,b\n1,"2\n')
    assert "The file cannot be read" in plain(at)
    assert at.button(key="start_run").disabled


@pytest.mark.parametrize(
    ("name", "content"), [("a.xlsx", b"no zip"), ("a.parquet", b"x"), ("a.pdf", b"%PDF-")]
)
def test_results_that_are_none_are_refused(app: Open, name: str, content: bytes, tmp_path: Path) -> None:
    app("empty", "new")
    assert uploads.keep("results", name, content).problem
