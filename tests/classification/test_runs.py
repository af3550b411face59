"""Whole runs: another tree, examples and leakage, prepared workbooks, several models, scoring again."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from openpyxl import Workbook

from core import api, pipeline
from core.cli.classify import ingest_notices, prepare_cpv
from core.cli.display import print_run
from core.errors import ConfigError
from core.records import Run
from core.settings import load_settings
from core.store.runs import Store
from tests.real_data import ROOT, real_data

TINY = ROOT / "data" / "tiny_catalog"
SCHOOL = "Renovation of the roof and the windows of the primary school in the old town"
BRIDGE = "Repair of the steel bridge over the river at the northern entrance of the harbour"
POWER = "Electric power for the street lighting of seven municipalities for a period of three years"
EXPORT = ["ID", "PUB_NUMBER", "TITLE", "TEXT", "BUYER", "LANGUAGE", "CONTRACT_TYPE", "MAIN_CPV"]
CODES_CSV = "code,label\n45000000,Construction work\n45200000,Civil engineering\n45214000,School buildings\n09310000,Electricity\n"


def _run(folder: Path, **settings: Any) -> tuple[Run, Store]:
    store = Store(folder / "runs.db")
    chosen = {"output_dir": str(folder / "out"), "cache_dir": str(folder / "cache"), **settings}
    return pipeline.run(load_settings(chosen), store=store), store


def test_another_tree_runs_through_unchanged_code(tmp_path: Path) -> None:
    run, store = _run(
        tmp_path,
        classifier_type="ted_cpv",
        cpv_catalog=str(TINY / "codes.csv"),
        cpv_queries=str(TINY / "queries.json"),
        top_k=5,
    )
    classes = run.summary["classes"]
    assert classes["hierarchy_scheme"] == "catalog"
    assert classes["n_scored"] == 20
    assert [level["name"] for level in classes["by_level"]] == ["level_1", "level_2", "level_3"]
    assert classes["by_level"][0]["accuracy"] >= classes["by_level"][2]["accuracy"]
    assert classes["top_k_curve"] == sorted(classes["top_k_curve"])
    tables = store.attribution_tables(run.id)
    assert {"per_class", "confusion_code", "confusion_level_1", "risk_coverage", "by_language"} <= set(tables)
    confusion = store.attribution(run.id, "confusion_level_1")
    assert sum(row["n"] for row in confusion) == 20
    per_class = store.attribution(run.id, "per_class")
    assert sum(row["support"] for row in per_class) == 20
    assert sum(row["correct"] for row in per_class) == run.verdicts["PASS"]


def test_the_published_files_hold_the_classification(tmp_path: Path) -> None:
    run, _ = _run(
        tmp_path,
        classifier_type="ted_cpv",
        cpv_catalog=str(TINY / "codes.csv"),
        cpv_queries=str(TINY / "queries.json"),
    )
    folder = Path(run.folder or "")
    rows = list(csv.DictReader((folder / "rag_results.csv").open(encoding="utf-8")))
    assert len(rows) == 20
    for row in rows:
        right = row["exact_top1_match"] in ("True", "1.0", "1", "true")
        assert (row["failure_mode"] == "ok") == (row["auto_flag"] == "correct") == right
        assert row["prediction_confidence"] == ""
    summary = json.loads((folder / "run_summary.json").read_text("utf-8"))
    ranking = summary["classifier"]["ranking_metrics"]
    assert ranking["n_exact_top1"] == run.verdicts["PASS"]
    assert summary["classifier"]["cpv_diagnostics"]["n_errors"] == run.verdicts["FAIL"]
    assert (folder / "leakage_report.csv").read_text("utf-8").startswith("question_id,kind,leaks")


def _cpv(folder: Path, rows: list[list[str]]) -> dict[str, str]:
    (folder / "codes.csv").write_text(CODES_CSV, encoding="utf-8")
    with (folder / "notices.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([EXPORT, *rows])
    queries = [
        {"id": "10-2024", "query": SCHOOL, "gold_cpv_code": "45214000"},
        {"id": "11-2024", "query": BRIDGE, "gold_cpv_code": "45200000"},
        {"id": "12-2024", "query": "Estonia – Electricity – " + POWER, "gold_cpv_code": "09310000"},
        {"id": "13-2024", "query": "Something else entirely for the museum", "gold_cpv_code": "45000000"},
    ]
    (folder / "queries.json").write_text(json.dumps(queries), encoding="utf-8")
    return {
        "classifier_type": "ted_cpv",
        "cpv_catalog": str(folder / "codes.csv"),
        "cpv_queries": str(folder / "queries.json"),
        "cpv_notices": str(folder / "notices.csv"),
    }


def _notice(number: str, title: str, code: str, text: str = "") -> list[str]:
    return [number, number, title, text, "Town", "EN", "works", code]


def test_the_tests_own_notices_are_no_examples_and_leaks_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        _notice("10-2024", SCHOOL, "45214000"),  # the test's own notice
        _notice("90-2023", SCHOOL, "45214000"),  # the very text under another number
        _notice("91-2023", BRIDGE + " of the town", "45200000"),  # the query inside a longer text
        _notice("92-2023", "Painting of the corridors of the town hall in white and blue", "45000000"),
    ]
    run, store = _run(tmp_path, **_cpv(tmp_path, rows), cpv_notice_examples_channel=True)
    leakage = run.summary["leakage"]
    assert leakage["self_excluded"] == {"same_notice": 1, "same_text": 1}
    assert leakage["n_training_texts"] == 2
    found = {(row["question_id"], row["kind"]): row for row in store.attribution(run.id, "leakage_report")}
    assert found["11-2024", "query_in_example"]["example_notice"] == "91-2023"
    assert ("12-2024", "label_in_title") in found
    assert {case for case, kind in found if kind == "no_training_text"} == {"10-2024", "12-2024"}
    assert leakage["n_leaking"] == 2
    assert leakage["headline_all"]["exact_top1_match"]["n"] == 4
    assert leakage["headline_without_leaking"]["exact_top1_match"]["n"] == 2
    assert leakage["headline_leaking"]["exact_top1_match"]["mean"] == 1.0
    print_run(run)
    said = " ".join(capsys.readouterr().out.split())
    assert "leakage: the answer of 2 queries may have been given away: accuracy with them" in said
    assert "without them" in said


def test_without_self_exclusion_the_leak_is_there_and_said(tmp_path: Path) -> None:
    rows = [_notice("10-2024", SCHOOL, "45214000")]
    run, store = _run(
        tmp_path, **_cpv(tmp_path, rows), cpv_notice_examples_channel=True, disable_self_exclusion=True
    )
    assert run.summary["leakage"]["counts_by_kind"]["exact_example"] == 1
    assert any("self-exclusion is off" in notice for notice in run.summary["notices"])
    result = next(each for each in store.results(run.id) if each.case_id == "10-2024")
    assert result.verdict == "PASS"


def test_examples_help_where_labels_do_not(tmp_path: Path) -> None:
    rows = [_notice("92-2023", "Mending of a river bridge near the harbour and its steel parts", "45200000")]
    _, store = _run(tmp_path, **_cpv(tmp_path, rows), cpv_notice_examples_channel=True, run_name="with")
    run, _ = _run(tmp_path, **_cpv(tmp_path, rows), run_name="without")
    with_id = next(each.id for each in store.runs() if each.name == "with")
    verdicts = {
        name: next(r.verdict for r in store.results(each) if r.case_id == "11-2024")
        for name, each in (("with", with_id), ("without", run.id))
    }
    assert verdicts == {"with": "PASS", "without": "FAIL"}


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"cross_encoder_rerank": True, "cross_encoder_model": "no/such-model"}, "is not on this machine"),
        ({"llm_rerank": True}, "ANTHROPIC_API_KEY is not set"),
        ({"query_augmentation": "translate_en"}, "ANTHROPIC_API_KEY is not set"),
        ({"cpv_notice_examples_channel": True}, "nothing to search"),
    ],
)
def test_what_is_missing_is_said_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extra: dict[str, Any], said: str
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    if "cross_encoder_rerank" in extra:
        pytest.importorskip("sentence_transformers", reason="the extra `dense` is not installed")
    with pytest.raises(ConfigError, match=said):
        _run(
            tmp_path,
            classifier_type="ted_cpv",
            cpv_catalog=str(TINY / "codes.csv"),
            cpv_queries=str(TINY / "queries.json"),
            **extra,
        )
    assert not Store(tmp_path / "runs.db").runs()


def test_a_workbook_whose_code_was_typed_as_a_number_scores_correct(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (
        ["Record ID", "Query Text", "Ground Truth CPV", "Predicted CPV #1", "Predicted CPV #2", "Score #1"],
        [1, "Power for schools", "09310000", 9310000, 45000000, 0.9],
        [2, "New school", 45214000, "45214000-3", "45000000", 0.7],
        [3, "New road", "45200000", "45000000", "45200000-9", None],
    ):
        sheet.append(row)
    book.save(tmp_path / "results.xlsx")
    (tmp_path / "codes.csv").write_text(CODES_CSV)
    run, store = _run(
        tmp_path,
        classifier_type="prepared_rag_results",
        prepared_results=str(tmp_path / "results.xlsx"),
        cpv_catalog=str(tmp_path / "codes.csv"),
    )
    assert run.verdicts == {"PASS": 2, "WEAK": 0, "FAIL": 1, "ERROR": 0}
    third = store.output(run.id, "3", 0)
    assert third is not None
    assert [(hit.id, hit.score) for hit in third.hits] == [("45000000", None), ("45200000", None)]
    assert third.confidence is None
    assert any("zero" in notice for notice in run.summary["notices"])
    assert (Path(run.folder or "") / "prepared_source_rows.csv").exists()


def test_several_models_in_one_file_are_several_runs(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text(
        "id,model,query,expected,prediction\n"
        "1,small,x,45000000,45000000\n2,small,y,09310000,45000000\n"
        "1,large,x,45000000,45000000\n2,large,y,09310000,09310000\n"
    )
    run, store = _run(tmp_path, classifier_type="prepared_rag_results", prepared_results=str(path))
    runs = store.runs()
    assert {each.verdicts["PASS"] for each in runs} == {1, 2}
    assert len({each.suite_digest for each in runs}) == 1
    assert run.verdicts["PASS"] == 2


def test_answers_without_codes_are_scored_as_answers(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(
        "id,question,expected answer,llm answer\n1,How long?,6 semesters,The programme takes 6 semesters.\n"
        "2,How long?,6 semesters,The programme takes 8 semesters.\n"
    )
    run, store = _run(tmp_path, classifier_type="prepared_rag_results", prepared_results=str(path))
    labels = {result.case_id: result.label for result in store.results(run.id)}
    assert labels["1"] == "correct"
    assert labels["2"] != "correct"


def test_a_run_can_be_scored_again_without_the_system(tmp_path: Path) -> None:
    run, store = _run(
        tmp_path,
        classifier_type="ted_cpv",
        cpv_catalog=str(TINY / "codes.csv"),
        cpv_queries=str(TINY / "queries.json"),
    )
    again = api.score(run, store=store, output_dir=tmp_path / "out")
    assert again.parent_id == run.id
    assert again.verdicts == run.verdicts
    assert again.summary["classes"] == run.summary["classes"]


def test_preparing_and_ingesting_from_an_export(tmp_path: Path) -> None:
    rows = [
        _notice(f"{n}-2023", f"Building {n} with {n * 3} rooms in street {n * 7}", "45000000")
        for n in range(60)
    ]
    _cpv(tmp_path, rows)
    out = {name: str(tmp_path / name) for name in ("cat.csv", "q.json", "train.csv", "raw.json", "all.csv")}
    done = CliRunner().invoke(
        prepare_cpv,
        [
            *("--corpus-export-path", str(tmp_path / "notices.csv"), "--catalog-out", out["cat.csv"]),
            *("--queries-out", out["q.json"], "--train-out", out["train.csv"], "--raw-out", out["raw.json"]),
        ],
    )
    assert done.exit_code == 0, done.output
    queries = json.loads(Path(out["q.json"]).read_text("utf-8"))["queries"]
    texts = Path(out["cat.csv"]).read_text("utf-8") + Path(out["train.csv"]).read_text("utf-8")
    assert queries
    assert not any(query["query"] in texts for query in queries)
    done = CliRunner().invoke(
        ingest_notices, ["--corpus-export-path", str(tmp_path / "notices.csv"), "--out", out["all.csv"]]
    )
    assert "60 notices, 1 codes" in done.output


def test_real_tenders_over_the_real_list(tmp_path: Path) -> None:
    run, store = _run(
        tmp_path,
        classifier_type="ted_cpv",
        cpv_catalog=str(real_data("cpv", "cpv_2008_en_de.csv")),
        cpv_queries=str(real_data("ted_notices", "dev.csv")),
        cpv_query_text="title",
        limit=60,
    )
    assert sum(run.verdicts.values()) == 60
    assert run.verdicts["ERROR"] == 0
    by_language = store.attribution(run.id, "by_language")
    assert sum(row["n"] for row in by_language) == 60
    assert all(row["accuracy_low"] <= row["accuracy"] <= row["accuracy_high"] for row in by_language)
