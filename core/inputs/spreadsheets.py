"""Excel workbooks → rows of cells, with bounded memory."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from core.errors import InputError, Problem

MAX_UNPACKED = 512 << 20
MAX_PARTS = 10_000
MAX_CELLS = 20_000_000
_ZEROS = re.compile(r"^0{2,}$")


def read_sheet(file: Path, sheet: str | None) -> tuple[list[tuple[int, Sequence[Any]]], str, list[str]]:
    """(numbered rows, name of the sheet, notices). The first sheet with content by default.

    A number whose format prints leading zeros (`00000000`) is returned as that text. A workbook that would
    unpack to more than 512 MB is refused before it is unpacked.
    """
    import openpyxl

    _check_size(file)
    notices: list[str] = []
    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    except Exception as error:  # openpyxl raises many classes for a damaged file
        raise InputError(
            f"{file}: cannot be read as an Excel workbook ({type(error).__name__}: {str(error)[:200]})"
        ) from error
    try:
        names = [name for name in book.sheetnames if hasattr(book[name], "iter_rows")]
        if sheet is not None and sheet not in names:
            raise InputError(f"{file}: has no sheet '{sheet}'", [Problem("sheets", ", ".join(names))])
        filled: list[tuple[str, list[tuple[int, Sequence[Any]]]]] = []
        for name in [sheet] if sheet is not None else names:
            if filled and _is_empty(book[name]):
                continue
            rows = list(_rows(file, book[name], notices)) if not filled else []
            if rows or filled:
                filled.append((name, rows))
        if not filled:
            raise InputError(f"{file}: no sheet has content")
    except InputError:
        raise
    except Exception as error:  # see above
        raise InputError(f"{file}: cannot be read ({type(error).__name__}: {str(error)[:200]})") from error
    finally:
        book.close()
    name, rows = filled[0]
    if len(filled) > 1:
        others = ", ".join(f"'{other}'" for other, _ in filled[1:])
        notices.append(f"sheet '{name}' is read; not read: {others}")
    return rows, name, notices


def _check_size(file: Path) -> None:
    try:
        with zipfile.ZipFile(file) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
        raise InputError(f"{file}: is no Excel workbook (.xlsx) or damaged ({error})") from error
    unpacked = sum(part.file_size for part in parts)
    if unpacked > MAX_UNPACKED or len(parts) > MAX_PARTS:
        size = f"{unpacked / (1 << 20):,.0f} MB in {len(parts)} parts"
        limit = f"at most {MAX_UNPACKED >> 20} MB in {MAX_PARTS} parts are read"
        raise InputError(
            f"{file}: would unpack to {size}", [Problem("size", limit, hint="save the sheet as CSV")]
        )


def _rows(file: Path, sheet: Any, notices: list[str]) -> Iterator[tuple[int, Sequence[Any]]]:
    cells = errors = 0
    for number, row in enumerate(sheet.iter_rows(), 1):
        values: list[Any] = []
        for cell in row:
            value = cell.value
            if value is None:
                values.append(None)
                continue
            cells += 1
            if cell.data_type == "e":
                errors += 1
                value = None
            elif isinstance(value, int | float) and not isinstance(value, bool):
                value = _number(value, cell.number_format)
            values.append(value)
        if cells > MAX_CELLS:
            raise InputError(
                f"{file}: has more than {MAX_CELLS:,} cells", [Problem("size", "too large", number)]
            )
        if any(value is not None for value in values):
            yield number, values
    if errors:
        notices.append(f"{errors} cell(s) hold a spreadsheet error (#N/A, #REF!…) and count as empty")


def _number(value: float, shown_as: str | None) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if isinstance(value, int) and value >= 0 and shown_as and _ZEROS.match(shown_as):
        return str(value).zfill(len(shown_as))
    return value


def _is_empty(sheet: Any) -> bool:
    return not any(
        value is not None for row in sheet.iter_rows(max_row=50, values_only=True) for value in row
    )
