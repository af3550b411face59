"""Code lists in every shape people have them, their trees, and what is said about a broken one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from openpyxl import Workbook

from core.errors import InputError
from core.inputs.catalog import load_catalog
from core.inputs.codes import CodeForm
from tests.real_data import real_data

OFFICIAL = """code,check_digit,label_en,label_de
45000000,7,Construction work,Bauarbeiten
45200000,9,Civil engineering,Hoch- und Tiefbau
45210000,2,Building construction,Hochbau
45213100,4,Commercial buildings,Geschäftsbauten
09310000,5,Electricity,Strom
"""


def _write(folder: Path, text: str, name: str = "codes.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_missing_parent_hangs_from_its_nearest_ancestor(tmp_path: Path) -> None:
    loaded = load_catalog(_write(tmp_path, OFFICIAL))
    catalog = loaded.catalog
    assert catalog.by_code["45213100"].parent == "45210000"
    assert catalog.ancestors("45213100") == ("45000000", "45200000", "45210000", "45213100")
    assert catalog.by_code["09310000"].parent is None
    assert catalog.by_code["45213100"].level == 5
    assert any("nearest existing ancestor" in notice for notice in loaded.notices)


def test_levels_of_two_digit_steps(tmp_path: Path) -> None:
    catalog = load_catalog(_write(tmp_path, OFFICIAL), scheme="two_digit_steps").catalog
    assert catalog.ancestors("45213100") == ("45000000", "45210000", "45213100")
    assert catalog.level_names == ("division", "group", "class", "category")


def test_the_real_list_has_its_published_counts() -> None:
    loaded = load_catalog(real_data("cpv", "cpv_2008_en_de.csv"))
    facts = json.loads(real_data("cpv", "facts.json").read_text("utf-8"))
    catalog, counts = loaded.catalog, facts["levels_by_significant_digits"]
    by_level = [sum(code.level == level for code in catalog.codes) for level in (1, 2, 3, 4)]
    assert len(catalog) == facts["n"]
    assert by_level == [counts["division"], counts["group"], counts["class"], counts["category"]]
    assert any(f"{facts['direct_parent_missing']} code(s)" in notice for notice in loaded.notices)
    assert set(catalog.by_code["09310000"].labels) == {"de", "en", "es", "et", "fr", "it", "nl", "pl"}


def test_every_missing_parent_of_the_real_list_is_resolved_as_its_table_says() -> None:
    catalog = load_catalog(real_data("cpv", "cpv_2008_en_de.csv")).catalog
    lines = real_data("cpv", "codes_whose_direct_parent_is_missing.csv").read_text("utf-8").splitlines()[1:]
    for line in lines:
        code, *_, nearest = line.split(",")
        assert catalog.by_code[code].parent == nearest


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("45000000-7", "45000000"),
        ("45000000 - 7", "45000000"),
        (9310000, "09310000"),
        (9310000.0, "09310000"),
        ("09310000.0", "09310000"),
        ("9310000-5", "09310000"),
        ("  03111000 ", "03111000"),
        ("45 21 31 00", "45213100"),
        ("Construction", "Construction"),
        ("12", "12"),
    ],
)
def test_codes_as_people_type_them(typed: object, read: str) -> None:
    assert CodeForm().read(typed) == read


def test_several_codes_in_one_cell() -> None:
    form = CodeForm()
    assert form.read_many("45000000-7, 09310000; 45000000") == ["45000000", "09310000"]
    assert form.read_many("[9310000, '45000000']") == ["09310000", "45000000"]
    assert form.read_many("45000000-7 09310000-5") == ["45000000", "09310000"]


def test_codes_typed_as_numbers_in_a_spreadsheet(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["code", "label"], [9310000, "Electricity"], [45000000, "Construction work"]):
        sheet.append(row)
    book.save(tmp_path / "codes.xlsx")
    loaded = load_catalog(tmp_path / "codes.xlsx")
    assert "09310000" in loaded.catalog
    assert any("leading zero" in notice for notice in loaded.notices)


def test_the_official_multilingual_list_and_the_legacy_one(tmp_path: Path) -> None:
    official = load_catalog(
        _write(tmp_path, "CODE;EN;FR\n45000000-7;Construction;Travaux\n", "a.csv")
    ).catalog
    assert official.by_code["45000000"].labels == {"en": "Construction", "fr": "Travaux"}
    legacy = load_catalog(
        _write(
            tmp_path,
            "code,label,description,parent_code,examples\n45000000,Construction,All works,,New school || Road works\n",
            "b.csv",
        )
    ).catalog
    assert legacy.by_code["45000000"].examples == ("New school", "Road works")


def test_a_corpus_export_becomes_a_code_list(tmp_path: Path) -> None:
    rows = "\ufeffID,PUB_NUMBER,TITLE,TEXT,BUYER,LANGUAGE,CONTRACT_TYPE,MAIN_CPV\n"
    rows += '1,1-2023,"Estonia – Electricity – Power for schools",Electric power for all schools,Town,ET,supplies,9310000-5\n'
    rows += "2,2-2023,No code here,Text,Town,ET,supplies,\n"
    rows += "3,3-2023,Testing of soil and attestation,,Town,EN,services,71632000\n"
    loaded = load_catalog(_write(tmp_path, rows))
    assert loaded.catalog.by_code["09310000"].label == "Electricity"
    assert loaded.catalog.by_code["71632000"].examples == ("Testing of soil and attestation",)
    assert any("1 row(s) without number, code or text" in notice for notice in loaded.notices)


def test_a_list_of_other_codes_uses_its_own_parents(tmp_path: Path) -> None:
    loaded = load_catalog(_write(tmp_path, "code,label,parent\nA,Animals,\nA1,Cats,A\nA1x,Lions,A1\n"))
    assert loaded.catalog.scheme == "catalog"
    assert loaded.catalog.ancestors("A1x") == ("A", "A1", "A1x")
    assert loaded.catalog.level_names == ("level_1", "level_2", "level_3")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("code,label,parent\nA,Animals,\nB,Birds,Z\n", "'Z' (parent of 'B') is not in the list"),
        ("code,label,parent\nA,Animals,B\nB,Birds,A\n", "is its own ancestor"),
        ("code,label\nA,Animals\nA,Apes\n", "(line 3): 'A' stands in row 2 too"),
        ("code,label\nA,\n", "code 'A' has no label"),
        ("code,label\n,Animals\n", "column 'code' (line 2): is empty"),
        ("number,text\n1,x\n", "a code list needs the columns code and label"),
        ("code,label\n", "holds no codes"),
    ],
)
def test_a_broken_list_is_refused_with_row_and_column(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        load_catalog(_write(tmp_path, text))
    assert said in str(caught.value)


def test_the_digest_covers_codes_and_scheme(tmp_path: Path) -> None:
    path = _write(tmp_path, OFFICIAL)
    first, again = load_catalog(path).catalog, load_catalog(path).catalog
    other = load_catalog(path, scheme="two_digit_steps").catalog
    changed = load_catalog(_write(tmp_path, OFFICIAL.replace("Electricity", "Power"), "other.csv")).catalog
    assert first.digest == again.digest
    assert len({first.digest, other.digest, changed.digest}) == 3
