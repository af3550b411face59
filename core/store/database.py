"""The connection to a store file: one a thread, WAL, short transactions that wait for their turn."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from core.errors import EmptyStoreError, StoreError
from core.store import packing, schema

BUSY_SECONDS = 60.0
MAKING_SECONDS = 2.0  # that a reader waits for a store that is just being made
# by whether a transaction is open already: how to begin, to end, to take back
_STEPS = {
    False: ("BEGIN IMMEDIATE", "COMMIT", ("ROLLBACK",)),
    True: ("SAVEPOINT inner", "RELEASE inner", ("ROLLBACK TO inner", "RELEASE inner")),
}
_LAYOUTS = "SELECT key, names FROM layouts"


def now() -> str:
    """UTC as ISO 8601 with seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Database:
    """A store file. Every thread (and every process after a fork) gets its own connection.

    `readonly=True` opens the file without ever writing to it; on a folder that cannot be written it is opened
    as immutable. Raises StoreError where the file is missing or empty (readonly), no run store, or of a newer schema.
    """

    def __init__(self, path: str | Path, *, readonly: bool = False) -> None:
        self.path = Path(path)
        self.readonly = readonly
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._lock = threading.RLock()
        self._layout_names: dict[int, dict[str, int]] = {}
        if readonly and not self.path.is_file():
            raise StoreError(f"no run store at {self.path}")
        self._connection()

    def close(self) -> None:
        """Close the connections of all threads. May be called twice."""
        with self._lock:
            for connection in self._opened:
                # a connection of another thread is closed by its owner or with the process
                try:
                    connection.close()
                except sqlite3.ProgrammingError:
                    continue
            self._opened.clear()
            self._local = threading.local()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- reading ------------------------------------------------------------------------------------------

    def query(self, sql: str, params: Sequence[Any] | Mapping[str, Any] = ()) -> list[dict[str, Any]]:
        """Rows of a SELECT as dicts. Nothing can be changed through it.

        `score(layout, scores, 'metric')` gives one score of a row of `case_results`, and `body_json(body)` a
        body as JSON text for `json_extract`.
        """
        return self._guarded(lambda: _as_dicts(self._reader().execute(sql, params)))

    def rows(self, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of a SELECT as tuples."""
        return self._guarded(lambda: self._connection().execute(sql, params).fetchall())

    def one(self, sql: str, params: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """The first row of a SELECT, or None."""
        return self._guarded(lambda: self._connection().execute(sql, params).fetchone())

    # --- writing ------------------------------------------------------------------------------------------

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction that holds the write lock from its start; waits for other writers, commits at the
        end, rolls back when anything is raised. May be nested: the outer one commits."""
        if self.readonly:
            raise StoreError(f"the store {self.path} is open for reading only")
        connection = self._connection()
        nested = connection.in_transaction
        begin, commit, undo = _STEPS[nested]
        with self._lock, _translated(self.path):
            if nested:
                connection.execute(begin)
            else:
                _begin(connection)
            try:
                yield connection
                connection.execute(commit)
            except BaseException:
                if connection.in_transaction:
                    for statement in undo:
                        connection.execute(statement)
                self._rolled_back()
                raise

    def _rolled_back(self) -> None:
        """Forget what was learned in a transaction that failed: keys it made may be given to something else."""
        self._layout_names.clear()

    # --- connections --------------------------------------------------------------------------------------

    def _connection(self) -> sqlite3.Connection:
        here: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if here is not None and self._local.pid == os.getpid():
            return here
        with _translated(self.path):
            here = self._made() if self.readonly else self._open(readonly=False)
            if not self.readonly:
                _prepare(here)
        self._local.connection, self._local.reader, self._local.pid = here, None, os.getpid()
        with self._lock:
            self._opened.append(here)
        return here

    def _reader(self) -> sqlite3.Connection:
        main = self._connection()
        if self.readonly:
            return main
        if self._local.reader is None:
            with _translated(self.path):
                self._local.reader = self._open(readonly=False)
                self._local.reader.execute("PRAGMA query_only = 1")
            with self._lock:
                self._opened.append(self._local.reader)
        reader: sqlite3.Connection = self._local.reader
        return reader

    def _open(self, *, readonly: bool) -> sqlite3.Connection:
        if readonly:
            writable = os.access(self.path.parent, os.W_OK)
            how = "mode=ro" if writable or self._has_log() else "immutable=1"
        else:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(f"{self.path.parent} cannot be made: {error.strerror}") from error
            how = "mode=rwc"
        uri = f"file:{quote(str(self.path.resolve()))}?{how}"
        # connections are used by one thread each; closing may come from another
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, check_same_thread=False)
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA cache_size = -32000")
        connection.create_function("score", 3, self._score, deterministic=True)
        connection.create_function("body_json", 1, packing.unpack_text, deterministic=True)
        return connection

    def _made(self) -> sqlite3.Connection:
        """A connection for reading. A store that another process is making at this moment is waited for."""
        deadline = time.monotonic() + MAKING_SECONDS
        while True:
            here = None
            try:
                here = self._open(readonly=True)
                if schema.version_of(here):
                    return here
                last = ""
            except sqlite3.OperationalError as error:  # the file has no log yet that could be read
                last = str(error)
            if here is not None:
                here.close()
            if time.monotonic() > deadline:
                if last:
                    raise StoreError(_message(self.path, sqlite3.OperationalError(last)))
                raise EmptyStoreError(
                    f"the store {self.path} is empty: nothing has been written to it. Start a run with this store, "
                    "or name another with --store-path"
                )
            time.sleep(0.02)

    def _has_log(self) -> bool:
        log = self.path.with_name(self.path.name + "-wal")
        return log.exists() and log.stat().st_size > 0

    def _score(self, layout: int | None, scores: bytes | None, name: str) -> float | None:
        if layout is None or scores is None:
            return None
        known = self._layout_names.get(layout)
        if known is None:
            # a connection of its own: this is called from inside a running statement
            connection = self._open(readonly=self.readonly)
            try:
                known = self._learn(connection.execute(_LAYOUTS).fetchall()).get(layout, {})
            finally:
                connection.close()
        index = known.get(name)
        if index is None:
            return None
        value: float = packing.ONE.unpack_from(scores, index * 8)[0]
        return None if value != value else value

    def layout(self, key: int) -> dict[str, int]:
        """Names of the scores of a row → their place in its blob."""
        known = self._layout_names.get(key)
        return self._learn(self.rows(_LAYOUTS)).get(key, {}) if known is None else known

    def _learn(self, found: list[tuple[Any, ...]]) -> dict[int, dict[str, int]]:
        for key, names in found:
            self._layout_names[key] = {name: place for place, name in enumerate(packing.from_json(names))}
        return self._layout_names

    def _guarded(self, read: Callable[[], Any]) -> Any:
        with _translated(self.path):
            return read()


