"""Jobs: what the dashboard asks for and a process of its own does, with progress, heartbeat and cancel."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import StoreError
from core.store.database import Database, now
from core.store.packing import from_json, sql_text, to_json

LOST_AFTER = 10.0  # seconds without a heartbeat after which a running job counts as lost
_ENDED = ("done", "failed", "cancelled")
_COLUMNS = (
    "id, token, kind, settings, status, run_id, pid, total, done, message, error, cancel_requested, created_at, "
    "started_at, finished_at, heartbeat"
)


@dataclass(frozen=True, slots=True)
class Job:
    """One job. `heartbeat` is a Unix time, the other times are ISO 8601 in UTC; `total` is None until it is
    known; `lost` is True where it should be running and has given no sign of life."""

    id: str
    token: str
    kind: str
    settings: dict[str, Any]
    status: str
    run_id: str | None
    pid: int | None
    total: int | None
    done: int
    message: str
    error: str
    cancel_requested: bool
    created_at: str
    started_at: str | None
    finished_at: str | None
    heartbeat: float | None
    lost: bool


class Jobs(Database):
    """`status`: queued | running | cancelling | done | failed | cancelled; `lost` is read, never written."""

    def request_job(self, settings: Mapping[str, Any], *, token: str, kind: str = "run") -> str:
        """Ask for a job. The same token twice gives the same job, so that a double click starts one."""
        job_id = "job-" + uuid.uuid4().hex[:12]
        with self.write() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO jobs (id, token, kind, settings, status, created_at, updated_at) "
                "VALUES (?, ?, ?, ?, 'queued', ?, ?)",
                (job_id, token, kind, to_json(dict(settings)), now(), time.time()),
            )
            row = connection.execute("SELECT id FROM jobs WHERE token = ?", (token,)).fetchone()
        return str(row[0])

    def job(self, job_id: str) -> Job:
        """One job. StoreError when there is none of this id."""
        found = self.rows(f"SELECT {_COLUMNS} FROM jobs WHERE id = ?", (job_id,))
        if not found:
            raise StoreError(f"no job {job_id} in the store")
        return _job(found[0])

    def jobs(self, limit: int = 50, *, active: bool = False) -> list[Job]:
        """Jobs, newest first; `active` gives those that are not ended."""
        where = f"WHERE status NOT IN ({', '.join(repr(s) for s in _ENDED)})" if active else ""
        found = self.rows(
            f"SELECT {_COLUMNS} FROM jobs {where} ORDER BY created_at DESC, rowid DESC LIMIT ?", (limit,)
        )
        return [_job(row) for row in found]

    def start_job(
        self, job_id: str, run_id: str | None = None, total: int | None = None, pid: int | None = None
    ) -> None:
        """Mark a job as running, with its run and number of cases once they are known. May be called again."""
        self._update(
            job_id,
            "status = CASE WHEN cancel_requested THEN 'cancelling' ELSE 'running' END, "
            "run_id = coalesce(?, run_id), total = coalesce(?, total), pid = coalesce(?, pid), started_at = coalesce(started_at, ?), "
            "finished_at = NULL, error = '', heartbeat = ?",
            (run_id, total, pid, now(), time.time()),
        )

    def beat(self, job_id: str, done: int | None = None, message: str | None = None) -> None:
        """A sign of life, with progress."""
        self._update(
            job_id,
            "heartbeat = ?, done = coalesce(?, done), message = coalesce(?, message)",
            (time.time(), done, None if message is None else sql_text(message)),
        )

    def finish_job(
        self, job_id: str, status: str = "done", error: str = "", run_id: str | None = None
    ) -> None:
        """End a job: done | failed | cancelled."""
        if status not in _ENDED:
            raise StoreError(f"a job ends as {', '.join(_ENDED)}, not '{status}'")
        self._update(
            job_id,
            "status = ?, error = ?, run_id = coalesce(?, run_id), finished_at = ?, heartbeat = ?",
            (status, sql_text(error), run_id, now(), time.time()),
        )

    def cancel_job(self, job_id: str) -> None:
        """Ask a job to stop between two cases. One that has not begun is cancelled at once."""
        self._update(
            job_id,
            "cancel_requested = 1, finished_at = CASE WHEN status = 'queued' THEN ? ELSE finished_at END, "
            "status = CASE status WHEN 'queued' THEN 'cancelled' WHEN 'running' THEN 'cancelling' ELSE status END",
            (now(),),
        )

    def cancelled(self, job_id: str) -> bool:
        """Whether somebody asked the job to stop."""
        row = self.one("SELECT cancel_requested FROM jobs WHERE id = ?", (job_id,))
        return bool(row and row[0])

    def resume_job(self, job_id: str) -> None:
        """Put a job that was lost, cancelled or failed back into the queue; what its run has stored stays."""
        self._update(
            job_id,
            "status = 'queued', cancel_requested = 0, error = '', finished_at = NULL, heartbeat = NULL",
            (),
        )

    def _update(self, job_id: str, assignments: str, values: tuple[Any, ...]) -> None:
        with self.write() as connection:
            changed = connection.execute(
                f"UPDATE jobs SET {assignments}, updated_at = ? WHERE id = ?", (*values, time.time(), job_id)
            )
            if changed.rowcount == 0:
                raise StoreError(f"no job {job_id} in the store")


def _job(row: tuple[Any, ...]) -> Job:
    fields = dict(zip(_COLUMNS.split(", "), row, strict=True))
    silent = fields["heartbeat"] is not None and time.time() - fields["heartbeat"] > LOST_AFTER
    fields["lost"] = fields["status"] in ("running", "cancelling") and silent
    fields["settings"] = from_json(fields["settings"])
    fields["cancel_requested"] = bool(fields["cancel_requested"])
    return Job(**fields)
