"""Starting, stopping and resuming work. Each job is a process of its own; the store is the only link to it.

The request is written to the store first, under a token that the page made: the same token never makes a second
job, however often a button is pressed. The process survives a closed tab and a restarted dashboard.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from core.errors import StoreError
from core.store.runs import Store
from dashboard.queries import jobs, source

RESUMABLE = ("run", "demo", "sweep")
ROOT = Path(__file__).resolve().parent.parent


def start(settings: dict[str, Any], *, token: str, kind: str = "run") -> str:
    """Request a job and start its process; the id of the job. A second call with the same token starts nothing
    and returns the same id. StoreError in review mode or where the store cannot be written."""
    _must_be_allowed()
    present = jobs.by_token(token)
    if present is not None:
        return str(present["id"])
    with Store(source.store_path()) as store:
        job_id = str(store.request_job(settings, token=token, kind=kind))
    _launch(job_id)
    return job_id


def start_demo(token: str) -> str:
    """Request the bundled demo; while one is under way, its id instead of a second one."""
    under_way = next((each for each in jobs.live() if each["kind"] == "demo"), None)
    return str(under_way["id"]) if under_way else start({}, token=token, kind="demo")


def resume(job: dict[str, Any], *, token: str) -> str:
    """Go on with the run or sweep of a job that was stopped, failed or lost: only what is missing is asked."""
    settings = dict(job["settings"])
    if job.get("run_id") and job["kind"] in RESUMABLE:
        settings["resume"] = job["run_id"]
    return start(settings, token=token, kind=job["kind"])


def cancel(job_id: str) -> None:
    """Ask the process to stop after the case it is at. What was answered stays stored."""
    _must_be_allowed()
    with Store(source.store_path()) as store:
        store.cancel_job(job_id)


def log_path(job_id: str) -> Path:
    """Where the process of a job writes what it has to say."""
    return source.output_dir() / ".jobs" / f"{Path(job_id).name}.log"


def log_tail(job_id: str, characters: int = 4_000) -> str:
    """The end of a job's log, "" where there is none."""
    path = log_path(job_id)
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - characters * 4, 0))
        return file.read().decode("utf-8", "replace")[-characters:]


def _launch(job_id: str) -> None:
    store = source.store_path().resolve()
    log = log_path(job_id)
    log.parent.mkdir(parents=True, exist_ok=True)
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PLUMBLINE_STORE": str(store)}
    with log.open("ab") as out:
        subprocess.Popen(
            [sys.executable, "-m", "core", "run", "--job", job_id, "--store-path", str(store)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )


def _must_be_allowed() -> None:
    if source.review_mode():
        raise StoreError(
            "this dashboard only shows runs (PLUMBLINE_REVIEW is set): nothing can be started or stopped"
        )


def label(run_id: str, case_id: str, subject: str, value: str, *, author: str, reason: str) -> None:
    """Keep what a person says about a case; a newer label of the same author replaces the older."""
    _must_be_allowed()
    with Store(source.store_path()) as store:
        store.add_label(run_id, case_id, subject, value, author=author, reason=reason)


def take_label_back(label_id: int) -> None:
    """Undo a label; it stays on record as taken back."""
    _must_be_allowed()
    with Store(source.store_path()) as store:
        store.undo_label(label_id)


def pin_baseline(name: str, run_id: str, *, move: bool = False) -> None:
    """Pin a sealed run under a name that gates and comparisons use. StoreError where the name is empty, or taken
    and not to be moved."""
    _must_be_allowed()
    with Store(source.store_path()) as store:
        store.set_baseline(name, run_id, move=move)


def unpin_baseline(name: str) -> None:
    """Take a baseline's name away; its run stays."""
    _must_be_allowed()
    with Store(source.store_path()) as store:
        store.remove_baseline(name)
