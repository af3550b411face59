"""Working on a job somebody requested through the store (the dashboard): in a process of its own, with progress
in the store, stoppable, resumable. The process survives a closed tab."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core import pipeline
from core.deferred import Deferred
from core.demo import demo_settings
from core.errors import EvalError, SweepStopped
from core.records import Run
from core.settings import load_settings
from core.store.runs import Store
from core.sweep import SweepProgress, run_sweep
from core.sweep_grid import load_sweep
from core.tasks import is_audit

_AUDIT: Deferred[Callable[..., Run]] = Deferred({"run": "core.audit.running:run_audit"})


def work(job_id: str, store: Store) -> int:
    """Run the job to its end and record how it ended; the exit code of the process (0 even when cancelled)."""
    job = store.job(job_id)
    alive = threading.Event()
    threading.Thread(target=_beat, args=(store, job_id, alive), name="heartbeat", daemon=True).start()
    try:
        store.start_job(job_id, pid=os.getpid())
        finished = _WORKERS[job.kind](job.settings, store, job_id)
    except EvalError as error:
        store.finish_job(job_id, "failed", str(error))
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the job table must say why a job died, whatever it was
        store.finish_job(
            job_id, "failed", f"{type(error).__name__}: {error}\n{traceback.format_exc(limit=-4)}"
        )
        return 1
    finally:
        alive.set()
    store.finish_job(job_id, "cancelled" if finished.status == "cancelled" else "done", run_id=finished.id)
    return 0


@dataclass(frozen=True, slots=True)
class Ended:
    """What a job came to: the id of its sweep, and "sealed" or "cancelled"."""

    id: str
    status: str


def _beat(store: Store, job_id: str, ended: threading.Event) -> None:
    """A sign of life every two seconds, so that parsing a large folder does not look like a lost process."""
    while not ended.wait(2.0):
        store.beat(job_id)


def _run(settings: dict[str, Any], store: Store, job_id: str) -> Run:
    wanted = dict(settings)
    resume, retry = wanted.pop("resume", None), wanted.pop("retry_errors", None)
    if is_audit(wanted):
        folder = Path(store.path).parent
        return _AUDIT["run"](
            wanted, store=store, output_dir=folder, resume=resume, retry_errors=retry, job_id=job_id
        )
    chosen = load_settings(wanted)
    return pipeline.run(chosen, store=store, resume=resume, retry_errors=retry, job_id=job_id)


def _demo(settings: dict[str, Any], store: Store, job_id: str) -> Run:
    folder = Path(store.path).parent
    return pipeline.run(demo_settings(folder), store=store, resume=settings.get("resume"), job_id=job_id)


def _sweep(settings: dict[str, Any], store: Store, job_id: str) -> Ended:
    """The settings of a sweep file; `race` stops losers early, `resume` goes on with a sweep by its id."""
    wanted = {"output_dir": str(Path(store.path).parent), **settings}
    resume, racing = wanted.pop("resume", None), bool(wanted.pop("race", False))
    design = load_sweep(wanted)

    def tell(event: SweepProgress) -> None:
        if not event.done:
            store.start_job(job_id, event.sweep_id, event.total)
        failed = f", {event.failed} failed" if event.failed else ""
        store.beat(job_id, event.done, f"{event.done} of {event.total} configurations{failed}")

    try:
        result = run_sweep(design, store=store, resume=resume, racing=racing, on_event=tell, job_id=job_id)
    except SweepStopped as stopped:
        return Ended(stopped.sweep_id, "cancelled")
    return Ended(result.sweep_id, "sealed")


_WORKERS: dict[str, Callable[[dict[str, Any], Store, str], Run | Ended]] = {
    "run": _run,
    "demo": _demo,
    "sweep": _sweep,
}
