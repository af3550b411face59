"""Tender notices: the TED corpus export, and the split into training and test notices without leakage."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import InputError, Problem
from core.inputs.cells import as_text
from core.inputs.codes import CodeForm, is_cpv_like
from core.inputs.near_duplicates import duplicate_groups
from core.inputs.table_files import Table, read_table

EXPORT_COLUMNS = ("ID", "PUB_NUMBER", "TITLE", "TEXT", "BUYER", "LANGUAGE", "CONTRACT_TYPE", "MAIN_CPV")
_NEEDED = frozenset({"pub_number", "main_cpv"})


@dataclass(frozen=True, slots=True)
class Notice:
    """One notice: its publication number, its main code, title and text in its own language."""

    number: str
    code: str
    title: str
    text: str = ""
    language: str | None = None
    buyer: str = ""
    contract_type: str = ""
    codes: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(each for each in (self.title, self.text) if each)

    @property
    def full_text(self) -> str:
        return "\n".join(self.texts)


def is_export(columns: Sequence[str]) -> bool:
    """Whether a table is a TED corpus export."""
    return {column.strip().casefold() for column in columns} >= _NEEDED


def read_notices(path: str | Path) -> tuple[list[Notice], list[str]]:
    """Notices of an export CSV (or of what `ingest-notices` wrote) and remarks. InputError for another file."""
    file = Path(path)
    table = read_table(file)
    if not is_export(table.columns):
        wanted = Problem("header", ", ".join(table.columns), 1, f"needed: {', '.join(EXPORT_COLUMNS)}")
        raise InputError(f"{file}: is no corpus export", [wanted])
    notices, said = notices_of_table(table, str(file))
    return notices, [*table.notices, *said]


def notices_of_table(table: Table, source: str) -> tuple[list[Notice], list[str]]:
    """Notices of an export that is already read; rows without number, code or text are left out and counted."""
    names = {column.strip().casefold(): place for place, column in enumerate(table.columns)}
    found: dict[str, Notice] = {}
    dropped = repeated = 0
    for row in table.rows:
        notice = _notice(row, names)
        if notice is None:
            dropped += 1
        elif notice.number in found:
            repeated += 1
        else:
            found[notice.number] = notice
    said = []
    if dropped:
        said.append(f"{source}: {dropped} row(s) without number, code or text were left out")
    if repeated:
        said.append(f"{source}: {repeated} row(s) repeat a publication number and were left out")
    return list(found.values()), said


def _notice(row: Sequence[Any], names: dict[str, int]) -> Notice | None:
    def cell(key: str) -> str:
        return " ".join(as_text(row[names[key]]).split()) if key in names else ""

    given = CodeForm().read(cell("main_cpv"))
    digits = given if is_cpv_like([given]) else "".join(char for char in given if char.isdigit())
    notice = Notice(
        number=cell("pub_number"),
        code=digits[:8],
        title=cell("title"),
        text=cell("text"),
        language=cell("language").lower() or None,
        buyer=cell("buyer"),
        contract_type=cell("contract_type"),
    )
    complete = notice.number and len(digits) >= 8 and notice.texts
    return notice if complete else None


# --- training and test ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Split:
    """Two sides of one set of notices; `n_kept_together` notices went to the side of a near-duplicate."""

    train: tuple[Notice, ...]
    test: tuple[Notice, ...]
    n_kept_together: int


def split_notices(notices: Sequence[Notice], *, train_ratio: float = 0.8) -> Split:
    """Split by publication number: the first 8 hex digits of its SHA-256 below the ratio are training (the
    published rule). Notices with the same or nearly the same text stay on one side: that of the smallest number
    among them. The same notices give the same split, in any order."""
    groups = duplicate_groups([notice.full_text for notice in notices])
    leaders: dict[int, str] = {}
    for notice, group in zip(notices, groups, strict=True):
        leaders[group] = min(leaders.get(group, notice.number), notice.number)
    train: list[Notice] = []
    test: list[Notice] = []
    moved = 0
    for notice, group in zip(notices, groups, strict=True):
        side = in_training(leaders[group], train_ratio)
        moved += side != in_training(notice.number, train_ratio)
        (train if side else test).append(notice)
    return Split(tuple(train), tuple(test), moved)


def in_training(number: str, train_ratio: float) -> bool:
    """The published rule for one publication number."""
    return int(hashlib.sha256(number.encode()).hexdigest()[:8], 16) / 0xFFFFFFFF < train_ratio


def export_rows(notices: Iterable[Notice]) -> list[list[str]]:
    """Rows of an export CSV under `EXPORT_COLUMNS`."""
    return [
        [n.number, n.number, n.title, n.text, n.buyer, n.language or "", n.contract_type, n.code]
        for n in notices
    ]
