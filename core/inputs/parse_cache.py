"""Parsed documents on disk, by the digest of the file and the version of the parser.

An entry is two lines: the SHA-256 of the second, and the document with its report as JSON. An entry that does
not match its checksum, or that this version cannot read, counts as absent and is made anew. Files are
replaced atomically, so that runs may share a cache.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from core.corpus import Document, ParsingReport
from core.records import Record


class Parsed(Record):
    """What parsing one file gave. `document` is None where nothing could be read; `keep` is False where the
    outcome depends on more than the file (a password, a time-out) and may not be cached."""

    document: Document | None
    report: ParsingReport
    keep: bool = True


@dataclass(frozen=True, slots=True)
class ParseCache:
    """`folder` is created on the first write; a folder that cannot be written simply caches nothing."""

    folder: Path
    version: str

    def get(self, digest: str, kind: str) -> Parsed | None:
        try:
            checksum, _, payload = self._file(digest, kind).read_bytes().partition(b"\n")
        except OSError:
            return None
        if hashlib.sha256(payload).hexdigest().encode() != checksum:
            return None
        try:
            return Parsed.model_validate_json(payload)
        except ValidationError:
            return None

    def put(self, digest: str, kind: str, parsed: Parsed) -> None:
        if not parsed.keep:
            return
        payload = parsed.model_dump_json().encode("utf-8")
        file = self._file(digest, kind)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=file.parent, suffix=".part")
        except OSError:
            return
        try:
            with os.fdopen(handle, "wb") as part:
                part.write(hashlib.sha256(payload).hexdigest().encode() + b"\n" + payload)
            os.replace(name, file)
        except OSError:
            Path(name).unlink(missing_ok=True)

    def _file(self, digest: str, kind: str) -> Path:
        return self.folder / digest[:2] / f"{digest}.{kind}.{self.version}.json"
