"""Keeping runs in order, moving them, and what people say about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import StoreError
from core.store.portable import export_run, import_runs
from core.store.runs import Store
from tests.store.made import a_run, a_store, an_output, some_cases, store_run


def test_tags_notes_and_archive(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        sealed = store_run(store, a_run("run-1"), ["PASS"])
        store_run(store, a_run("run-2"), ["PASS"])
        store.tag("run-1", "nightly", "ä", "nightly")
        assert store.tags("run-1") == ["nightly", "ä"]
        assert [run.id for run in store.runs(tag="ä")] == ["run-1"]
        store.untag("run-1", "ä")
        assert store.tags("run-1") == ["nightly"]
        store.set_note("run-1", "looked at\nby hand")
        assert store.note("run-1") == "looked at\nby hand"
        store.archive("run-1")
        assert [run.id for run in store.runs()] == ["run-2"]
        assert [run.id for run in store.runs(archived=True)] == ["run-1"]
        store.archive("run-1", False)
        assert store.run("run-1") == sealed
        with pytest.raises(StoreError, match="at least one character"):
            store.tag("run-1", " ")


def test_delete_undo_and_purge(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        first = store_run(store, a_run("run-1"), ["PASS", "FAIL"])
        second = store_run(store, a_run("run-2"), ["PASS", "FAIL"])
        store.delete("run-1")
        with pytest.raises(StoreError, match="`plumbline store undo run-1` brings it back"):
            store.run("run-1")
        assert [run.id for run in store.runs()] == ["run-2"]
        assert store.undo() == "run-1"
        assert store.run("run-1") == first
        store.delete("run-1")
        assert store.vacuum()["purged"] == 0, "it can be brought back for 30 days"
        assert store.vacuum(purge_days=-1)["purged"] == 1
        with pytest.raises(StoreError, match="no deleted run"):
            store.undo("run-1")
        assert store.run("run-2") == second
        assert store.outputs("run-2") == [an_output(case) for case in some_cases(2)]
        store.delete("run-2")
        store.vacuum(purge_days=-1)
        counts = store.query(
            "SELECT (SELECT count(*) FROM outputs) + (SELECT count(*) FROM results) + (SELECT count(*) FROM texts) "
            "+ (SELECT count(*) FROM passages) + (SELECT count(*) FROM cases) + (SELECT count(*) FROM runs) AS n"
        )
        assert counts == [{"n": 0}]
        assert store.check() == []


def test_a_purge_by_another_program_is_noticed(tmp_path: Path) -> None:
    cases = some_cases(1)
    with a_store(tmp_path) as store, Store(store.path) as other:
        store_run(store, a_run("old"), ["PASS"])
        store.create_run(a_run("new"), cases)
        other.delete("old")
        other.vacuum(purge_days=-1)
        store.add_outputs("new", [an_output(cases[0])])
        assert store.outputs("new") == [an_output(cases[0])], (
            "the passage was stored again, not its old key used"
        )
        assert store.check() == []


def test_a_baseline_is_named_pinned_and_protected(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        store_run(store, a_run("run-1"), ["PASS"])
        store_run(store, a_run("run-2"), ["PASS"])
        store.create_run(a_run("open"), [])
        store.set_baseline("release", "run-1")
        assert store.baseline("release") == store.run("run-1")
        assert store.baseline("none") is None
        with pytest.raises(StoreError, match="unpin it first"):
            store.delete("run-1")
        with pytest.raises(StoreError, match="move it with --move"):
            store.set_baseline("release", "run-2")
        with pytest.raises(StoreError, match="only a sealed run"):
            store.set_baseline("other", "open")
        with pytest.raises(StoreError, match="cannot name"):
            store.set_baseline("latest", "run-1")
        assert store.set_baseline("release", "run-2", move=True).run_id == "run-2"
        store.delete("run-1")
        with pytest.raises(StoreError, match="did you mean 'release'"):
            store.remove_baseline("releas")
        store.remove_baseline("release")
        assert store.baselines() == []


def test_retention_spares_what_somebody_marked(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        for day in range(1, 8):
            store_run(store, a_run(f"run-{day}", created_at=f"2026-01-0{day}T00:00:00+00:00"), ["PASS"])
        store.create_run(a_run("open", created_at="2025-01-01T00:00:00+00:00"), [])
        store.tag("run-1", "keep")
        store.set_note("run-2", "interesting")
        store.set_baseline("release", "run-3")
        assert store.retain(keep=2, dry_run=True) == ["run-4", "run-5"]
        assert len(store.runs()) == 8
        assert store.retain(keep=2, suite="another") == []
        assert store.retain(keep=2) == ["run-4", "run-5"]
        assert store.retain(keep=0, days=100_000) == []
        assert {run.id for run in store.runs()} == {"open", "run-1", "run-2", "run-3", "run-6", "run-7"}
        assert store.undo("run-4") == "run-4"
        with pytest.raises(StoreError, match="needs a limit"):
            store.retain()


def test_a_run_travels_as_one_file(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        sealed = store_run(store, a_run("run-1"), ["PASS,FAIL", "FAIL,FAIL"], repeats=2, mrr_at_k=[1.0, None])
        store.tag("run-1", "x")
        path = export_run(store, "run-1", tmp_path / "run.plumbline")
        outputs, results = store.outputs("run-1"), store.results("run-1")
        with pytest.raises(StoreError, match="already there"):
            export_run(store, "run-1", path)
    assert sorted(p.name for p in tmp_path.iterdir() if "run" in p.name) == ["run.plumbline"]
    with Store(tmp_path / "other.db") as other:
        assert import_runs(other, path) == ["run-1"]
        assert import_runs(other, path) == []
        assert other.run("run-1") == sealed
        assert (other.outputs("run-1"), other.results("run-1")) == (outputs, results)
        assert other.tags("run-1") == ["x"]
        assert other.check() == []


def test_another_run_with_the_same_id_is_refused_and_nothing_imported(tmp_path: Path) -> None:
    with a_store(tmp_path) as store, Store(tmp_path / "other.db") as other:
        store_run(store, a_run("run-1"), ["PASS"])
        path = export_run(store, "run-1", tmp_path / "run.plumbline")
        kept = store_run(other, a_run("run-1"), ["FAIL"])
        with pytest.raises(StoreError, match="another run with the id run-1"):
            import_runs(other, path)
        assert other.runs() == [kept]
        (tmp_path / "wrong").write_text("not a store" * 100, encoding="utf-8")
        with pytest.raises(StoreError, match="not a SQLite file"):
            import_runs(other, tmp_path / "wrong")


def test_check_says_what_is_wrong(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        store_run(store, a_run("run-1"), ["PASS", "PASS"])
        assert store.check() == []
        with store.write() as connection:
            connection.execute("DROP TRIGGER results_no_delete")
            connection.execute("DELETE FROM results WHERE key = 1")
            connection.execute("DELETE FROM texts")
        assert store.check() == [
            "3 rows of passages refer to texts that are not there",
            "run run-1: its record says {'PASS': 2}, its results say {'PASS': 1}",
        ]


def test_labels_keep_author_reason_and_undo(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        sealed = store_run(store, a_run("run-1"), ["PASS", "FAIL"])
        first = store.add_label("run-1", "q0", "verdict", "FAIL", author="ana", reason="wrong number")
        store.add_label("run-1", "q0", "verdict", "PASS", author="ben")
        store.add_label("run-1", "q0", "verdict", "WEAK", author="ana")
        found = store.labels("run-1", "verdict")
        assert [(label.author, label.value) for label in found] == [("ben", "PASS"), ("ana", "WEAK")]
        assert next(label.id for label in store.labels("run-1", undone=True)) == first
        store.undo_label(found[0].id)
        assert len(store.labels("run-1")) == 1
        with pytest.raises(StoreError, match="no label"):
            store.undo_label(found[0].id)
        with pytest.raises(StoreError, match="no case 'zz'"):
            store.add_label("run-1", "zz", "verdict", "PASS")
        assert store.run("run-1") == sealed


def test_view_settings_are_kept(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        store.set_preference("run-1", "columns", ["a", "b"])
        store.set_preference("run-1", "sort", {"by": "ä"})
        store.set_preference("run-1", "columns", None)
        assert store.preferences("run-1") == {"sort": {"by": "ä"}}


def test_jobs(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        job_id = store.request_job({"docs": ["ä"]}, token="click-1", kind="run")
        assert store.request_job({"other": 1}, token="click-1", kind="run") == job_id, (
            "a double click starts one"
        )
        assert (store.job(job_id).status, store.job(job_id).settings) == ("queued", {"docs": ["ä"]})
        store.start_job(job_id, "run-1", 10, pid=42)
        store.beat(job_id, 3, "3 of 10")
        job = store.job(job_id)
        assert (job.status, job.run_id, job.total, job.done, job.message, job.pid, job.lost) == (
            "running", "run-1", 10, 3, "3 of 10", 42, False,
        )  # fmt: skip
        assert not store.cancelled(job_id)
        store.cancel_job(job_id)
        assert store.cancelled(job_id)
        assert store.job(job_id).status == "cancelling"
        with store.write() as connection:
            connection.execute("UPDATE jobs SET heartbeat = 1")
        assert store.job(job_id).lost
        store.finish_job(job_id, "cancelled")
        assert not store.job(job_id).lost
        assert store.jobs(active=True) == []
        store.resume_job(job_id)
        assert [job.status for job in store.jobs()] == ["queued"]
        waiting = store.request_job({}, token="click-2")
        store.cancel_job(waiting)
        assert store.job(waiting).status == "cancelled"
        with pytest.raises(StoreError, match="no job"):
            store.beat("job-none", 1)
        with pytest.raises(StoreError, match="a job ends as"):
            store.finish_job(job_id, "exploded")
