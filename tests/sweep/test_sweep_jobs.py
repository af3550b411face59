"""A sweep as a job of the store: progress, a request to stop, going on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core import jobs
from core.errors import SweepStopped
from core.store.export import read_csv
from core.store.runs import Store
from core.sweep import run_sweep
from core.sweep_grid import load_sweep


def settings_of(corpus):
    return {**corpus, "factors": {"top_k": [1, 2, 3]}, "run_name": "wanted", "limit": 10}


@pytest.fixture
def store(corpus):
    return Store(Path(corpus["output_dir"]) / "plumbline.db")


def test_a_sweep_is_a_job_with_progress_and_its_id(corpus, store):
    job_id = store.request_job(settings_of(corpus), token="t", kind="sweep")
    assert jobs.work(job_id, store) == 0
    job = store.job(job_id)
    assert (job.status, job.done, job.total) == ("done", 3, 3)
    runs = store.runs(sweep_id=job.run_id)
    assert [run.status for run in runs] == ["sealed"] * 3
    assert store.attribution_tables(job.run_id)["experiment_ranking"] == 3


def test_settings_that_cannot_run_end_the_job_with_the_reason(corpus, store):
    job_id = store.request_job({**corpus, "factors": {"no_such": [1, 2]}}, token="t", kind="sweep")
    assert jobs.work(job_id, store) == 2
    job = store.job(job_id)
    assert job.status == "failed"
    assert "no_such" in job.error


def test_a_request_to_stop_is_heard_and_the_rest_is_run_later(corpus, store):
    settings = settings_of(corpus)
    job_id = store.request_job(settings, token="t", kind="sweep")
    store.start_job(job_id)

    def stop(event):
        if event.done == 1:
            store.cancel_job(job_id)

    with pytest.raises(SweepStopped) as stopped:
        run_sweep(load_sweep(settings), store=store, jobs=1, on_event=stop, job_id=job_id)
    sweep_id = stopped.value.sweep_id
    before = {run.id for run in store.runs(sweep_id=sweep_id, status="sealed")}
    assert len(before) == 1
    again = store.request_job({**settings, "resume": sweep_id}, token="again", kind="sweep")
    assert jobs.work(again, store) == 0
    assert store.job(again).run_id == sweep_id
    after = {run.id for run in store.runs(sweep_id=sweep_id, status="sealed")}
    assert before < after
    assert len(after) == 3


def test_a_request_made_before_the_start_runs_nothing(corpus, store):
    settings = settings_of(corpus)
    job_id = store.request_job(settings, token="t", kind="sweep")
    store.start_job(job_id)
    store.cancel_job(job_id)
    with pytest.raises(SweepStopped):
        run_sweep(load_sweep(settings), store=store, jobs=1, job_id=job_id)
    assert not store.runs(status="sealed")


def test_files_of_the_documents_are_written_once_and_stand_in_every_folder(swept):
    _, result, _ = swept
    folders = [Path(run.folder) for run in result.runs]
    for name in ("sections.csv", "paragraphs.csv", "raw_documents.txt"):
        files = [folder / name for folder in folders]
        assert len({os.stat(file).st_ino for file in files}) == 1
        assert "library" in files[0].read_text(encoding="utf-8")
    assert len(read_csv(folders[-1] / "sections.csv")) >= 12
