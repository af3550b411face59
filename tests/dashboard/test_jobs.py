"""Jobs as the dashboard starts them: real processes over a real store."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from core.store.runs import Store
from dashboard import jobs
from dashboard.queries import jobs as job_queries

DEMO = Path(__file__).parents[2] / "data" / "demo"
SETTINGS = {
    "docs": [str(DEMO / "documents")],
    "questions": str(DEMO / "questions.json"),
    "run_name": "half",
    "chunking": "by_section",
}


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("PLUMBLINE_STORE", str(tmp_path / "outputs" / "plumbline.db"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "outputs" / "plumbline.db"


def ended(job_id: str) -> dict[str, object]:
    """The job when it has ended; its log with the failure where it does not."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        job = job_queries.job(job_id)
        if job and job["status"] not in job_queries.LIVE:
            return job
        time.sleep(0.2)
    raise AssertionError(jobs.log_tail(job_id))


def test_a_stopped_run_is_resumed_and_nothing_is_asked_twice(path: Path) -> None:
    whole = ended(jobs.start({**SETTINGS, "run_name": "whole"}, token="whole"))
    assert whole["status"] == "done", whole["error"]
    with Store(path) as store:
        run = store.run("whole")
        half = run.model_copy(
            update={"id": "20261101T000000-00000f", "name": "half", "sealed_at": None, "status": "running"}
        )
        store.create_run(half, store.cases(run.id))
        before = store.outputs(run.id)[:8]
        store.add_outputs(half.id, before)
        store.set_status(half.id, "failed")
        job_id = store.request_job(SETTINGS, token="half")
        store.start_job(job_id, half.id, len(run.verdicts))
        store.finish_job(job_id, "failed", "the machine was switched off")
    job = job_queries.job(job_id)
    assert job is not None
    again = jobs.resume(job, token="again")
    assert jobs.resume(job, token="again") == again, "pressing twice goes on once"
    finished = ended(again)
    assert finished["status"] == "done", finished["error"]
    with Store(path, readonly=True) as store:
        sealed = store.run(half.id)
        assert sealed.status == "sealed"
        assert sealed.verdicts == run.verdicts
        assert store.outputs(half.id)[:8] == before, "what was answered is not asked again"
        assert [(r.case_id, r.verdict) for r in store.results(half.id)] == [
            (r.case_id, r.verdict) for r in store.results(run.id)
        ]


def test_settings_that_cannot_run_are_said_by_key(path: Path) -> None:
    job = ended(jobs.start({"run_name": "nothing", "chunk_size": 10, "overlap": 20}, token="bad"))
    assert job["status"] == "failed"
    assert "overlap" in str(job["error"])
    assert job["run_id"] is None
