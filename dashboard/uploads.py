"""Files brought in through the browser: checked before they are kept, and kept inside the outputs folder only."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dashboard.queries import source

MEGABYTES = 20
MOST_FILES = 200
_TABLES = (".xlsx", ".csv", ".tsv", ".json", ".jsonl", ".parquet")
KINDS = {
    "documents": (".pdf", ".txt", ".md", ".markdown"),
    "questions": (".json",),
    "results": _TABLES,
    "codes": _TABLES,
}
_SIGNS = {".xlsx": (b"PK", "an Excel file"), ".parquet": (b"PAR1", "a parquet file")}
_TEXT_ENCODINGS = ("utf-8-sig", "utf-16", "cp1252")


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of one upload: `path` where it was kept, or `problem` with what to do."""

    name: str
    path: Path | None = None
    problem: str = ""
    note: str = ""


def folder(kind: str) -> Path:
    """Where uploads of a kind are kept."""
    return source.output_dir() / "uploads" / kind


def stored(kind: str) -> list[Path]:
    """Files kept so far, by name."""
    there = folder(kind)
    return sorted(path for path in there.iterdir() if path.is_file()) if there.is_dir() else []


def keep(kind: str, name: str, content: bytes) -> Checked:
    """Check a file and keep it. The same content under the same name is kept once; another content gets a
    number; nothing is ever overwritten. In review mode nothing is kept."""
    if source.review_mode():
        return Checked(name, problem="this dashboard only shows runs: nothing can be uploaded")
    safe = safe_name(name)
    if Path(safe).suffix.lower() not in KINDS[kind]:
        return Checked(name, problem=f"is no {kind} file; accepted are {', '.join(KINDS[kind])}")
    if len(content) > MEGABYTES * 1024 * 1024:
        return Checked(
            name, problem=f"is larger than {MEGABYTES} MB; put it in a folder and name the folder in the form"
        )
    if len(stored(kind)) >= MOST_FILES:
        return Checked(
            name,
            problem=f"not kept: {MOST_FILES} uploads are there already; put the files in a folder instead",
        )
    problem, note = _look_inside(kind, Path(safe).suffix.lower(), content)
    if problem:
        return Checked(name, problem=problem)
    path = _free_place(folder(kind), safe, content)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_bytes(content)
    return Checked(name, path=path, note=note)


def may_read(path: str, visitor: str | None) -> bool:
    """Whether a visitor may name this path in a run. On this machine (`visitor` None or a loopback address) any
    path will do; from elsewhere only what was uploaded, so that nobody reads the server's files."""
    if visitor in (None, "127.0.0.1", "::1"):
        return True
    return Path(path).resolve().is_relative_to((source.output_dir() / "uploads").resolve())


def remove(path: Path) -> None:
    """Remove an upload; anything that is not one is left alone."""
    inside = (source.output_dir() / "uploads").resolve()
    if path.resolve().is_relative_to(inside) and path.is_file() and not source.review_mode():
        path.unlink()


def safe_name(name: str) -> str:
    """A file name without a path, control characters or a leading dot: "../ä b.pdf" → "ä_b.pdf"."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rsplit("/", 1)[-1]
    kept = re.sub(r"[^\w.\-]+", "_", last).lstrip("._")
    stem, dot, ending = kept.rpartition(".")
    return (stem[:100] + dot + ending[:10]) if stem else (kept[:100] or "file")


def _look_inside(kind: str, suffix: str, content: bytes) -> tuple[str, str]:
    """(problem, note); the full check is core's when the file is used."""
    if not content:
        return "is empty", ""
    if suffix == ".pdf":
        return ("", "") if b"%PDF" in content[:1024] else ("is not a PDF (it does not begin with %PDF)", "")
    if suffix in _SIGNS:
        sign, called = _SIGNS[suffix]
        return ("", "") if content.startswith(sign) else (f"is not {called}", "")
    text = decoded(content)
    if text is None:
        return "is not text in UTF-8, UTF-16 or Windows-1252", ""
    return questions_problem(text) if kind == "questions" else ("", "")


def decoded(content: bytes) -> str | None:
    """The text of a file, None where it is none."""
    for encoding in _TEXT_ENCODINGS:
        if encoding == "utf-16" and content[:2] not in (b"\xff\xfe", b"\xfe\xff"):
            continue
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return None if "\x00" in text else text
    return None


def questions_problem(text: str) -> tuple[str, str]:
    """(problem, note) of a questions file: its shape, how many questions, how many with answer and evidence."""
    try:
        data: Any = json.loads(text)
    except json.JSONDecodeError as error:
        return f"is not valid JSON: line {error.lineno}, column {error.colno}: {error.msg}", ""
    items = data.get("questions") if isinstance(data, dict) else data
    if not isinstance(items, list):
        return "must hold a list of questions, or an object with `questions`", ""
    if not items:
        return "holds no question", ""
    for number, item in enumerate(items, 1):
        if (
            not isinstance(item, dict)
            or not isinstance(item.get("question"), str)
            or not item["question"].strip()
        ):
            return f"entry {number} has no `question` text", ""
    ids = [str(item.get("id", f"q{number}")) for number, item in enumerate(items, 1)]
    twice = sorted({each for each in ids if ids.count(each) > 1}) if len(ids) < 20_000 else []
    if twice:
        return f"ids are given twice: {', '.join(twice[:5])}", ""
    gold = sum(bool(item.get("gold_answer")) for item in items)
    evidence = sum(bool(item.get("evidence")) for item in items)
    return "", f"{len(items)} questions, {gold} with an expected answer, {evidence} with evidence"


def _free_place(there: Path, name: str, content: bytes) -> Path:
    wanted = hashlib.sha256(content).digest()
    path, number = there / name, 2
    while path.exists() and hashlib.sha256(path.read_bytes()).digest() != wanted:
        path = there / f"{Path(name).stem}-{number}{Path(name).suffix}"
        number += 1
    return path
