"""TREC qrels and run files, read as trec_eval reads them.

Lines that begin with `#` and blank lines are skipped. A qrels line is `query iteration document grade`, a run
line `query Q0 document rank score tag`; what follows is ignored, and so are iteration, Q0 and rank. A document
judged or retrieved twice for one query is an error: nothing says which line counts.
"""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from core.errors import InputError, Problem

T = TypeVar("T")
MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class TrecRun:
    """Scores by query and document, in the order of the file, and the tag of the last line."""

    tag: str
    scores: dict[str, dict[str, float]]


def read_lines(path: str | Path) -> list[str]:
    """Lines of a text file or of a `.gz` file, as UTF-8; InputError says what is wrong."""
    file = Path(path)
    try:
        data = file.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        return data.decode("utf-8-sig").split("\n")
    except FileNotFoundError as error:
        raise InputError(f"no such file: {file}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: is not UTF-8 text ({error.reason} at byte {error.start})") from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{file}: cannot be read ({error})") from error


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    """Grades by query and document."""
    return parse_qrels(read_lines(path), str(path))


def read_run(path: str | Path) -> TrecRun:
    """A run."""
    return parse_run(read_lines(path), str(path))


def parse_qrels(lines: Iterable[str], name: str = "qrels") -> dict[str, dict[str, int]]:
    """Grades by query and document; InputError lists malformed and repeated lines (the first 20)."""
    qrels: dict[str, dict[str, int]] = {}
    problems: list[Problem] = []
    for number, fields in _content(lines):
        if len(fields) < 4:
            _add(
                problems,
                name,
                number,
                f"has {len(fields)} fields instead of 4",
                "query iteration document grade",
            )
            continue
        grade = _integer(fields[3])
        if grade is None:
            _add(problems, name, number, f"the grade '{fields[3]}' is not a whole number")
            continue
        of_query = qrels.setdefault(fields[0], {})
        if fields[2] in of_query:
            _add(problems, name, number, f"document '{fields[2]}' is judged twice for query '{fields[0]}'")
        of_query[fields[2]] = grade
    return _checked(qrels, problems, name, "no judgement")


def parse_run(lines: Iterable[str], name: str = "run") -> TrecRun:
    """A run; InputError lists malformed and repeated lines (the first 20)."""
    scores: dict[str, dict[str, float]] = {}
    problems: list[Problem] = []
    tag = ""
    for number, fields in _content(lines):
        if len(fields) < 6:
            _add(
                problems,
                name,
                number,
                f"has {len(fields)} fields instead of 6",
                "query Q0 document rank score tag",
            )
            continue
        score = _finite(fields[4])
        if score is None:
            _add(problems, name, number, f"the score '{fields[4]}' is not a number")
            continue
        of_query = scores.setdefault(fields[0], {})
        if fields[2] in of_query:
            _add(problems, name, number, f"document '{fields[2]}' is retrieved twice for query '{fields[0]}'")
        of_query[fields[2]] = score
        tag = fields[5]
    return TrecRun(tag, _checked(scores, problems, name, "no retrieved document"))


def _content(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if fields and not fields[0].startswith("#"):
            yield number, fields


def _integer(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _add(problems: list[Problem], name: str, line: int, message: str, hint: str = "") -> None:
    problems.append(Problem(name, message, line, f"expected: {hint}" if hint else ""))


def _checked(table: dict[str, T], problems: list[Problem], name: str, nothing: str) -> dict[str, T]:
    if problems:
        more = len(problems) - MAX_PROBLEMS
        tail = f" (and {more} more)" if more > 0 else ""
        raise InputError(f"{name}: cannot be used{tail}", problems[:MAX_PROBLEMS])
    if not table:
        raise InputError(f"{name}: holds {nothing}")
    return table
