"""What a run writes while it goes: its cases, outputs and results, and its seal.

Every `add_*` is one short transaction. When it has returned, a killed process loses nothing of it.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.errors import StoreError
from core.records import Aggregate, Case, Output, Result, Run
from core.store import content, rows
from core.store.database import now
from core.store.packing import pack, sql_text, to_json
from core.store.reading import Reading

_CaseKey = tuple[int, tuple[str, str, str]]  # key, (evaluator, test, question type)


class Writing(Reading):
    """Creates, fills and seals runs."""

    def __init__(self, path: str | Path, *, readonly: bool = False) -> None:
        super().__init__(path, readonly=readonly)
        self._content = content.ContentKeys()
        self._case_keys: dict[str, dict[str, _CaseKey]] = {}

    def create_run(self, run: Run, cases: Iterable[Case]) -> None:
        """Store a run and its cases. StoreError when the id is taken or case ids are given twice."""
        listed = list(cases)
        twice = [name for name, n in Counter(case.id for case in listed).items() if n > 1]
        if twice:
            raise StoreError(
                f"case ids must be unique in a run; given twice: {', '.join(sorted(twice)[:10])}"
            )
        values = {
            "id": run.id,
            "name": sql_text(run.name),
            "kind": run.kind,
            "suite": sql_text(run.suite),
            "suite_digest": run.suite_digest,
            "created_at": run.created_at,
            "status": run.status if run.status != "sealed" else "running",
            "settings": to_json(run.settings),
            "digests": to_json(run.digests),
            "versions": to_json(run.versions),
            "git_revision": run.git_revision,
            "seed": run.seed,
            "parent_id": run.parent_id,
            "sweep_id": run.sweep_id,
            "folder": None if run.folder is None else sql_text(run.folder),
            "n_cases": run.n_cases or len(listed),
            "repeats": run.repeats,
            "verdicts": to_json(run.verdicts),
            "summary": pack(run.summary),
            "updated_at": time.time(),
        }
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        with self.write() as connection:
            if connection.execute("SELECT 1 FROM runs WHERE id = ?", (run.id,)).fetchone():
                raise StoreError(f"a run with the id {run.id} is already in the store")
            row = connection.execute(f"INSERT INTO runs ({names}) VALUES ({marks})", tuple(values.values()))
            content.add_cases(connection, int(row.lastrowid or 0), listed)

    def add_cases(self, run_id: str, cases: Iterable[Case]) -> None:
        """Cases that come to light while a run goes (proposed by an evaluator, or another turn). A case the run
        has already is left as it is."""
        with self.write() as connection:
            key = self._open_run(connection, run_id)
            content.add_cases(connection, key, list(cases))
            connection.execute(
                "UPDATE runs SET n_cases = (SELECT count(*) FROM run_cases WHERE run_key = ?1) WHERE key = ?1",
                (key,),
            )
            _touch(connection, key)
        self._case_keys.pop(run_id, None)

    def add_outputs(self, run_id: str, outputs: Iterable[Output]) -> int:
        """Store outputs; (run, case, repeat) is the key. An answer that is there stays; a failed record gives
        way to one that worked (its result goes with it). Returns how many were written."""
        listed = list(outputs)
        if not listed:
            return 0
        with self._filling(run_id) as (connection, key):
            cases = self._cases_of(connection, run_id, key, [output.case_id for output in listed])
            passages = self._content.passage_keys(connection, listed)
            made = [rows.output_row(key, cases[o.case_id][0], o, passages) for o in listed]
            retried = [
                row[1:3] for row in made if row[3] is None and _failed(connection, key, row[1], row[2])
            ]
            before = connection.total_changes
            connection.executemany(rows.INSERT_OUTPUT, made)
            written = connection.total_changes - before
            connection.executemany(
                "DELETE FROM results WHERE run_key = ? AND case_key = ? AND repeat = ?",
                [(key, *pair) for pair in retried],
            )
        return written

    def add_results(self, run_id: str, results: Iterable[Result]) -> int:
        """Store results; (run, case, repeat) is the key. A result that is there stays, except that one with a
        failure gives way to one without. Returns how many were written."""
        listed = list(results)
        if not listed:
            return 0
        with self._filling(run_id) as (connection, key):
            cases = self._cases_of(connection, run_id, key, [result.case_id for result in listed])
            made = []
            for result in listed:
                names = tuple(sorted(result.scores))
                layout = self._content.layout(connection, names)
                case_key, place = cases[result.case_id]
                made.append(rows.result_row(key, case_key, result, layout, names, place))
            before = connection.total_changes
            connection.executemany(rows.INSERT_RESULT, made)
            return connection.total_changes - before

    def set_status(self, run_id: str, status: str) -> None:
        """queued | running | cancelling | cancelled | failed. Sealing has its own method."""
        if status == "sealed":
            raise StoreError("a run is sealed with Store.seal")
        with self.write() as connection:
            key = self._open_run(connection, run_id)
            connection.execute("UPDATE runs SET status = ? WHERE key = ?", (status, key))
            _touch(connection, key)

    def set_folder(self, run_id: str, folder: str) -> None:
        """Where the run's files lie. The one thing that may change after the seal: it is a place, not content."""
        with self.write() as connection:
            row = connection.execute("SELECT key FROM runs WHERE id = ?", (run_id,)).fetchone()
            if row is None:
                raise StoreError(f"no run {run_id} in the store")
            connection.execute("UPDATE runs SET folder = ? WHERE key = ?", (sql_text(folder), row[0]))
            _touch(connection, row[0])

    def seal(
        self,
        run_id: str,
        *,
        summary: Mapping[str, Any],
        aggregates: Sequence[Aggregate],
        verdicts: Mapping[str, int],
        folder: str | None = None,
        status: str = "sealed",
    ) -> Run:
        """Write the summary of a run and close it. With another status than "sealed" (cancelled, failed) the
        run stays open, so that it can be resumed and sealed later."""
        with self.write() as connection:
            key = self._open_run(connection, run_id)
            connection.execute("DELETE FROM aggregates WHERE run_key = ?", (key,))
            connection.executemany(
                rows.INSERT_AGGREGATE, [rows.aggregate_row(key, i, a) for i, a in enumerate(aggregates)]
            )
            connection.execute("DELETE FROM run_figures WHERE run_key = ?", (key,))
            connection.executemany(
                "INSERT INTO run_figures (run_key, name, value) VALUES (?, ?, ?)",
                [(key, name, value) for name, value in self.measure(run_id).items()],
            )
            connection.executemany(rows.INSERT_METRIC, rows.metric_rows(a.metric for a in aggregates))
            connection.execute(
                "UPDATE runs SET summary = ?, verdicts = ?, folder = coalesce(?, folder), status = ?, sealed_at = ?, "
                "updated_at = ? WHERE key = ?",
                (
                    pack(dict(summary)),
                    to_json(dict(verdicts)),
                    None if folder is None else sql_text(folder),
                    status,
                    now() if status == "sealed" else None,
                    time.time(),
                    key,
                ),
            )
        self._case_keys.pop(run_id, None)
        return self.run(run_id)

    # --- inside -------------------------------------------------------------------------------------------

    @contextmanager
    def _filling(self, run_id: str) -> Iterator[tuple[sqlite3.Connection, int]]:
        """A transaction on an open run."""
        with self.write() as connection:
            key = self._open_run(connection, run_id)
            self._content.check(connection)
            yield connection, key
            _touch(connection, key)

    def _rolled_back(self) -> None:
        super()._rolled_back()
        self._content.forget()
        self._case_keys.clear()

    def _open_run(self, connection: sqlite3.Connection, run_id: str) -> int:
        row = connection.execute(
            "SELECT key, sealed_at, deleted_at FROM runs WHERE id = ?", (run_id,)
        ).fetchone()
        if row is None:
            raise StoreError(f"no run {run_id} in the store")
        if row[1] is not None:
            raise StoreError(
                f"the run {run_id} is sealed and cannot be changed; score it again to make a new run"
            )
        if row[2] is not None:
            raise StoreError(f"the run {run_id} was deleted; `plumbline store undo {run_id}` brings it back")
        return int(row[0])

    def _cases_of(
        self, connection: sqlite3.Connection, run_id: str, key: int, wanted: Sequence[str]
    ) -> dict[str, _CaseKey]:
        known = self._case_keys.get(run_id)
        if known is None or not all(case_id in known for case_id in wanted):
            found = connection.execute(
                f"SELECT {content.CASE_ID}, c.key, c.evaluator, c.test, c.question_type FROM run_cases rc "
                "JOIN cases c ON c.key = rc.case_key WHERE rc.run_key = ?",
                (key,),
            )
            known = self._case_keys[run_id] = {
                content.case_id(name, body): (case_key, (evaluator, test, question_type))
                for name, body, case_key, evaluator, test, question_type in found
            }
        unknown = sorted({case_id for case_id in wanted if case_id not in known})
        if unknown:
            raise StoreError(f"the run {run_id} has no case {', '.join(repr(name) for name in unknown[:10])}")
        return known


def _failed(connection: sqlite3.Connection, run_key: int, case_key: int, repeat: int) -> bool:
    row = connection.execute(
        "SELECT failure IS NOT NULL FROM outputs WHERE run_key = ? AND case_key = ? AND repeat = ?",
        (run_key, case_key, repeat),
    ).fetchone()
    return bool(row and row[0])


def _touch(connection: sqlite3.Connection, run_key: int) -> None:
    connection.execute("UPDATE runs SET updated_at = ? WHERE key = ?", (time.time(), run_key))
