"""What an import gives, and reading the files it comes from."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import InputError, Problem
from core.inputs.prepared_items import text_id
from core.inputs.table_files import MAX_PROBLEMS, plain, read_any_text
from core.records import Case, Hit, Output, Result

KIND = "prepared_rag_results"


@dataclass(frozen=True, slots=True)
class Imported:
    """One run of another tool. `kind` is a `Run.kind`; `results` is None where the other tool gave no verdicts
    (`plumbline score` makes them); `digest` is the SHA-256 of the files it came from."""

    name: str
    kind: str
    suite: str
    cases: tuple[Case, ...]
    outputs: tuple[Output, ...] = ()
    results: tuple[Result, ...] | None = None
    notices: tuple[str, ...] = ()
    digest: str = ""


def digest_of(files: Iterable[Path]) -> str:
    """SHA-256 over the contents of files, in the order of their names."""
    whole = hashlib.sha256()
    for file in sorted(files):
        whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()


def read_json(file: Path) -> Any:
    """The JSON of a file, NaN as None. InputError names line and column."""
    text, _ = read_any_text(file)
    try:
        return plain(json.loads(text))
    except json.JSONDecodeError as error:
        raise InputError(
            f"{file}: not valid JSON", [Problem(f"column {error.colno}", error.msg, error.lineno)]
        ) from error
    except RecursionError as error:
        raise InputError(f"{file}: is nested too deeply to be read") from error


def read_json_lines(file: Path) -> list[Any]:
    """One value a line, NaN as None. InputError lists the lines that are no JSON."""
    text, _ = read_any_text(file)
    values, problems = [], []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                values.append(plain(json.loads(line)))
            except (json.JSONDecodeError, RecursionError) as error:
                problems.append(Problem("", f"not valid JSON ({error})", number))
    raise_problems(file, problems)
    return values


def raise_problems(source: object, problems: Sequence[Problem]) -> None:
    """InputError with the first problems, where there are any."""
    if problems:
        more = f" (and {len(problems) - MAX_PROBLEMS} more)" if len(problems) > MAX_PROBLEMS else ""
        raise InputError(f"{source}: cannot be imported{more}", problems[:MAX_PROBLEMS])


def objects(
    source: object, values: Any, where: str, problems: list[Problem]
) -> list[tuple[int, dict[str, Any]]]:
    """(index, object) of a list's entries; everything else in it is a problem."""
    if not isinstance(values, list):
        raise InputError(f"{source}: '{where}' must be a list, not {type(values).__name__}")
    found = []
    for index, value in enumerate(values):
        if isinstance(value, dict):
            found.append((index, value))
        else:
            problems.append(Problem(f"{where}[{index}]", f"must be an object, not {type(value).__name__}"))
    return found


def mapping_of(value: Any) -> dict[str, Any]:
    """The value where it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def text_of(value: Any) -> str | None:
    """Text as it is, other values as JSON, None for nothing."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def number_of(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def scores_of(values: Mapping[str, Any]) -> dict[str, float]:
    """The numbers and truth values of a mapping, under their own names."""
    found = {}
    for name, value in values.items():
        number = float(value) if isinstance(value, bool) else number_of(value)
        if number is not None:
            found[str(name)] = number
    return found


def hits_of(texts: Sequence[Any], source: str = "") -> tuple[Hit, ...]:
    """Retrieved texts (or objects with text, id and score) in order as hits; one that comes again counts once."""
    found: dict[str, Hit] = {}
    for value in texts:
        entry = value if isinstance(value, dict) else {"text": text_of(value)}
        text = text_of(first_of(entry, "text", "content", "page_content", "contents")) or ""
        given = first_of(entry, "doc_id", "id", "chunk_id")
        hit_id = str(given) if given is not None else text_id(text)
        if hit_id not in found:
            found[hit_id] = Hit(
                id=hit_id,
                rank=len(found) + 1,
                score=number_of(entry.get("score")),
                text=text,
                title=str(entry.get("title") or ""),
                source=source,
            )
    return tuple(found.values())


def first_of(entry: Mapping[str, Any], *names: str) -> Any:
    """The first value under these names that is not None."""
    return next((entry[name] for name in names if entry.get(name) is not None), None)


def unique_ids(given: Sequence[str]) -> list[str]:
    """The ids, with ` (2)`, ` (3)`… behind those that come again."""
    counts: dict[str, int] = {}
    unique = []
    for each in given:
        counts[each] = counts.get(each, 0) + 1
        unique.append(each if counts[each] == 1 else f"{each} ({counts[each]})")
    return unique
