"""Tables and JSON on disk: always with a header, the same bytes every time, and no cell that runs as a formula.

A text cell that a spreadsheet would run (it begins with = + - @, tab or carriage return) is written with an
apostrophe in front, and so is one that already looks like that; `restore` takes exactly one away. Numbers are
numbers and stay as they are.
"""

from __future__ import annotations

import csv
import json
import math
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from core.store.packing import sql_text

_RUNS = re.compile(r"'*[=+\-@\t\r]")
_RESTORED = re.compile(r"'+[=+\-@\t\r]")
_QUOTED = re.compile(r'[,"\r\n]')
_STAMP = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")
_CELL_LIMIT = 32_767  # characters an Excel cell holds
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
csv.field_size_limit(2**31 - 1)

Row = Sequence[Any]
_SHORT = 80  # characters up to which a written text is kept: settings, ids and codes come in row after row


def neutralise(text: str) -> str:
    """The text as a cell that no spreadsheet runs.

    >>> neutralise("=1+1"), neutralise("'=1+1"), neutralise("a=1")
    ("'=1+1", "''=1+1", 'a=1')
    """
    return "'" + text if _RUNS.match(text) else text


def restore(text: str) -> str:
    """What was given to `neutralise`.

    >>> restore("'=1+1"), restore("''=1+1"), restore("'quoted'")
    ('=1+1', "'=1+1", "'quoted'")
    """
    return text[1:] if _RESTORED.match(text) else text


def cell(value: Any) -> str:
    """A value as a CSV cell: None is empty, truth values are True/False, lists and mappings are JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return neutralise(sql_text(value))
    return neutralise(sql_text(compact(value)))


def compact(value: Any) -> str:
    """JSON of a list or mapping inside a cell."""
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "), default=repr)


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Row]) -> None:
    """UTF-8, comma, header always, `\\n` between rows."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(_line(columns))
        for row in rows:
            file.write(_line(row))


def _line(row: Row) -> str:
    return (",".join(map(_field, row)) or '""') + "\n"


def _field(value: Any) -> str:
    if value is None:
        return ""
    return _short(value) if type(value) is str and len(value) <= _SHORT else _quoted(cell(value))


@lru_cache(maxsize=16_384)
def _short(text: str) -> str:
    return _quoted(cell(text))


def _quoted(text: str) -> str:
    # csv.writer leaves a bare CR unquoted with this line end, and readers take it for a new row
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def read_csv(path: Path) -> list[dict[str, str]]:
    """Rows of a file `write_csv` wrote, its texts restored."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        header = [restore(name) for name in next(reader, [])]
        return [dict(zip(header, map(restore, row), strict=True)) for row in reader]


def write_json(path: Path, value: Any) -> None:
    """UTF-8, indent 2, keys in the order given; a number that is not finite is null."""
    text = json.dumps(_finite(value), ensure_ascii=False, indent=2, allow_nan=False, default=repr)
    path.write_text(sql_text(text) + "\n", encoding="utf-8", newline="\n")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """One JSON object a line; lone surrogates stay as escapes."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            text = json.dumps(row, ensure_ascii=False, default=repr)
            file.write((text if sql_text(text) == text else json.dumps(row, default=repr)) + "\n")


def write_text(path: Path, text: str) -> None:
    path.write_text(sql_text(text), encoding="utf-8", newline="\n")


def write_parquet(path: Path, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """One column a name. A column is boolean, whole numbers, numbers or text, as its values allow; lists and
    mappings are JSON text. Nothing is neutralised: parquet is no spreadsheet."""
    import pyarrow
    import pyarrow.parquet

    arrays = [_arrow_column([row[i] for row in rows], pyarrow) for i in range(len(columns))]
    table = pyarrow.Table.from_arrays(arrays, names=list(columns))
    pyarrow.parquet.write_table(table, path, compression="zstd")


def _arrow_column(values: list[Any], pyarrow: Any) -> Any:
    present = [value for value in values if value is not None]
    if present and all(isinstance(value, bool) for value in present):
        return pyarrow.array(values, type=pyarrow.bool_())
    if present and all(isinstance(value, int) and not isinstance(value, bool) for value in present):
        return pyarrow.array(values, type=pyarrow.int64())
    if present and all(isinstance(value, int | float) for value in present):
        return pyarrow.array([None if v is None else float(v) for v in values], type=pyarrow.float64())
    texts = [v if v is None or isinstance(v, str) else compact(v) for v in values]
    return pyarrow.array([None if t is None else sql_text(t) for t in texts], type=pyarrow.string())


def xml_text(text: str) -> str:
    """The text with what XML cannot hold replaced by U+FFFD."""
    return _NOT_IN_XML.sub("\ufffd", sql_text(text))


def write_xlsx(
    path: Path, sheets: Mapping[str, tuple[Sequence[str], Iterable[Row]]], *, canonical: bool = False
) -> None:
    """One sheet a table, header frozen. Every text is a text cell; formulas are neutralised as in CSV.
    `canonical` leaves the time of writing out, so that equal tables give equal bytes."""
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    for name, (columns, rows) in sheets.items():
        sheet = book.create_sheet(name[:31])
        sheet.freeze_panes = "A2"
        sheet.append([_excel(name) for name in columns])
        for row in rows:
            sheet.append([_excel(value) for value in row])
    book.save(path)
    if canonical:
        _without_times(path)


def _without_times(path: Path) -> None:
    with zipfile.ZipFile(path) as book:
        parts = [(name, book.read(name)) for name in book.namelist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, data in parts:
            timeless = (
                _STAMP.sub(rb"\g<1>2000-01-01T00:00:00Z", data) if name == "docProps/core.xml" else data
            )
            book.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), timeless, zipfile.ZIP_DEFLATED)


def _excel(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    text = value if isinstance(value, str) else compact(value)
    text = xml_text(neutralise(text))
    return (
        text if len(text) <= _CELL_LIMIT else text[: _CELL_LIMIT - 40] + f" … [cut: {len(text)} characters]"
    )
