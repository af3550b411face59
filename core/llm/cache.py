"""Recorded replies: one SQLite file, keyed by everything that decides an answer.

The key is the SHA-256 of the canonical JSON of provider, address, model, system prompt, messages, tool with its
schema, way of structuring, token limit, temperature, repeat index, and the purpose (rubric, its version and digest).
It holds no run id, no time and no key of the user's. Only replies that were found usable are stored.

Modes: `use` (read, and record what is missing), `refresh` (record anew, never read), `only` (replay; nothing is
sent), `off`.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from core.errors import ConfigError, Problem
from core.llm.client import LlmFailure, LlmReply, LlmRequest
from core.records import digest

CacheMode = Literal["use", "refresh", "only", "off"]
FORMAT = 1
FILE_NAME = "replies.db"


def cache_key(provider: str, address: str, request: LlmRequest) -> str:
    """The key of a request (hex)."""
    return digest(
        {
            "format": FORMAT,
            "provider": provider,
            "address": address,
            "request": request.model_dump(mode="json"),
        }
    )


class ReplyCache:
    """Replies of one folder. Safe for many threads and processes. Unreadable entries count as missing."""

    def __init__(self, folder: Path | None, mode: CacheMode = "use") -> None:
        if mode == "only" and (folder is None or not (folder / FILE_NAME).is_file()):
            raise ConfigError(
                "nothing can be replayed",
                [
                    Problem(
                        "judge-cache: only",
                        f"no recorded replies in {folder}",
                        hint="record them with --judge-cache use",
                    )
                ],
            )
        self.mode: CacheMode = "off" if folder is None else mode
        self._path = (folder or Path()) / FILE_NAME
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def get(self, key: str) -> LlmReply | None:
        """The recorded reply, or None. In mode `only` a missing reply is LlmFailure of kind `not_cached`."""
        if self.mode in ("off", "refresh"):
            return None
        with self._lock:
            row = self._open().execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        if row is not None:
            try:
                return LlmReply.model_validate_json(row[0]).model_copy(update={"cached": True})
            except ValidationError:
                row = None
        if self.mode == "only":
            raise self.missing(key)
        return None

    def missing(self, key: str) -> LlmFailure:
        """The failure of a reply that was never recorded, in mode `only`."""
        return LlmFailure(
            f"no recorded reply for this question (key {key[:12]}…) and --judge-cache only asks nobody; "
            "record it with --judge-cache use",
            "not_cached",
        )

    def put(self, key: str, request: LlmRequest, reply: LlmReply) -> None:
        """Record a usable reply at once, replacing an older one."""
        if self.mode in ("off", "only") or reply.cached:
            return
        purpose = str(request.purpose.get("rubric", ""))
        with self._lock:
            connection = self._open()
            connection.execute(
                "INSERT OR REPLACE INTO replies (key, recorded_at, model, purpose, reply) VALUES (?, ?, ?, ?, ?)",
                (
                    key,
                    time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                    request.model,
                    purpose,
                    reply.model_dump_json(),
                ),
            )
            connection.commit()

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._read_only() if self.mode == "only" else self._read_write()
        return self._connection

    def _read_write(self) -> sqlite3.Connection:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self._path, timeout=30, check_same_thread=False)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, recorded_at TEXT NOT NULL, "
                "model TEXT NOT NULL, purpose TEXT NOT NULL, reply TEXT NOT NULL) WITHOUT ROWID"
            )
            connection.commit()
        except (OSError, sqlite3.Error) as error:
            raise ConfigError(f"{self._path}: recorded replies cannot be kept here ({error})") from error
        return connection

    def _read_only(self) -> sqlite3.Connection:
        # a file in a folder that cannot be written needs `immutable`, because reading WAL wants a side file
        for options in ("mode=ro", "mode=ro&immutable=1"):
            try:
                connection = sqlite3.connect(
                    f"{self._path.resolve().as_uri()}?{options}", uri=True, check_same_thread=False
                )
                connection.execute("SELECT 1 FROM replies LIMIT 1")
            except sqlite3.Error as error:
                last = error
            else:
                return connection
        raise ConfigError(f"{self._path}: recorded replies cannot be read ({last})") from last
