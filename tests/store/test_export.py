"""The run folder and the exports: published names, header always, nothing overwritten, no formulas, same bytes."""

from __future__ import annotations

import json
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from core.corpus import Document, Page, Paragraph, ParsingReport, Section
from core.errors import ConfigError, StoreError
from core.inputs.cases import load_questions
from core.records import Case, Failure, Judgement
from core.store.export import FORMATS, export, read_csv, write_csv, write_run_folder
from core.store.export.tabular import neutralise, restore
from core.store.runs import Store
from tests.store.made import (
    AWKWARD,
    a_failure,
    a_result,
    a_run,
    a_store,
    an_aggregate,
    an_output,
    some_cases,
    store_run,
)

PUBLISHED = """run_summary.json summary.json raw_documents.txt sections.csv paragraphs.csv parsing_diagnostics.csv
rag_results.csv retrieved_chunks.csv answer_metrics.csv answer_metrics_summary.json retrieval_metrics.csv
retrieval_metrics_summary.json diagnostics.csv diagnostics_summary.json claim_evidence_map.csv
claim_evidence_map.jsonl quality_report.md error_report.md""".split()


def a_document() -> Document:
    text = "§ 1 Umfang\nSechs Semester."
    return Document(
        doc_path="doc.pdf",
        text=text,
        pages=(Page(number=1, start=0, end=len(text)),),
        sections=(Section(ordinal=0, section_id="§ 1", title="Umfang", start=0, end=len(text)),),
        paragraphs=(Paragraph(ordinal=0, section=0, start=11, end=len(text)),),
    )


def documented(
    store: Store, run_id: str = "run-1", verdicts: tuple[str, ...] = ("PASS", "FAIL", "ERROR")
) -> None:
    cases = some_cases(len(verdicts))
    store.create_run(a_run(run_id), cases)
    store.add_documents(
        run_id, [a_document()], [ParsingReport(doc_path="doc.pdf", status="read", seconds=1.5)]
    )
    outputs = [a_failure(c) if v == "ERROR" else an_output(c) for c, v in zip(cases, verdicts, strict=True)]
    store.add_outputs(run_id, outputs)
    store.add_results(run_id, [a_result(c, v) for c, v in zip(cases, verdicts, strict=True)])
    summary = {
        "answer_metrics": {"mean_answer_claim_f1": 0.5},
        "answer_metrics_by_question_type": {"single_hop": {"n": 3}},
        "retrieval_metrics": {"mean_mrr_at_k": 1.0},
        "diagnostics": {"most_common_reason": "retrieval_miss"},
        "notices": ["a <b>notice</b>"],
    }
    counts = {verdict: verdicts.count(verdict) for verdict in ("PASS", "WEAK", "FAIL", "ERROR")}
    store.seal(run_id, summary=summary, aggregates=[an_aggregate()], verdicts=counts)


