"""Tables in every format and encoding give the same cells, or say where they cannot be read."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.inputs.cells import as_list, as_number, code_width
from core.inputs.table_files import Table, read_table
from core.store.export.tabular import neutralise

NASTY = [
    "Prüfung ß",
    "日本語 العربية 🎉",
    "C:\\new\\",
    "$5 and $6",
    "<b>*md*</b>",
    "line\nbreak",
    'say "hi"',
    "a;b,c\td",
    "=1+1",
    "@x",
    "'=1",
    "ends\\",
]


def write_xlsx(path: Path, *sheets: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    for number, rows in enumerate(sheets):
        sheet = book.active if number == 0 else book.create_sheet(f"Sheet {number + 1}")
        assert sheet is not None
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def as_csv(rows: list[list[Any]], delimiter: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue()


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "json", "jsonl", "parquet"])
def test_awkward_texts_come_back_exactly(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"t.{ending}"
    texts = [neutralise(text) for text in NASTY]
    if ending in ("csv", "tsv"):
        rows: list[list[Any]] = [["id", "text"], *[[n, text] for n, text in enumerate(texts)]]
        file.write_text(as_csv(rows, "\t" if ending == "tsv" else ","), encoding="utf-8", newline="")
    elif ending == "xlsx":
        write_xlsx(file, [["id", "text"], *[[n, text] for n, text in enumerate(texts)]])
    elif ending == "parquet":
        parquet.write_table(arrow.table({"id": list(range(len(texts))), "text": texts}), file)
    else:
        records = [{"id": n, "text": text} for n, text in enumerate(texts)]
        body = (
            json.dumps(records)
            if ending == "json"
            else "\n".join(json.dumps(r, ensure_ascii=False) for r in records)
        )
        file.write_text(body, encoding="utf-8", newline="")
    table = read_table(file)
    assert table.columns == ("id", "text")
    assert [row[1] for row in table.rows] == NASTY


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_separators_and_encodings_are_recognised(tmp_path: Path, encoding: str, delimiter: str) -> None:
    file = tmp_path / "t.csv"
    rows = [["Fräge", "Wert", "Text"], ["Prüfung, groß", "0,5", "x"], ["ß", "1,5", "a, b"]]
    file.write_bytes(as_csv(rows, delimiter).encode(encoding))
    table = read_table(file)
    assert table.columns == ("Fräge", "Wert", "Text")
    assert table.rows == (("Prüfung, groß", "0,5", "x"), ("ß", "1,5", "a, b"))
    assert any("Windows-1252" in notice for notice in table.notices) == (encoding == "cp1252")


def test_rows_know_their_line_also_behind_line_breaks_and_blank_rows(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text('a,b\n"x\ny",1\n\nz,2\n', encoding="utf-8")
    assert read_table(file).lines == (2, 5)


def test_missing_values_are_none(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text('{"a": NaN, "b": "nan", "c": "", "d": 0}\n{"a": 1, "e": [NaN, 2]}\n', encoding="utf-8")
    table = read_table(file)
    assert table.records() == [
        {"a": None, "b": None, "c": None, "d": 0, "e": None},
        {"a": 1, "b": None, "c": None, "d": None, "e": [None, 2]},
    ]


def test_json_may_wrap_its_rows_or_hold_columns(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    rows = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    for data in (
        rows,
        {"results": rows},
        {"a": [1, 3], "b": [2, 4]},
        {"a": {"0": 1, "1": 3}, "b": {"0": 2, "1": 4}},
    ):
        file.write_text(json.dumps(data), encoding="utf-8")
        assert read_table(file).records() == rows


def test_formatted_numbers_errors_dates_and_further_sheets(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["code", "x", "x"])
    sheet.append([9310000, "#N/A", 2.0])
    sheet["A2"].number_format = "00000000"
    sheet["B2"].data_type = "e"
    book.create_sheet("Other").append(["more"])
    book.create_sheet("Empty")
    book.save(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx")
    assert table.columns == ("code", "x", "x (2)")
    assert table.rows == (("09310000", None, 2),)
    text = " ".join(table.notices)
    for part in ("spreadsheet error", "'Other'", "occurs more than once"):
        assert part in text
    assert "'Empty'" not in text
    assert read_table(tmp_path / "t.xlsx", sheet="Other").columns == ("more",)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"a,b\n1,2,3\n", "column 3 .line 2."),
        ("t.csv", b'a,b\n"open\n', "not valid CSV"),
        ("t.csv", b"", "is empty"),
        ("t.csv", b"a\n\x81\x8d\n", "cannot be read as text"),
        ("t.jsonl", b'{"a": 1}\n{"a"\n[1]\n', "line 2"),
        ("t.json", b'{"a": 1}', "must hold a list"),
        ("t.json", b"[1]", "entries must be objects"),
        ("t.parquet", b"PAR1", "parquet"),
        ("t.xlsx", b"PK\x03\x04 not really", "no Excel workbook"),
        ("t.docx", b"x", "cannot be read as a table"),
    ],
)
def test_files_that_cannot_be_read_say_where(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_table(tmp_path / name)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    file = write_xlsx(tmp_path / "bomb.xlsx", [["a"], [1]])
    with (
        zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open("xl/big.xml", "w") as part,
    ):
        for _ in range(520):
            part.write(b"\0" * (1 << 20))
    assert file.stat().st_size < 2 << 20
    with pytest.raises(InputError, match="would unpack to"):
        read_table(file)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (["a", None], ["a"]),
        ("['a', \"b\"]", ["a", "b"]),
        ('["a", "b"]', ["a", "b"]),
        ("['a' 'b']", ["a", "b"]),
        ("array(['a', 'b'], dtype=object)", ["a", "b"]),
        ("[0.5, 1]", [0.5, 1]),
        ("[1] is a citation", ["[1] is a citation"]),
        ("plain", ["plain"]),
        (None, []),
        ("nan", []),
    ],
)
def test_lists_in_cells(cell: Any, expected: list[Any]) -> None:
    assert as_list(cell) == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("0,87", 0.87),
        ("1.234,5", 1234.5),
        ("1,234.5", 1234.5),
        (" -3 ", -3.0),
        (True, 1.0),
        ("x", None),
        ("nan", None),
        ([1], None),
    ],
)
def test_numbers_in_cells(cell: Any, expected: float | None) -> None:
    assert as_number(cell) == expected


def test_the_width_of_codes_is_only_guessed_where_zeros_were_lost() -> None:
    assert code_width(["45000000", 9310000], None) == 8
    assert code_width([1, 2, 33], None) is None
    assert code_width(["roofs"], None) is None
    assert code_width([45000000], None) is None
    assert code_width([1], 3) == 3


CELLS = st.text(alphabet=st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=12)


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_csv_file_comes_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    file = tmp_path_factory.mktemp("csv") / "t.csv"
    written = [["one", "two", "three"], *[[neutralise(f"v{cell}") for cell in row] for row in rows]]
    file.write_text(as_csv(written), encoding="utf-8", newline="")
    table: Table = read_table(file)
    assert [list(row) for row in table.rows] == [[f"v{cell}" for cell in row] for row in rows]
