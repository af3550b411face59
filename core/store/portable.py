"""A run as one portable file: a small store that holds just this run, with everything it needs."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeVar

from core.errors import StoreError
from core.records import Run
from core.store import rows
from core.store.packing import to_json
from core.store.runs import Store

BLOCK = 1_000
T = TypeVar("T")


def export_run(store: Store, ref: str, path: str | Path) -> Path:
    """Write a run to a file of its own; never over another file. Returns the path."""
    target = Path(path)
    if target.exists():
        raise StoreError(f"{target} is already there; name another file")
    staging = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.partial")
    try:
        with Store(staging) as made:
            copy_run(store, made, store.run(ref))
            made.finish_file()
        os.rename(staging, target)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error}") from error
    finally:
        for ending in ("", "-wal", "-shm"):
            staging.with_name(staging.name + ending).unlink(missing_ok=True)
    return target


def import_runs(store: Store, path: str | Path) -> list[str]:
    """Bring every run of a portable file into the store; all of them or none. Returns the ids that were new.

    A run the store holds already (same id, same contents) is left alone; the same id with other contents is a
    StoreError.
    """
    with Store(path, readonly=True) as source, store.write():
        new = []
        for run in source.runs(archived=None):
            present = store.one("SELECT 1 FROM runs WHERE id = ?", (run.id,))
            if present is None:
                copy_run(source, store, run)
                new.append(run.id)
            elif _comparable(store, run) != run.model_copy(update={"folder": None}):
                raise StoreError(f"the store holds another run with the id {run.id}; nothing was imported")
    return new


def _comparable(store: Store, run: Run) -> Run | None:
    try:
        return store.run(run.id).model_copy(update={"folder": None})
    except StoreError:
        return None  # deleted here: bring it back with undo, or purge it first


def copy_run(source: Store, target: Store, run: Run) -> None:
    """Copy one run between stores in one transaction, its seal with it."""
    with target.write() as connection:
        target.create_run(run, source.cases(run.id))
        target.add_documents(run.id, source.documents(run.id), source.parsing_reports(run.id))
        for block in _blocks(source.iter_outputs(run.id)):
            target.add_outputs(run.id, block)
        for results in _blocks(source.iter_results(run.id)):
            target.add_results(run.id, results)
        for name in source.attribution_tables(run.id):
            target.add_attribution(run.id, name, source.attribution(run.id, name))
        versions = source.metric_versions(run.id)
        target.seal(
            run.id, summary=run.summary, aggregates=run.aggregates, verdicts=run.verdicts, status="copied"
        )
        connection.executemany(
            rows.INSERT_METRIC,
            source.rows(f"SELECT {rows.METRIC_COLUMNS} FROM metrics"),
        )
        connection.executemany(
            "UPDATE aggregates SET version = ? WHERE metric = ? AND run_key = (SELECT key FROM runs WHERE id = ?)",
            [(version, metric, run.id) for metric, version in versions.items()],
        )
        connection.execute(
            "UPDATE runs SET status = ?, sealed_at = ?, verdicts = ? WHERE id = ?",
            (run.status, run.sealed_at, to_json(run.verdicts), run.id),
        )
        if source.note(run.id):
            target.set_note(run.id, source.note(run.id))
        if source.tags(run.id):
            target.tag(run.id, *source.tags(run.id))


def _blocks(items: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(items)
    while block := list(islice(rest, BLOCK)):
        yield block
