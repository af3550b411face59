"""Keeping runs in order: tags, notes, archive, baselines, delete with undo, retention, check and vacuum.

None of this changes what a run says; a sealed run keeps every figure.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from core.errors import StoreError, nearest
from core.records import Run
from core.store import schema
from core.store.database import now
from core.store.packing import from_json, pack, sql_text, unpack
from core.store.writing import Writing

UNDO_DAYS = 30  # how long a deleted run can be brought back
# layouts are few and stay: every open program remembers their keys
_CONTENT = {
    "cases": "SELECT case_key FROM run_cases",
    "documents": "SELECT document_key FROM run_documents WHERE document_key IS NOT NULL",
}


@dataclass(frozen=True, slots=True)
class Baseline:
    """A named run that gates and trends refer to. It cannot be deleted while it is pinned."""

    name: str
    run_id: str
    run_name: str
    suite: str
    pinned_at: str


@dataclass(frozen=True, slots=True)
class GateRecord:
    """One gate decision: verdict, the whole report, and the runs it was about."""

    run_id: str
    baseline_id: str | None
    decided_at: str
    verdict: str
    report: dict[str, Any]


class Keeping(Writing):
    """Everything that may change about a run after its seal."""

    # --- tags and notes -----------------------------------------------------------------------------------

    def tag(self, ref: str, *tags: str) -> None:
        """Add tags; a tag that is there stays."""
        empty = [tag for tag in tags if not tag.strip()]
        if empty or not tags:
            raise StoreError("a tag needs at least one character")
        with self.write() as connection:
            key = self.run_key(ref)
            connection.executemany(
                "INSERT OR IGNORE INTO tags (run_key, tag) VALUES (?, ?)",
                [(key, sql_text(tag.strip())) for tag in tags],
            )
            self._touched(connection, key)

    def untag(self, ref: str, *tags: str) -> None:
        """Take tags away."""
        with self.write() as connection:
            key = self.run_key(ref)
            connection.executemany(
                "DELETE FROM tags WHERE run_key = ? AND tag = ?",
                [(key, sql_text(tag.strip())) for tag in tags],
            )
            self._touched(connection, key)

    def tags(self, ref: str) -> list[str]:
        """Tags of a run, sorted."""
        return [
            row[0]
            for row in self.rows("SELECT tag FROM tags WHERE run_key = ? ORDER BY tag", (self.run_key(ref),))
        ]

    def set_note(self, ref: str, text: str) -> None:
        """Write a note to a run; an empty text removes it."""
        self._set(ref, "note", sql_text(text))

    def note(self, ref: str) -> str:
        row = self.one("SELECT note FROM runs WHERE key = ?", (self.run_key(ref),))
        return str(row[0]) if row else ""

    def archive(self, ref: str, archived: bool = True) -> None:
        """Take a run out of the lists (or bring it back); it stays where it is and can be opened."""
        self._set(ref, "archived_at", now() if archived else None)

    # --- deleting -----------------------------------------------------------------------------------------

    def delete(self, ref: str) -> str:
        """Delete a run; `undo` brings it back until it is purged (30 days). Returns its id. A baseline is
        protected: StoreError."""
        with self.write() as connection:
            key = self.run_key(ref)
            pinned = connection.execute("SELECT name FROM baselines WHERE run_key = ?", (key,)).fetchall()
            if pinned:
                names = ", ".join(row[0] for row in pinned)
                raise StoreError(
                    f"the run is the baseline '{names}'; unpin it first: plumbline store baseline remove {names}"
                )
            connection.execute("UPDATE runs SET deleted_at = ? WHERE key = ?", (now(), key))
            self._touched(connection, key)
            return str(connection.execute("SELECT id FROM runs WHERE key = ?", (key,)).fetchone()[0])

    def deleted(self) -> list[tuple[str, str, str]]:
        """(id, name, time of deletion) of runs that can still be brought back, newest deletion first."""
        found = self.rows(
            "SELECT id, name, deleted_at FROM runs WHERE deleted_at IS NOT NULL ORDER BY deleted_at DESC, key DESC"
        )
        return [(row[0], row[1], row[2]) for row in found]

    def undo(self, ref: str | None = None) -> str:
        """Bring back a deleted run by id or name, or the one deleted last. Returns its id."""
        with self.write() as connection:
            where, params = ("", ()) if ref is None else (" AND (id = ?1 OR name = ?1)", (sql_text(ref),))
            row = connection.execute(
                f"SELECT key, id FROM runs WHERE deleted_at IS NOT NULL{where} ORDER BY deleted_at DESC, key DESC",
                params,
            ).fetchone()
            if row is None:
                known = [name for found in self.deleted() for name in found[:2]]
                raise StoreError(
                    f"no deleted run '{ref}'{nearest(ref, known)}" if ref else "no run was deleted"
                )
            connection.execute("UPDATE runs SET deleted_at = NULL WHERE key = ?", (row[0],))
            self._touched(connection, row[0])
        return str(row[1])

    def retain(
        self,
        *,
        keep: int | None = None,
        days: float | None = None,
        suite: str | None = None,
        dry_run: bool = False,
    ) -> list[str]:
        """Delete (with undo) what is older than `days` and not among the newest `keep` of its suite.

        Baselines, tagged runs, runs with a note and runs that are not at an end are never touched. Returns the
        ids, oldest first. StoreError when neither limit is given.
        """
        if keep is None and days is None:
            raise StoreError("retention needs a limit: how many runs to keep, or for how many days")
        conditions = ["deleted_at IS NULL", "note = ''", "status IN ('sealed', 'failed', 'cancelled')"]
        conditions += ["key NOT IN (SELECT run_key FROM baselines)", "key NOT IN (SELECT run_key FROM tags)"]
        params: list[Any] = []
        if suite is not None:
            conditions.append("suite = ?")
            params.append(suite)
        if days is not None:
            conditions.append("created_at < ?")
            params.append((datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds"))
        if keep is not None:
            conditions.append(
                "key NOT IN (SELECT key FROM (SELECT key, row_number() OVER (PARTITION BY suite ORDER BY created_at "
                "DESC, key DESC) AS place FROM runs WHERE deleted_at IS NULL) WHERE place <= ?)"
            )
            params.append(keep)
        with self.write() as connection:
            found = connection.execute(
                f"SELECT key, id FROM runs WHERE {' AND '.join(conditions)} ORDER BY created_at, key", params
            ).fetchall()
            if not dry_run:
                connection.executemany(
                    "UPDATE runs SET deleted_at = ?, updated_at = ? WHERE key = ?",
                    [(now(), time.time(), row[0]) for row in found],
                )
        return [row[1] for row in found]

    # --- baselines ----------------------------------------------------------------------------------------

    def set_baseline(self, name: str, ref: str, *, move: bool = False) -> Baseline:
        """Pin a sealed run under a name. A name that is taken is only moved when asked to."""
        if not name.strip() or name == "latest":
            raise StoreError(f"'{name}' cannot name a baseline")
        with self.write() as connection:
            run = self.run(ref)
            if run.status != "sealed":
                raise StoreError(f"only a sealed run can be a baseline; {run.id} is {run.status}")
            key = self.run_key(run.id)
            present = connection.execute("SELECT run_key FROM baselines WHERE name = ?", (name,)).fetchone()
            if present and present[0] != key and not move:
                raise StoreError(f"the baseline '{name}' is pinned to another run; move it with --move")
            connection.execute(
                "INSERT INTO baselines (name, run_key, pinned_at) VALUES (?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET run_key = excluded.run_key, pinned_at = excluded.pinned_at "
                "WHERE run_key <> excluded.run_key",
                (sql_text(name), key, now()),
            )
            self._touched(connection, key)
        return next(found for found in self.baselines() if found.name == name)

    def baseline(self, name: str) -> Run | None:
        """The run a baseline name stands for; None for an unknown name."""
        row = self.one("SELECT run_key FROM baselines WHERE name = ?", (sql_text(name),))
        return None if row is None else self._load_run(row[0])

    def baselines(self) -> list[Baseline]:
        """All baselines, by name."""
        found = self.rows(
            "SELECT b.name, r.id, r.name, r.suite, b.pinned_at FROM baselines b JOIN runs r ON r.key = b.run_key ORDER BY b.name"
        )
        return [Baseline(*row) for row in found]

    def remove_baseline(self, name: str) -> None:
        """Unpin a baseline; its run stays."""
        with self.write() as connection:
            if not connection.execute("DELETE FROM baselines WHERE name = ?", (sql_text(name),)).rowcount:
                known = [found.name for found in self.baselines()]
                raise StoreError(f"no baseline '{name}'{nearest(name, known)}")

    # --- gates --------------------------------------------------------------------------------------------

    def add_gate(self, run_id: str, baseline_id: str | None, verdict: str, report: Mapping[str, Any]) -> None:
        """Remember a gate decision, for the history on the trends page."""
        with self.write() as connection:
            key = self.run_key(run_id)
            other = None if baseline_id is None else self.run_key(baseline_id)
            connection.execute(
                "INSERT INTO gates (run_key, baseline_key, decided_at, verdict, report) VALUES (?, ?, ?, ?, ?)",
                (key, other, now(), verdict, pack(dict(report))),
            )
            self._touched(connection, key)

    def gates(self, *, run_id: str | None = None, suite: str | None = None) -> list[GateRecord]:
        """Gate decisions of a run, of a suite, or all; newest first."""
        where: str = ""
        params: tuple[str, ...] = ()
        if run_id is not None:
            where, params = "WHERE r.id = ?", (run_id,)
        elif suite is not None:
            where, params = "WHERE r.suite = ?", (suite,)
        found = self.rows(
            "SELECT r.id, b.id, g.decided_at, g.verdict, g.report FROM gates g JOIN runs r ON r.key = g.run_key "
            f"LEFT JOIN runs b ON b.key = g.baseline_key {where} ORDER BY g.key DESC",
            params,
        )
        return [GateRecord(row[0], row[1], row[2], row[3], unpack(row[4])) for row in found]

    # --- the file itself ----------------------------------------------------------------------------------

    def check(self) -> list[str]:
        """What is wrong with the store, in plain words; empty when nothing is."""
        found = [f"SQLite: {row[0]}" for row in self.rows("PRAGMA integrity_check") if row[0] != "ok"]
        for table, column, parent in (
            ("outputs", "run_key", "runs"),
            ("outputs", "case_key", "cases"),
            ("results", "run_key", "runs"),
            ("results", "case_key", "cases"),
            ("results", "layout", "layouts"),
            ("run_cases", "case_key", "cases"),
            ("passages", "text_key", "texts"),
            ("baselines", "run_key", "runs"),
        ):
            lost = self.one(f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT key FROM {parent})")
            if lost and lost[0]:
                found.append(f"{lost[0]} rows of {table} refer to {parent} that are not there")
        for key, run_id, verdicts in self.rows(
            "SELECT key, id, verdicts FROM runs WHERE sealed_at IS NOT NULL"
        ):
            counted = dict(
                self.rows("SELECT verdict, count(*) FROM results WHERE run_key = ? GROUP BY verdict", (key,))
            )
            said = {name: n for name, n in from_json(verdicts).items() if n}
            if said != counted:
                found.append(
                    f"run {run_id}: its record says {said or 'nothing'}, its results say {counted or 'nothing'}"
                )
        version = self.rows("PRAGMA user_version")[0][0]
        if version != schema.schema_version():
            found.append(f"schema {version} where {schema.schema_version()} was expected")
        return found

    def vacuum(self, *, purge_days: float = UNDO_DAYS) -> dict[str, int]:
        """Purge runs deleted longer ago than `purge_days`, drop content nobody refers to, give room back.

        Returns runs purged and bytes before and after. Other programs may go on reading and writing.
        """
        before = self._bytes()
        limit = (datetime.now(UTC) - timedelta(days=purge_days)).isoformat(timespec="seconds")
        with self.write() as connection:
            keys = connection.execute("SELECT key FROM runs WHERE deleted_at <= ?", (limit,)).fetchall()
            for (key,) in keys:
                _purge(connection, key)
            _drop_unused(connection)
            connection.execute("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'generation'")
        self._content.forget()
        self._guarded(lambda: self._connection().execute("VACUUM"))
        self._guarded(lambda: self._connection().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())
        return {"purged": len(keys), "bytes_before": before, "bytes_after": self._bytes()}

    def finish_file(self) -> None:
        """Fold the write-ahead log into the file, so that the one file can be sent around."""
        self._guarded(lambda: self._connection().execute("PRAGMA journal_mode = DELETE").fetchall())

    def _bytes(self) -> int:
        sides = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(path.stat().st_size for path in sides if path.exists())

    def _set(self, ref: str, column: str, value: Any) -> None:
        with self.write() as connection:
            key = self.run_key(ref)
            connection.execute(f"UPDATE runs SET {column} = ? WHERE key = ?", (value, key))
            self._touched(connection, key)

    def _touched(self, connection: sqlite3.Connection, key: int) -> None:
        connection.execute("UPDATE runs SET updated_at = ? WHERE key = ?", (time.time(), key))


def _purge(connection: sqlite3.Connection, key: int) -> None:
    connection.execute(
        "DELETE FROM attributions WHERE owner_id = (SELECT id FROM runs WHERE key = ?)", (key,)
    )
    for table in (*schema.GUARDED, "tags", "labels", "gates"):
        connection.execute(f"DELETE FROM {table} WHERE run_key = ?", (key,))
    connection.execute("DELETE FROM runs WHERE key = ?", (key,))


def _drop_unused(connection: sqlite3.Connection) -> None:
    for table, used in _CONTENT.items():
        connection.execute(f"DELETE FROM {table} WHERE key NOT IN ({used})")
    named: set[int] = set()
    for (hits,) in connection.execute("SELECT hits FROM outputs WHERE hits IS NOT NULL"):
        named.update(key for part in unpack(hits) for key in part[0])
    unused = [(key,) for (key,) in connection.execute("SELECT key FROM passages") if key not in named]
    connection.executemany("DELETE FROM passages WHERE key = ?", unused)
    connection.execute("DELETE FROM texts WHERE key NOT IN (SELECT text_key FROM passages)")
