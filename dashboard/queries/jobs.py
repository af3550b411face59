"""Requested work: what is waiting, running, finished, stopped or lost."""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import Any

from dashboard.queries import source

LIVE = ("queued", "running", "cancelling")
LOST_AFTER = 10.0  # seconds without a heartbeat
START_GRACE = (
    120.0  # seconds without one before the first answer: libraries are loaded, documents read, an index made
)


def recent(limit: int = 20) -> list[dict[str, Any]]:
    """Jobs, newest first: id, kind, settings (dict), status, run_id, total, done, message, error, seconds,
    left (seconds, None where nobody can tell). A live job that is silent for too long has the status "lost"."""
    return [
        _seen(row)
        for row in source.rows("SELECT * FROM jobs ORDER BY created_at DESC, rowid DESC LIMIT ?", [limit])
    ]


def job(job_id: str) -> dict[str, Any] | None:
    row = source.first("SELECT * FROM jobs WHERE id = ?", [job_id])
    return _seen(row) if row else None


def by_token(token: str) -> dict[str, Any] | None:
    row = source.first("SELECT * FROM jobs WHERE token = ?", [token])
    return _seen(row) if row else None


def live() -> list[dict[str, Any]]:
    """Jobs that are waiting or running, newest first."""
    return [each for each in recent() if each["status"] in LIVE]


def of_run(run_id: str) -> dict[str, Any] | None:
    """The newest job that worked on a run."""
    row = source.first(
        "SELECT * FROM jobs WHERE run_id = ? ORDER BY created_at DESC, rowid DESC LIMIT 1", [run_id]
    )
    return _seen(row) if row else None


def _seen(row: dict[str, Any]) -> dict[str, Any]:
    row = dict(row)
    row["settings"] = json.loads(row["settings"])
    now = time.time()
    silent = now - (row["heartbeat"] or row["updated_at"])
    if row["status"] in LIVE and silent > (LOST_AFTER if row["total"] else START_GRACE):
        row["status"] = "lost"
    done, total = row["done"] or 0, row["total"] or 0
    begun = row["started"] = _seconds_since(row["started_at"], now)
    row["share"] = min(done / total, 1.0) if total else None
    row["left"] = (total - done) * begun / done if begun and done and total > done else None
    return row


def _seconds_since(moment: str | None, now: float) -> float | None:
    return now - datetime.fromisoformat(moment).timestamp() if moment else None
