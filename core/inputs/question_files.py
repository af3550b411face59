"""Question files → a list of mappings, whatever they are written in: JSON, JSON Lines, YAML or CSV."""

from __future__ import annotations

import ast
import csv
import io
import json
from pathlib import Path
from typing import Any

import yaml

from core.errors import InputError, Problem

LIST_COLUMNS = frozenset(
    (
        *("expected_keywords", "doc_paths", "program_ids", "program_names", "evidence", "gold_codes"),
        *("must_have_triples", "nice_to_have_triples"),
    )
)
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_text(path: Path) -> str:
    """The text of a file in UTF-8 or UTF-16 (by its mark). InputError for anything else, naming the byte."""
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"no such file: {path}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = Problem(f"byte {error.start}", f"is not {encoding.upper()}", line, "save the file as UTF-8")
        raise InputError(f"{path}: cannot be read as text", [problem]) from error


def read_entries(path: Path, keys: tuple[str, ...] = ("questions",)) -> list[Any]:
    """The list in a file: the whole of it, or what stands under one of `keys`. Entries are not yet checked."""
    text = read_text(path)
    ending = path.suffix.lower()
    if ending in (".jsonl", ".ndjson"):
        return _lines(path, text)
    if ending in (".csv", ".tsv"):
        return _table(path, text, "\t" if ending == ".tsv" else None)
    data = _yaml(path, text) if ending in (".yaml", ".yml") else parse_json(path, text)
    if isinstance(data, dict):
        for key in keys:
            if key in data:
                data = data[key]
                break
        else:
            raise InputError(
                f"{path}: holds no '{keys[0]}'",
                [Problem("", f"found: {', '.join(map(str, data)) or 'nothing'}")],
            )
    if not isinstance(data, list):
        raise InputError(f"{path}: '{keys[0]}' must be a list, not {type(data).__name__}")
    return data


def parse_json(path: Path, text: str) -> Any:
    """JSON, with NaN and Infinity refused. InputError names line and column."""

    def refuse(constant: str) -> Any:
        line = text[: text.find(constant)].count("\n") + 1
        raise InputError(f"{path}: {constant} is not a JSON value", [Problem(constant, "use null", line)])

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}: not valid JSON", [Problem(f"column {error.colno}", error.msg, error.lineno)]
        ) from error
    except RecursionError as error:
        raise InputError(f"{path}: is nested too deeply to be read") from error


def _lines(path: Path, text: str) -> list[Any]:
    entries, problems = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            entries.append(json.loads(line))
        except (json.JSONDecodeError, RecursionError) as error:
            problems.append(Problem("", f"not valid JSON ({error})", number))
    if problems:
        raise InputError(f"{path}: some lines cannot be read", problems)
    return entries


def _yaml(path: Path, text: str) -> Any:
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise InputError(f"{path}: not valid YAML", [Problem(str(error.problem), "", line)]) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{path}: not valid YAML ({error})") from error


def _table(path: Path, text: str, delimiter: str | None) -> list[Any]:
    if delimiter is None:
        head = text.split("\n", 1)[0]
        delimiter = max(",;\t", key=head.count)
    csv.field_size_limit(64 << 20)
    try:
        rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise InputError(f"{path}: not valid CSV ({error})") from error
    entries: list[Any] = []
    for row in rows:
        extra = row.pop(None, None)
        entry = {
            key.strip(): _cell(key.strip(), value) for key, value in row.items() if value not in (None, "")
        }
        entries.append(entry | ({"(cells beyond the header)": extra} if extra else {}))
    return entries


def _cell(key: str, value: str) -> Any:
    """A cell; where a list is wanted, JSON or Python text, or parts between `|` or `;`."""
    if key not in LIST_COLUMNS:
        return int(value) if key in ("year",) and value.strip().isdigit() else value
    stripped = value.strip()
    if stripped.startswith(("[", "{")):
        for read in (json.loads, ast.literal_eval):
            try:
                return read(stripped)
            except (ValueError, SyntaxError, RecursionError):
                continue
    separator = "|" if "|" in stripped else ";"
    return [part.strip() for part in stripped.split(separator) if part.strip()]
