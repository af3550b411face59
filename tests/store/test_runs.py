"""Writing and reading runs: exact, sealed, resumable, readable by many."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest

from core.corpus import Document, Page, Paragraph, ParsingReport, Section
from core.errors import StoreError
from core.records import Case, Hit
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


def test_everything_comes_back_as_it_was(tmp_path: Path) -> None:
    cases = [
        Case(id=f"c{i}-{text}", query=text, order=i, metadata={"x": text}) for i, text in enumerate(AWKWARD)
    ]
    outputs = [
        an_output(
            case,
            text=text,
            signals={"s": text},
            raw={"r": [text]},
            hits=(Hit(id=text, rank=1, text=text, title=text),),
        )
        for case, text in zip(cases, AWKWARD, strict=True)
    ]
    results = [a_result(case, reasons=(text,), label=text) for case, text in zip(cases, AWKWARD, strict=True)]
    run = a_run(settings={"text": list(AWKWARD)}, n_cases=len(cases))
    with a_store(tmp_path) as store:
        store.create_run(run, cases)
        store.add_outputs(run.id, outputs)
        store.add_results(run.id, results)
    with Store(tmp_path / "plumbline.db", readonly=True) as store:
        assert store.cases(run.id) == cases
        assert store.outputs(run.id) == outputs
        assert store.results(run.id) == results
        assert store.run(run.id) == run
        for case, output, result in zip(cases, outputs, results, strict=True):
            assert store.case(run.id, case.id) == case
            assert store.output(run.id, case.id) == output
            assert store.result(run.id, case.id) == result


def test_ranks_second_lists_and_long_answers_come_back(tmp_path: Path) -> None:
    case = some_cases(1)[0]
    long = "ü" * 50_000
    output = an_output(
        case,
        text=long,
        hits=(
            Hit(id="a", rank=2, score=None),
            Hit(id="b", rank=7, score=-1e-300, parts={"base": 1.5, "how": "x"}),
        ),
        retrieved=(Hit(id="z", rank=1),),
        context_ids=(),
        abstained=False,
    )
    with a_store(tmp_path) as store:
        store.create_run(a_run(), [case])
        store.add_outputs("run-1", [output])
        assert store.outputs("run-1") == [output]
        preview = store.query("SELECT text FROM outputs")[0]["text"]
        assert long.startswith(preview)
        assert len(preview) == 4_000


def test_scores_of_one_run_in_sql_and_as_a_matrix(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        store_run(
            store, a_run(), ["PASS", "FAIL", "WEAK"], ndcg_at_k=[0.1, None, 1 / 3], mrr_at_k=[1.0, 0.0, None]
        )
        row = store.query(
            "SELECT avg(score(layout, scores, 'ndcg_at_k')) AS ndcg, count(score(layout, scores, 'mrr_at_k')) AS n "
            "FROM case_results WHERE run_id = ?",
            ["run-1"],
        )[0]
        assert row["ndcg"] == pytest.approx((0.1 + 1 / 3) / 2)
        assert row["n"] == 2
        keys, names, matrix = store.score_matrix("run-1")
        assert (keys, names) == ([("q0", 0), ("q1", 0), ("q2", 0)], ["mrr_at_k", "ndcg_at_k"])
        assert matrix[2, 1] == 1 / 3
        assert matrix[1, 1] != matrix[1, 1]
        assert store.query("SELECT score(layout, scores, 'no such') AS s FROM results LIMIT 1") == [
            {"s": None}
        ]


def test_a_retry_replaces_only_a_failed_record(tmp_path: Path) -> None:
    good, bad = some_cases(2)
    with a_store(tmp_path) as store:
        store.create_run(a_run(), [good, bad])
        assert store.add_outputs("run-1", [an_output(good), a_failure(bad)]) == 2
        store.add_results("run-1", [a_result(good), a_result(bad, "ERROR")])
        assert store.answered("run-1") == {("q0", 0): False, ("q1", 0): True}
        assert store.add_outputs("run-1", [an_output(good, text="another")]) == 0
        assert store.output("run-1", "q0") == an_output(good)
        still = a_failure(bad).model_copy(update={"retries": 3})
        assert store.add_outputs("run-1", [still]) == 0, "a retry that fails as well keeps the old record"
        assert store.add_outputs("run-1", [an_output(bad)]) == 1
        assert store.answered("run-1") == {("q0", 0): False, ("q1", 0): False}
        assert store.result("run-1", "q1") is None, "the result of the failed output went with it"
        assert store.result("run-1", "q0") == a_result(good)


def test_repeats_are_kept_apart(tmp_path: Path) -> None:
    case = some_cases(1)[0]
    with a_store(tmp_path) as store:
        store.create_run(a_run(repeats=2), [case])
        store.add_outputs("run-1", [an_output(case, 1, text="second"), an_output(case, 0, text="first")])
        assert [(o.repeat, o.text) for o in store.outputs("run-1")] == [(0, "first"), (1, "second")]


def test_a_sealed_run_refuses_every_write(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        run = store_run(store, a_run(), ["PASS", "FAIL"])
        case = some_cases(1)[0]
        assert (run.status, run.verdicts["FAIL"]) == ("sealed", 1)
        for write in (
            lambda: store.add_outputs(run.id, [an_output(case, 5)]),
            lambda: store.add_results(run.id, [a_result(case)]),
            lambda: store.add_cases(run.id, [Case(id="new", query="x")]),
            lambda: store.add_documents(run.id, []),
            lambda: store.add_attribution(run.id, "t", []),
            lambda: store.set_status(run.id, "running"),
            lambda: store.seal(run.id, summary={}, aggregates=[], verdicts={}),
        ):
            with pytest.raises(StoreError, match="sealed"):
                write()
        assert store.run(run.id) == run


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE results SET verdict = 'PASS'",
        "DELETE FROM outputs",
        "UPDATE runs SET summary = x'00'",
        "UPDATE runs SET status = 'running', sealed_at = NULL",
        "DELETE FROM aggregates",
        "DELETE FROM runs",
        "INSERT INTO run_cases VALUES (1, 999, 0)",
    ],
)
def test_the_file_itself_guards_a_sealed_run(tmp_path: Path, statement: str) -> None:
    with a_store(tmp_path) as store:
        store_run(store, a_run(), ["PASS", "FAIL"])
    connection = sqlite3.connect(tmp_path / "plumbline.db")
    with pytest.raises(sqlite3.IntegrityError, match="sealed"):
        connection.execute(statement)
    connection.close()


def test_a_cancelled_run_stays_open(tmp_path: Path) -> None:
    cases = some_cases(2)
    with a_store(tmp_path) as store:
        store.create_run(a_run(), cases)
        store.add_outputs("run-1", [an_output(cases[0])])
        half = store.seal(
            "run-1", summary={"half": True}, aggregates=[], verdicts={"PASS": 1}, status="cancelled"
        )
        assert (half.status, half.sealed_at) == ("cancelled", None)
        store.add_outputs("run-1", [an_output(cases[1])])
        whole = store.seal("run-1", summary={}, aggregates=[an_aggregate()], verdicts={"PASS": 2})
        assert (whole.status, whole.verdicts, whole.aggregates) == ("sealed", {"PASS": 2}, (an_aggregate(),))


def test_contents_are_stored_once(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        for name in ("run-1", "run-2", "run-3"):
            store_run(store, a_run(name), ["PASS"] * 20)
        row = store.query(
            "SELECT (SELECT count(*) FROM texts) AS texts, (SELECT count(*) FROM passages) AS passages, "
            "(SELECT count(*) FROM cases) AS cases, (SELECT count(*) FROM layouts) AS layouts"
        )[0]
        assert row == {"texts": 3, "passages": 3, "cases": 20, "layouts": 1}


def test_runs_are_found_by_id_name_beginning_and_latest(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        with pytest.raises(StoreError, match="empty"):
            store.run("nothing")
        with pytest.raises(StoreError, match="no sealed run"):
            store.run("latest")
        first = store_run(store, a_run("20260101-aaa", name="nightly"), ["PASS"])
        second = store_run(
            store, a_run("20260102-bbb", name="nightly", created_at="2026-01-02T00:00:00+00:00"), ["FAIL"]
        )
        store.create_run(a_run("20260103-ccc", created_at="2026-01-03T00:00:00+00:00"), [])
        assert store.run("20260101-aaa") == first
        assert store.run("nightly") == second
        assert store.run("20260102") == second
        assert store.run("latest") == second
        with pytest.raises(StoreError, match="several runs begin"):
            store.run("2026")
        with pytest.raises(StoreError, match="did you mean 'nightly'"):
            store.run("nigthly")
        assert [run.id for run in store.runs(status="sealed")] == ["20260102-bbb", "20260101-aaa"]
        assert [run.id for run in store.runs(limit=1, offset=1)] == ["20260102-bbb"]


def test_wrong_records_are_refused_and_nothing_is_half_written(tmp_path: Path) -> None:
    cases = some_cases(2)
    with a_store(tmp_path) as store:
        with pytest.raises(StoreError, match="given twice: q0"):
            store.create_run(a_run(), [cases[0], cases[0]])
        assert store.runs() == []
        store.create_run(a_run(), cases)
        with pytest.raises(StoreError, match="already"):
            store.create_run(a_run(), cases)
        stranger = Case(id="stranger", query="?")
        with pytest.raises(StoreError, match="no case 'stranger'"):
            store.add_outputs("run-1", [an_output(cases[0]), an_output(stranger)])
        assert store.outputs("run-1") == []
        assert store.query("SELECT count(*) AS n FROM passages") == [{"n": 0}]
        store.add_outputs("run-1", [an_output(cases[0])])
        assert store.outputs("run-1") == [an_output(cases[0])], "keys of the failed write were forgotten"


def half_a_run_and_then_a_mistake(store: Store) -> None:
    cases = some_cases(2)
    with store.write():
        store.create_run(a_run("run-2"), cases)
        store.add_results("run-2", [a_result(cases[0], scores={"new_name": 1.0}, undefined={})])
        store.create_run(a_run("run-3"), [cases[0], cases[0]])


def test_a_failed_part_takes_back_only_itself(tmp_path: Path) -> None:
    cases = some_cases(2)
    with a_store(tmp_path) as store:
        with store.write():
            store.create_run(a_run(), cases)
            with pytest.raises(StoreError, match="no case"):
                store.add_outputs("run-1", [an_output(cases[0]), an_output(Case(id="x", query="?"))])
            store.add_outputs("run-1", [an_output(cases[1])])
            store.add_results("run-1", [a_result(cases[1])])
            assert store.results("run-1") == [a_result(cases[1])], "its own writes are seen before the commit"
        assert store.outputs("run-1") == [an_output(cases[1])]
        with pytest.raises(StoreError, match="given twice"):
            half_a_run_and_then_a_mistake(store)
        assert [run.id for run in store.runs()] == ["run-1"]
        store.add_results("run-1", [a_result(cases[0], scores={"other_name": 0.5}, undefined={})])
        assert store.results("run-1")[0].scores == {"other_name": 0.5}


def test_documents_and_tables_of_a_run(tmp_path: Path) -> None:
    text = "§ 1 Umfang\nSechs Semester."
    document = Document(
        doc_path="a/b.pdf",
        text=text,
        pages=(Page(number=1, start=0, end=len(text)),),
        sections=(Section(ordinal=0, section_id="§ 1", start=0, end=len(text)),),
        paragraphs=(Paragraph(ordinal=0, section=0, start=11, end=len(text)),),
        digest="d",
    )
    reports = [
        ParsingReport(doc_path="a/b.pdf", status="read"),
        ParsingReport(doc_path="bad.pdf", status="failed", problems=("x",)),
    ]
    with a_store(tmp_path) as store:
        for name in ("run-1", "run-2"):
            store.create_run(a_run(name), [])
            store.add_documents(name, [document], reports)
        assert store.document("run-2", "a/b.pdf") == document
        assert store.document("run-2", "bad.pdf") is None
        assert store.documents("run-1") == [document]
        assert store.parsing_reports("run-1") == reports
        assert store.query("SELECT count(*) AS n FROM documents") == [{"n": 1}]
        store.add_attribution(
            "sweep-1", "effects", [{"factor": "k", "effect": 0.5}, {"factor": "b", "p": None}]
        )
        assert store.attribution("sweep-1", "effects")[1] == {"factor": "b", "effect": None, "p": None}
        assert store.attribution_tables("sweep-1") == {"effects": 2}
        assert store.attribution("sweep-1", "none") == []


def test_readers_see_what_is_committed_and_never_write(tmp_path: Path) -> None:
    cases = some_cases(2)
    with a_store(tmp_path) as store, Store(store.path, readonly=True) as reader:
        store.create_run(a_run(), cases)
        before = reader.version()
        store.add_outputs("run-1", [an_output(cases[0])])
        assert reader.answered("run-1") == {("q0", 0): False}
        assert reader.version() != before
        with pytest.raises(StoreError, match="reading only"):
            reader.add_outputs("run-1", [an_output(cases[1])])
        with pytest.raises(StoreError, match="cannot be opened for writing"):
            store.query("DELETE FROM outputs")
        assert len(store.outputs("run-1")) == 1


def test_a_store_in_a_folder_nobody_may_write_to(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        store_run(store, a_run(), ["PASS"])
        store.finish_file()
    (tmp_path / "plumbline.db").chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        with Store(tmp_path / "plumbline.db", readonly=True) as reader:
            assert reader.run("run-1").verdicts["PASS"] == 1
        assert sorted(path.name for path in tmp_path.iterdir()) == ["plumbline.db"] or os.geteuid() == 0
    finally:
        tmp_path.chmod(0o755)


def test_one_store_in_many_threads(tmp_path: Path) -> None:
    cases = some_cases(40)
    errors: list[BaseException] = []
    with a_store(tmp_path) as store:
        store.create_run(a_run(), cases)

        def work(part: list[Case]) -> None:
            try:
                for case in part:
                    store.add_outputs("run-1", [an_output(case)])
                    assert store.output("run-1", case.id) is not None
            except BaseException as error:  # noqa: BLE001 - shown by the assertion below
                errors.append(error)

        threads = [threading.Thread(target=work, args=(cases[i::4],)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert [o.case_id for o in store.outputs("run-1")] == [case.id for case in cases]


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to look at" * 20, b"\x00" * 5000]
)
def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"not a SQLite file|not a Plumbline run store"):
        Store(path)
    assert path.read_bytes() == content


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    with pytest.raises(StoreError, match="not a Plumbline run store"):
        Store(path)


def test_a_newer_store_says_what_to_do(tmp_path: Path) -> None:
    a_store(tmp_path).close()
    connection = sqlite3.connect(tmp_path / "plumbline.db")
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    for readonly in (False, True):
        with pytest.raises(StoreError, match=r"newer version\. Update plumbline-eval"):
            Store(tmp_path / "plumbline.db", readonly=readonly)