def _as_dicts(cursor: sqlite3.Cursor) -> list[dict[str, Any]]:
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def _begin(connection: sqlite3.Connection) -> None:
    """BEGIN IMMEDIATE; the driver waits BUSY_SECONDS, but some locks are refused at once: try again then."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _prepare(connection: sqlite3.Connection) -> None:
    """WAL, and the newest schema. Two processes may open a new file at the same moment."""
    version = schema.version_of(connection)
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            if version < schema.schema_version():
                schema.migrate(connection)
            return
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _is_busy(error: sqlite3.Error) -> bool:
    return "locked" in str(error) or "busy" in str(error)


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(_message(path, error)) from error


def _message(path: Path, error: sqlite3.Error) -> str:
    text = str(error)
    if "the run is sealed" in text:
        return "the run is sealed and cannot be changed; score it again to make a new run"
    if _is_busy(error):
        return f"the store {path} stayed locked by another program for {BUSY_SECONDS:.0f} seconds; try again"
    if "not a database" in text:
        return f"{path} is not a SQLite file; name another file with --store-path"
    if "malformed" in text or "corrupt" in text:
        return f"the store {path} is damaged ({text}); `plumbline store check` says more"
    if "full" in text:
        return f"the disk that holds {path} is full"
    if "readonly" in text or "read-only" in text or "unable to open" in text:
        return f"the store {path} cannot be opened for writing ({text})"
    return f"the store {path} cannot be used: {text}"
