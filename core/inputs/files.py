"""Which files a run reads: patterns to a sorted list of files, each with the path users write in questions."""

from __future__ import annotations

import glob
import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import InputError, Problem

KINDS = {".pdf": "pdf", ".txt": "text", ".text": "text", ".md": "markdown", ".markdown": "markdown"}
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file to parse. `doc_path` is relative to the documents root, with `/` and in Unicode NFC."""

    path: Path
    doc_path: str
    kind: str

    @property
    def program_name(self) -> str:
        """The first folder below the root, or `root` (reference-behaviour §5)."""
        first, separator, _ = self.doc_path.partition("/")
        return first if separator else "root"


def find_files(patterns: Sequence[str], root: str | None = None) -> list[SourceFile]:
    """Files, folders (searched recursively for PDF, text and Markdown) and globs, as files sorted by doc_path.

    A pattern is one path: commas are part of a name. A file matched twice is taken once. Without `root`, the
    root is the common parent folder of the patterns. Raises InputError that lists every pattern without a
    match, and every file outside of `root`.
    """
    problems: list[Problem] = []
    found: dict[Path, None] = {}
    bases: list[Path] = []
    for pattern in patterns:
        matches = list(_matches(pattern))
        if not matches:
            problems.append(Problem(f"docs: {pattern}", _nothing(pattern)))
            continue
        bases.append(_base(pattern))
        found.update(dict.fromkeys(Path(os.path.abspath(match)) for match in matches))
    if not patterns:
        problems.append(Problem("docs", "no documents are named", hint="give files, folders or globs"))
    folder = Path(os.path.abspath(root)) if root else _common(bases)
    if root and not folder.is_dir():
        problems.append(Problem(f"docs_root: {root}", "no such folder"))
    files = [_source(path, folder, problems) for path in _without_aliases(found)]
    if problems:
        raise InputError("the documents cannot be found", problems)
    return sorted(
        (file for file in files if file is not None), key=lambda file: (file.doc_path, str(file.path))
    )


def slug(name: str) -> str:
    """A name as an identifier: lower-case letters and digits joined by `-`; umlauts lose their dots."""
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = "".join(char for char in plain if not unicodedata.combining(char)).lower()
    return re.sub(r"[^\w]+|_", "-", plain).strip("-") or "root"


def _matches(pattern: str) -> Iterator[str]:
    for spelling in _spellings(os.path.expanduser(pattern)):
        if os.path.isdir(spelling):
            yield from _walk(spelling)
            return
        if os.path.isfile(spelling):
            yield spelling
            return
    expanded = os.path.expanduser(pattern)
    if not _GLOB.search(expanded):
        return
    seen = {match: None for spelling in _spellings(expanded) for match in glob.glob(spelling, recursive=True)}
    for match in sorted(seen):
        if os.path.isdir(match):
            if not pattern.rstrip("/").endswith("**"):
                yield from _walk(match)
        else:
            yield match


def _spellings(pattern: str) -> Iterator[str]:
    """The pattern as given, then composed and decomposed: a disk may spell `ü` in either way."""
    yield from dict.fromkeys(
        (pattern, unicodedata.normalize("NFC", pattern), unicodedata.normalize("NFD", pattern))
    )


def _walk(folder: str) -> Iterator[str]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if Path(name).suffix.lower() in KINDS and not name.startswith((".", "~$")):
                yield os.path.join(here, name)


def _without_aliases(paths: dict[Path, None]) -> list[Path]:
    """One path for each file on disk: links to the same file and a second spelling of its name are dropped."""
    kept: dict[tuple[int, int], Path] = {}
    for path in sorted(paths, key=lambda each: (each.is_symlink(), str(each))):
        status = path.stat()
        kept.setdefault((status.st_dev, status.st_ino) if status.st_ino else (0, hash(str(path))), path)
    return list(kept.values())


def _base(pattern: str) -> Path:
    """The folder a pattern starts from: the folder itself, the file's folder, or the part before the glob."""
    path = Path(os.path.abspath(os.path.expanduser(pattern)))
    for spelling in _spellings(str(path)):
        if os.path.isdir(spelling):
            return Path(spelling)
        if os.path.isfile(spelling):
            return Path(spelling).parent
    parts = path.parts
    fixed = next((i for i, part in enumerate(parts) if _GLOB.search(part)), len(parts) - 1)
    return Path(*parts[:fixed])


def _common(bases: Sequence[Path]) -> Path:
    if not bases:
        return Path.cwd()
    try:
        return Path(os.path.commonpath(bases))
    except ValueError as error:  # different drives
        raise InputError(
            "the documents have no common folder", [Problem("docs_root", "must be given")]
        ) from error


def _source(path: Path, root: Path, problems: list[Problem]) -> SourceFile | None:
    composed = unicodedata.normalize("NFC", path.as_posix())
    base = unicodedata.normalize("NFC", root.as_posix()).rstrip("/")
    if not composed.startswith(base + "/"):
        problems.append(Problem(f"docs: {path}", f"lies outside of docs_root {root}"))
        return None
    return SourceFile(path, composed[len(base) + 1 :], KINDS.get(path.suffix.lower(), ""))


def _nothing(pattern: str) -> str:
    if os.path.isdir(os.path.expanduser(pattern)):
        return "the folder holds no .pdf, .txt or .md file"
    return "matches no file"