def test_the_published_files_are_written(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        documented(store)
        outputs = write_run_folder(
            store,
            "run-1",
            tmp_path / "out" / "mine",
            {"chunks.csv": lambda p: write_csv(p, ["chunk_id"], [])},
        )
        folder = tmp_path / "out" / "mine"
        assert {path.name for path in folder.iterdir()} == {*PUBLISHED, "chunks.csv"}
        assert store.run("run-1").folder == str(folder)
    assert sorted(outputs.values()) == sorted(str(path) for path in folder.iterdir())
    summary = json.loads((folder / "run_summary.json").read_text(encoding="utf-8"))
    assert summary["run_id"] == "run-1"
    assert summary["run_dir"] == str(folder)
    assert summary["outputs"]["rag_results"] == str(folder / "rag_results.csv")
    assert summary["experiments"][0]["retriever"] == "bm25"
    rows = read_csv(folder / "rag_results.csv")
    assert [row["question_id"] for row in rows] == ["q0", "q1", "q2"]
    assert [row["verdict"] for row in rows] == ["PASS", "FAIL", "ERROR"]
    assert rows[0]["mrr_at_k"] == "1.0"
    assert rows[0]["answer_claim_f1"] == "", "what does not apply is empty, never 0"
    assert json.loads(rows[0]["retrieved_chunk_ids"]) == ["doc.pdf#1", "doc.pdf#2", "doc.pdf#3"]
    assert rows[2]["failure_kind"] == "timeout"
    chunks = read_csv(folder / "retrieved_chunks.csv")
    assert [
        (row["question_id"], row["rank"], row["relevance_grade"], row["is_relevant"]) for row in chunks[:2]
    ] == [
        ("q0", "1", "3", "True"),
        ("q0", "2", "0", "False"),
    ]
    claims = read_csv(folder / "claim_evidence_map.csv")
    assert claims[0]["answer_nli"] == "supported"
    assert json.loads(claims[0]["supporting_chunk_ids"]) == ["doc.pdf#1"]
    assert read_csv(folder / "sections.csv")[0]["text"].startswith("§ 1 Umfang")
    assert read_csv(folder / "paragraphs.csv")[0]["text"] == "Sechs Semester."
    part = json.loads((folder / "answer_metrics_summary.json").read_text(encoding="utf-8"))
    assert part == {"mean_answer_claim_f1": 0.5, "by_question_type": {"single_hop": {"n": 3}}}
    report = (folder / "quality_report.md").read_text(encoding="utf-8")
    assert "a \\<b\\>notice" in report
    assert "## q1: FAIL" in (folder / "error_report.md").read_text(encoding="utf-8")


def test_tables_have_a_header_even_when_empty(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        store.create_run(a_run(), [])
        store.add_documents(
            "run-1", [], [ParsingReport(doc_path="bad.pdf", status="failed", problems=("encrypted",))]
        )
        store.seal("run-1", summary={}, aggregates=[], verdicts={})
        write_run_folder(store, "run-1", tmp_path / "out")
    for path in (tmp_path / "out").glob("*.csv"):
        header = path.read_text(encoding="utf-8").splitlines()[0]
        assert header.split(",")[0] in {"question_id", "doc_id", "doc_path"}, path.name
    assert read_csv(tmp_path / "out" / "parsing_diagnostics.csv")[0]["problems"] == '["encrypted"]'


def test_a_classifier_gets_its_own_columns(tmp_path: Path) -> None:
    case = Case(id="n1", query="Bauarbeiten", gold_codes=("45000000",))
    with a_store(tmp_path) as store:
        store.create_run(a_run(kind="ted_cpv"), [case])
        store.add_outputs("run-1", [an_output(case)])
        store.add_results(
            "run-1", [a_result(case, scores={"exact_top1_match": 0.0}, undefined={}, label=None, claims=())]
        )
        store.seal("run-1", summary={"classifier": {}}, aggregates=[], verdicts={"PASS": 1})
        write_run_folder(
            store,
            "run-1",
            tmp_path / "out",
            {"prepared_source_rows.csv": lambda p: write_csv(p, ["a"], [[1]])},
        )
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert "answer_metrics.csv" not in names
    assert "prepared_source_rows.csv" in names
    row = read_csv(tmp_path / "out" / "rag_results.csv")[0]
    assert (row["exact_top1_match"], row["expected_cpv_codes"], row["auto_flag"]) == (
        "0.0",
        '["45000000"]',
        "incorrect",
    )


def test_no_folder_of_another_run_is_touched(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "theirs.txt").write_text("keep", encoding="utf-8")
    with a_store(tmp_path) as store:
        documented(store, "run-1")
        documented(store, "run-2")
        write_run_folder(store, "run-1", tmp_path / "out")
        write_run_folder(store, "run-2", tmp_path / "out")
        assert store.run("run-1").folder == str(tmp_path / "out-2")
        assert store.run("run-2").folder == str(tmp_path / "out-3")
        again = write_run_folder(store, "run-1", tmp_path / "out-2")
        assert again["run_summary"] == str(tmp_path / "out-2" / "run_summary.json"), (
            "its own folder is written anew"
        )
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["theirs.txt"]


def test_a_writer_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def broken(path: Path) -> None:
        path.write_text("half", encoding="utf-8")
        raise OSError("disk full")

    with a_store(tmp_path) as store:
        documented(store)
        with pytest.raises(StoreError, match="disk full"):
            write_run_folder(store, "run-1", tmp_path / "out", {"chunks.csv": broken})
        assert not [path for path in tmp_path.iterdir() if not path.name.startswith("plumbline.db")]
        with pytest.raises(StoreError, match="plain file name"):
            write_run_folder(store, "run-1", tmp_path / "out", {"../evil.csv": lambda p: p.touch()})


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_every_format_is_written_and_canonical_bytes_are_the_same(tmp_path: Path, form: str) -> None:
    with a_store(tmp_path) as store:
        documented(store, "run-1")
        documented(store, "run-2")
        first = export(store, "run-1", form, tmp_path / "1" / f"x.{form}", canonical=True)
        if form == "xlsx":
            time.sleep(2.1)  # zip entries keep two seconds
        second = export(store, "run-2", form, tmp_path / "2" / f"x.{form}", canonical=True)
        named = export(store, "run-1", form, tmp_path)
        assert named.name.startswith("name_of_run-1.")
        with pytest.raises(StoreError, match="already there"):
            export(store, "run-1", form, tmp_path / "1" / f"x.{form}")
    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size > 100


def test_canonical_run_folders_are_equal(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        documented(store, "run-1")
        documented(store, "run-2")
        write_run_folder(store, "run-1", tmp_path / "a", canonical=True)
        write_run_folder(store, "run-2", tmp_path / "b", canonical=True)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


@pytest.mark.parametrize(
    "text", [*AWKWARD, "+1", "-1", "@SUM(A1)", "\tx", "\rx", "''=x", "'quoted'", 'a,b"c"']
)
def test_cells_are_neutral_and_come_back(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.csv"
    write_csv(path, ["value", "number"], [[text, -0.5]])
    raw = path.read_bytes().decode().split("\n", 1)[1].lstrip('"')
    assert not raw.startswith(("=", "+", "-", "@", "\t", "\r"))
    shown = text.replace("\ud800", "\ufffd")
    assert read_csv(path) == [{"value": shown, "number": "-0.5"}]
    assert restore(neutralise(text)) == text


def test_excel_holds_no_formula(tmp_path: Path) -> None:
    from openpyxl import load_workbook

    case = Case(id="q", query='=HYPERLINK("x")', gold_answer="x" * 40_000)
    with a_store(tmp_path) as store:
        store.create_run(a_run(), [case])
        store.add_outputs("run-1", [an_output(case, text="\x07 bell and @cmd")])
        store.seal("run-1", summary={}, aggregates=[], verdicts={})
        path = export(store, "run-1", "xlsx", tmp_path / "x.xlsx")
    sheet = load_workbook(path)["results"]
    header = [cell.value for cell in sheet[1]]
    cells = dict(zip(header, sheet[2], strict=True))
    assert cells["question"].value == '\'=HYPERLINK("x")'
    assert {cell.data_type for row in sheet for cell in row} <= {"s", "n", "b", "inlineStr"}
    assert cells["answer"].value == "\ufffd bell and @cmd"
    assert cells["gold_answer"].value.endswith("[cut: 40000 characters]")


def test_failing_cases_are_a_suite_that_loads_again(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        documented(store, verdicts=("PASS", "FAIL", "WEAK"))
        path = export(store, "run-1", "suite", tmp_path / "failing.json")
        wanted = store.cases("run-1")[1:]
    loaded = load_questions(path)
    assert [(c.id, c.query, c.gold_answer, c.question_type) for c in loaded.cases] == [
        (c.id, c.query, c.gold_answer, c.question_type) for c in wanted
    ]


def test_junit_counts_and_jsonl_records(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        documented(store)
        junit = ElementTree.parse(export(store, "run-1", "junit", tmp_path / "x.xml")).getroot()
        lines = export(store, "run-1", "jsonl", tmp_path / "x.jsonl").read_text(encoding="utf-8").splitlines()
        first = store.outputs("run-1")[0]
    assert (junit.get("tests"), junit.get("failures"), junit.get("errors")) == ("3", "1", "1")
    assert type(first).model_validate(json.loads(lines[0])["output"]) == first


def test_html_shows_text_as_text_and_asks_for_nothing(tmp_path: Path) -> None:
    case = Case(id="q", query="<script>alert(1)</script>")
    failure = Failure(where="judge", kind="unusable", message="<img src=x>")
    judgement = Judgement(rubric="r", rubric_version="1", provider="p", failure=failure)
    with a_store(tmp_path) as store:
        store.create_run(a_run(), [case])
        store.add_outputs("run-1", [an_output(case, text="a \ud800 \0 <b>bold</b>")])
        store.add_results("run-1", [a_result(case, "ERROR", judgements=(judgement,), failure=failure)])
        store.seal("run-1", summary={}, aggregates=[an_aggregate()], verdicts={"ERROR": 1})
        page = export(store, "run-1", "html", tmp_path / "x.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page
    assert "<b>bold" not in page
    assert "http" not in page.replace('http-equiv="Content-Security-Policy"', "")
    assert "prefers-color-scheme:dark" in page


def test_parquet_keeps_types_and_the_csv_reads_back(tmp_path: Path) -> None:
    import pyarrow.parquet

    with a_store(tmp_path) as store:
        documented(store)
        table = pyarrow.parquet.read_table(export(store, "run-1", "parquet", tmp_path / "x.parquet"))
    assert table.column("mrr_at_k").to_pylist() == [1.0, 1.0, 1.0]
    assert table.column("answer_claim_f1").to_pylist() == [None, None, None]


def test_an_unknown_format_names_the_nearest(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        store_run(store, a_run(), ["PASS"])
        with pytest.raises(ConfigError, match="did you mean 'parquet'"):
            export(store, "run-1", "parket", tmp_path)
