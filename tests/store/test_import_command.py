"""`plumbline import`: all or nothing, and the runs can be used like any other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from core import api
from core.cli import cli
from core.errors import ConfigError, EvalError
from core.store.runs import Store
from tests.real_data import real_data


def bring_in(store: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["import", *arguments, "--store-path", str(store)])


def test_a_table_by_mapping(tmp_path: Path) -> None:
    table = tmp_path / "theirs.csv"
    table.write_text(
        "nr;frage;antwort;soll\n1;Wie lange?;6 Semester;6 Semester\n2;Wo?;Ulm;Berlin\n", encoding="utf-8"
    )
    store = tmp_path / "plumbline.db"
    done = bring_in(
        store, str(table), "--format", "generic", "--map", "id=nr", "--map", "query=frage", "--map", "answer=antwort",
        "--map", "expected=soll", "--name", "theirs", "--suite", "faq",
    )  # fmt: skip
    assert done.exit_code == 0, (done.output, done.exception)
    with Store(store, readonly=True) as opened:
        run = opened.run("theirs")
        assert (run.suite, run.status, run.n_cases) == ("faq", "sealed", 2)
        assert [output.text for output in opened.outputs(run.id)] == ["6 Semester", "Ulm"]
        assert opened.check() == []


def test_a_wrong_file_leaves_the_store_untouched(tmp_path: Path) -> None:
    store = tmp_path / "plumbline.db"
    good = tmp_path / "good.csv"
    good.write_text("id,question,answer\n1,Wie?,So\n", encoding="utf-8")
    assert bring_in(store, str(good)).exit_code == 0
    before = store.read_bytes()
    for name, content in (
        ("bad.json", "{"),
        ("bad.jsonl", '{"question": "a"}\n{"question": \n'),
        ("bad.csv", "a,b\n1\n"),
    ):
        wrong = tmp_path / name
        wrong.write_text(content, encoding="utf-8")
        done = bring_in(store, str(wrong))
        assert isinstance(done.exception, EvalError), name
        assert done.exception.exit_code == 2
    done = bring_in(store, str(good), "--map", "nonsense")
    assert "ROLE=COLUMN" in str(done.exception)
    assert store.read_bytes() == before


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("path", "n"),
    [
        ("results_deepeval_promptfoo/deepeval_test_run_sample.json", 1),
        ("results_ragas/diaure_french_events_ragas.csv", 6),
        ("ragchecker_meta/checking_outputs_example.json", 2),
        ("squad_small/small.json", 51),
        ("ranx/run.json", 2),
        ("results_xlsx/yassine_evaluation_results.xlsx", 25),
    ],
)
def test_real_files_become_runs(tmp_path: Path, path: str, n: int) -> None:
    store = tmp_path / "plumbline.db"
    done = bring_in(store, str(real_data(*path.split("/"))), "--name", "theirs")
    assert done.exit_code == 0, (done.output, done.exception)
    with Store(store, readonly=True) as opened:
        run = opened.run("theirs")
        assert (run.status, run.n_cases, len(opened.cases(run.id))) == ("sealed", n, n)
        assert json.dumps(run.summary)
        assert opened.check() == []


@pytest.mark.real_data
def test_an_imported_ranking_is_scored_as_trec_eval_does(tmp_path: Path) -> None:
    store = tmp_path / "plumbline.db"
    run, qrels = real_data("trec_eval", "results.test"), real_data("trec_eval", "qrels.test")
    assert bring_in(store, str(run), "--map", f"qrels={qrels}", "--name", "theirs").exit_code == 0
    with Store(store) as opened:
        made = api.score("theirs", store=opened)
        found = {row.metric: row.mean for row in made.aggregates if not row.group_by}
        results = list(opened.results(made.id))
    official = dict(
        line.split()[::2] for line in real_data("trec_eval", "out.test.a").read_text().splitlines()
    )
    assert found["average_precision"] == pytest.approx(float(official["map"]), abs=5e-5)
    assert found["r_precision"] == pytest.approx(float(official["Rprec"]), abs=5e-5)
    assert {(result.verdict.value, result.reasons) for result in results} == {
        ("WEAK", ("unchecked", "rankings_only"))
    }


def test_an_imported_answer_gets_a_verdict(tmp_path: Path) -> None:
    table = tmp_path / "theirs.csv"
    table.write_text(
        "id,question,answer,gold_answer\n1,How long?,6 terms,6 terms\n2,Where?,,Ulm\n", encoding="utf-8"
    )
    store = tmp_path / "plumbline.db"
    assert bring_in(store, str(table), "--name", "theirs").exit_code == 0
    with Store(store) as opened:
        made = api.score("theirs", store=opened)
        assert (made.parent_id, made.kind) == (opened.run("theirs").id, "prepared_rag_results")
        assert [result.verdict.value for result in opened.results(made.id)] == ["PASS", "FAIL"]


def test_a_run_folder_brought_in_elsewhere_is_scored_without_its_documents(tmp_path: Path) -> None:
    output = tmp_path / "out"
    assert CliRunner().invoke(cli, ["demo", "--output-dir", str(output)]).exit_code == 0
    store = tmp_path / "elsewhere.db"
    assert bring_in(store, str(output / "demo"), "--name", "theirs").exit_code == 0
    with Store(store) as opened:
        made = api.score("theirs", store=opened)
    assert made.kind == "document_qa"
    assert made.verdicts["ERROR"] == 0
    assert made.verdicts["PASS"] > 10


def test_an_imported_audit_has_nothing_to_score_again(tmp_path: Path) -> None:
    report = {
        "tests": [{"name": "t", "evaluator": "rag_quality", "verdict": "PASS", "artifacts": {"cases": []}}]
    }
    (tmp_path / "report.json").write_text(json.dumps(report), encoding="utf-8")
    store = tmp_path / "plumbline.db"
    assert bring_in(store, str(tmp_path / "report.json"), "--name", "theirs").exit_code == 0
    with Store(store) as opened, pytest.raises(ConfigError, match="no tests to apply again"):
        api.score("theirs", store=opened)
