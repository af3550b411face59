"""Rows of labels from CSV or JSONL: what people and a judge said about the same items."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import InputError, Problem, nearest
from core.llm.strict_json import parse

Row = dict[str, str]


def read_rows(path: str | Path, needed: Sequence[str]) -> list[Row]:
    """Rows as text by column name (white space stripped; a missing value is ""). InputError for a file that cannot be
    read, without rows, or without a needed column."""
    file = Path(path)
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise InputError(f"no such file: {file}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read as UTF-8 text ({error})") from error
    rows = _json_lines(file, text) if file.suffix.lower() in (".jsonl", ".ndjson") else _table(text)
    if not rows:
        raise InputError(f"{file}: has no rows")
    known = {name for row in rows for name in row}
    missing = [name for name in needed if name not in known]
    if missing:
        raise InputError(
            f"{file}: columns are missing",
            [Problem(f"column '{name}'", f"is not in the file{nearest(name, known)}") for name in missing],
        )
    return rows


def _table(text: str) -> list[Row]:
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    return [{str(k).strip(): _text(v) for k, v in row.items() if k is not None} for row in reader]


def _json_lines(file: Path, text: str) -> list[Row]:
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = parse(line)
        except ValueError as error:
            raise InputError(f"{file}: not JSON", [Problem("", str(error), number)]) from error
        if not isinstance(row, dict):
            raise InputError(f"{file}: not an object", [Problem("", f"a {type(row).__name__}", number)])
        rows.append({str(k): _text(v) for k, v in row.items()})
    return rows


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()
