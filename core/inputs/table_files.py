"""Any tabular file → one `Table`: Excel, CSV and its relatives, JSON, JSON Lines, parquet.

Cells are texts, numbers, truth values, lists, mappings or None; NaN and the usual marks of a missing value are
None. What had to be guessed or put right is said in `notices`.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import InputError, Problem
from core.inputs.spreadsheets import read_sheet

MISSING = frozenset(("", "nan", "NaN", "NAN", "#N/A", "#NA", "<NA>", "null", "NULL"))
DELIMITERS = ",;\t|"
JSON_KEYS = ("results", "rows", "data", "records", "items", "queries", "questions", "predictions")
ENDINGS = (".xlsx", ".xlsm", ".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet")
_RESTORED = re.compile(r"'+[=+\-@\t\r]")
MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Table:
    """`rows[i]` holds one cell a column; `lines[i]` is the row's number in the file as its users count it
    (from 1, the header included)."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    lines: tuple[int, ...]
    notices: tuple[str, ...] = ()
    sheet: str = ""

    def records(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def read_table(path: str | Path, *, sheet: str | None = None) -> Table:
    """Read a file by its ending. `sheet` names a worksheet; the first with content by default. InputError names
    file, sheet, row and column of what cannot be read."""
    file = Path(path)
    if not file.is_file():
        raise InputError(f"no such file: {file}")
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        known = ", ".join(ENDINGS)
        raise InputError(
            f"{file}: cannot be read as a table", [Problem(ending or "no ending", "", hint=f"known: {known}")]
        )
    if ending in (".xlsx", ".xlsm"):
        rows, name, notices = read_sheet(file, sheet)
        return _with_header(file, rows, notices, name)
    if ending == ".parquet":
        return _from_records(_parquet(file), [])
    text, notices = read_any_text(file)
    if ending in (".jsonl", ".ndjson"):
        return _from_records(_json_lines(file, text), notices, first_line=1)
    if ending == ".json":
        return _from_records(_json_records(file, text), notices, first_line=1)
    return _delimited(file, text, "\t" if ending == ".tsv" else None, notices)


def read_any_text(file: Path) -> tuple[str, list[str]]:
    """(text, notices) of a file in UTF-8, UTF-16 or, which is said, Windows-1252."""
    content = file.read_bytes()
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    elif b"\0" in content[:200]:
        encodings = ["utf-16-le" if content[1:2] == b"\0" else "utf-16-be"]
    else:
        encodings = ["utf-8-sig", "cp1252"]
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError as error:
            failed_at = error.start
            continue
        notices = [f"{file.name} is not UTF-8; read as Windows-1252"] if encoding == "cp1252" else []
        return text, notices
    line = content.count(b"\n", 0, failed_at) + 1
    problem = Problem(f"byte {failed_at}", "belongs to no known encoding", line, "save the file as UTF-8")
    raise InputError(f"{file}: cannot be read as text", [problem])


def missing(value: Any) -> bool:
    """Whether a cell is empty in one of the usual ways."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return isinstance(value, str) and value.strip() in MISSING


def plain(value: Any) -> Any:
    """A cell as JSON could hold it: None for what is missing or not finite, ISO text for dates, lists for arrays."""
    if isinstance(value, str):
        return None if missing(value) else value[1:] if _RESTORED.match(value) else value
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(each) for each in value]
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _delimited(file: Path, text: str, delimiter: str | None, notices: list[str]) -> Table:
    csv.field_size_limit(2**31 - 1)
    delimiter = delimiter or _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[int, Sequence[Any]]] = []
    begin = 1
    try:
        for row in reader:
            rows.append((begin, row))
            begin = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{file}: not valid CSV", [Problem("", str(error), begin)]) from error
    if delimiter != ",":
        notices.append(f"{file.name} is separated by {'tabs' if delimiter == chr(9) else repr(delimiter)}")
    return _with_header(file, rows, notices, "")


def _delimiter(text: str) -> str:
    """The separator that cuts the first rows into the same number of cells, and into most."""
    sample = text[:100_000]
    best, score = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        try:
            rows = [
                row
                for _, row in zip(
                    range(20), csv.reader(io.StringIO(sample), delimiter=delimiter), strict=False
                )
            ]
        except csv.Error:
            continue
        widths = Counter(len(row) for row in rows if row)
        if not widths:
            continue
        width, count = widths.most_common(1)[0]
        found = (count / sum(widths.values()) if width > 1 else 0.0, width)
        if found > score:
            best, score = delimiter, found
    return best


def _with_header(
    file: Path, numbered: Iterable[tuple[int, Sequence[Any]]], notices: list[str], sheet: str
) -> Table:
    place = f"{file}, sheet '{sheet}'" if sheet else str(file)
    header: list[str] = []
    rows: list[tuple[Any, ...]] = []
    lines: list[int] = []
    problems: list[Problem] = []
    for line, cells in numbered:
        row = [plain(cell) for cell in cells]
        while row and row[-1] is None:
            row.pop()
        if not row:
            continue
        if not header:
            header = _names(row, notices)
            continue
        if len(row) > len(header):
            extra = f"column {len(header) + 1}"
            problems.append(
                Problem(extra, f"the row has {len(row)} cells and the header {len(header)}", line)
            )
            continue
        rows.append((*row, *[None] * (len(header) - len(row))))
        lines.append(line)
    if problems:
        more = f" (and {len(problems) - MAX_PROBLEMS} more)" if len(problems) > MAX_PROBLEMS else ""
        raise InputError(f"{place}: rows do not fit the header{more}", problems[:MAX_PROBLEMS])
    if not header:
        raise InputError(f"{place}: is empty")
    if not rows:
        notices.append("there is a header and no row")
    return Table(tuple(header), tuple(rows), tuple(lines), tuple(notices), sheet)


def _names(cells: Sequence[Any], notices: list[str]) -> list[str]:
    """Column names: blank ones are numbered, repeated ones get a number behind."""
    names: list[str] = []
    seen: Counter[str] = Counter()
    for number, cell in enumerate(cells, 1):
        name = " ".join(str(cell).split()) if cell is not None else f"column {number}"
        seen[name] += 1
        if seen[name] > 1:
            notices.append(
                f"column '{name}' occurs more than once; the further one is called '{name} ({seen[name]})'"
            )
            name = f"{name} ({seen[name]})"
        names.append(name)
    return names


def _from_records(records: Sequence[Any], notices: list[str], *, first_line: int = 1) -> Table:
    columns = list(dict.fromkeys(str(key) for record in records for key in record))
    rows = tuple(tuple(plain(record.get(column)) for column in columns) for record in records)
    lines = tuple(range(first_line, first_line + len(rows)))
    return Table(tuple(columns), rows, lines, tuple(notices))


def _json_lines(file: Path, text: str) -> list[dict[str, Any]]:
    records, problems = [], []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            problems.append(Problem("", f"not valid JSON ({error})", number))
            continue
        if not isinstance(record, dict):
            problems.append(Problem("", f"must be an object, not {type(record).__name__}", number))
            continue
        records.append(record)
    if problems:
        raise InputError(f"{file}: some lines cannot be read", problems[:MAX_PROBLEMS])
    return records


def _json_records(file: Path, text: str) -> list[dict[str, Any]]:
    """A list of objects, an object that holds one, or columns of values as pandas writes them."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{file}: not valid JSON", [Problem(f"column {error.colno}", error.msg, error.lineno)]
        ) from error
    except RecursionError as error:
        raise InputError(f"{file}: is nested too deeply to be read") from error
    if isinstance(data, dict):
        found = next((data[key] for key in JSON_KEYS if isinstance(data.get(key), list)), None)
        data = found if found is not None else _columns(data)
    if not isinstance(data, list):
        raise InputError(f"{file}: must hold a list of objects, not {type(data).__name__}")
    wrong = [index for index, record in enumerate(data) if not isinstance(record, dict)]
    if wrong:
        raise InputError(
            f"{file}: entries must be objects",
            [Problem(f"[{index}]", "is none") for index in wrong[:MAX_PROBLEMS]],
        )
    return data


def _columns(data: dict[str, Any]) -> Any:
    """{"a": [1, 2]} or {"a": {"0": 1, "1": 2}} as a list of objects."""
    values = list(data.values())
    if (
        values
        and all(isinstance(value, list) for value in values)
        and len({len(value) for value in values}) == 1
    ):
        return [dict(zip(data, row, strict=True)) for row in zip(*values, strict=True)]
    if (
        values
        and all(isinstance(value, dict) for value in values)
        and len({tuple(value) for value in values}) == 1
    ):
        return [{column: data[column][key] for column in data} for key in values[0]]
    return data


def _parquet(file: Path) -> list[dict[str, Any]]:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    try:
        return parquet.read_table(file).to_pylist()
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read as parquet ({str(error)[:200]})") from error
