"""Loading documents: paths, reports, the cache, and files that misbehave."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Literal

import pytest

from core.errors import InputError
from core.inputs.documents import load_documents
from core.inputs.files import find_files
from core.inputs.parse_pool import parse_all
from tests.inputs.pdf_files import write_pdf

Form = Literal["NFC", "NFD"]
PAGES = [
    ["Ordnung", "§ 1 Zweck", "(1) Die Prüfung dient dem Zweck. Das Mo-", "dul ist lang."],
    ["§ 2 Frist", "Drei Tage."],
]


def test_a_pdf_becomes_pages_sections_and_paragraphs_of_one_text(tmp_path: Path) -> None:
    write_pdf(tmp_path / "docs" / "Informatik" / "ordnung.pdf", PAGES)
    (tmp_path / "docs" / "notes.md").write_text("# Notes\n\nText.\n", encoding="utf-8")
    documents, reports = load_documents([str(tmp_path / "docs")], cache_dir=tmp_path / "cache")
    assert [document.doc_path for document in documents] == ["Informatik/ordnung.pdf", "notes.md"]
    pdf, markdown = documents
    assert (
        pdf.text
        == "Ordnung\n§ 1 Zweck\n(1) Die Prüfung dient dem Zweck. Das Modul ist lang.\n§ 2 Frist\nDrei Tage."
    )
    assert [section.section_id for section in pdf.sections] == ["PREAMBLE", "§ 1", "§ 2"]
    assert pdf.page_at(pdf.text.index("Drei")) == 2
    assert (pdf.program_id, pdf.program_name) == ("informatik", "Informatik")
    assert (markdown.program_id, markdown.program_name, markdown.pages) == ("root", "root", ())
    assert [(report.doc_path, report.status, report.n_pages) for report in reports] == [
        ("Informatik/ordnung.pdf", "read", 2),
        ("notes.md", "read", 0),
    ]


def test_the_second_time_comes_from_the_cache_and_is_equal(tmp_path: Path) -> None:
    write_pdf(tmp_path / "a.pdf", PAGES)
    first, cold = load_documents([str(tmp_path / "*.pdf")], cache_dir=tmp_path / "cache")
    again, warm = load_documents([str(tmp_path / "a.pdf")], cache_dir=tmp_path / "cache")
    assert again == first
    assert [report.cached for report in (*cold, *warm)] == [False, True]


@pytest.mark.parametrize("damage", [b"", b"no checksum", b"0" * 64 + b"\n{}"])
def test_a_damaged_cache_entry_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    write_pdf(tmp_path / "a.pdf", PAGES)
    first, _ = load_documents([str(tmp_path / "a.pdf")], cache_dir=tmp_path / "cache")
    (entry,) = (path for path in (tmp_path / "cache").rglob("*") if path.is_file())
    entry.write_bytes(damage)
    again, reports = load_documents([str(tmp_path / "a.pdf")], cache_dir=tmp_path / "cache")
    assert again == first
    assert not reports[0].cached
    assert entry.read_bytes() != damage


def test_a_cache_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    write_pdf(tmp_path / "a.pdf", PAGES)
    (tmp_path / "cache").write_text("a file, not a folder", encoding="utf-8")
    documents, _ = load_documents([str(tmp_path / "a.pdf")], cache_dir=tmp_path / "cache")
    assert len(documents) == 1


def test_bad_files_are_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    whole = write_pdf(folder / "whole.pdf", PAGES).read_bytes()
    (folder / "truncated.pdf").write_bytes(whole[:60])
    (folder / "empty.pdf").write_bytes(b"")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "latin.txt").write_bytes("Prüfung".encode("cp1252"))
    (folder / "utf16.txt").write_bytes("Prüfung".encode("utf-16"))
    (folder / "table.xlsx").write_bytes(b"PK")
    write_pdf(folder / "blank.pdf", [[]])
    documents, reports = load_documents([str(folder), str(folder / "*.xlsx")], cache_dir=tmp_path / "cache")
    status = {report.doc_path: report.status for report in reports}
    assert status == {
        "blank.pdf": "empty",
        "empty.pdf": "failed",
        "empty.txt": "empty",
        "latin.txt": "partly_read",
        "table.xlsx": "failed",
        "truncated.pdf": "failed",
        "utf16.txt": "read",
        "whole.pdf": "read",
    }
    assert all(report.problems for report in reports if report.status != "read")
    texts = {document.doc_path: document.text for document in documents}
    assert texts["latin.txt"] == texts["utf16.txt"] == "Prüfung"
    assert set(texts) == {"latin.txt", "utf16.txt", "whole.pdf"}


def test_a_file_that_hangs_is_stopped_and_the_next_one_is_parsed(tmp_path: Path) -> None:
    (tmp_path / "hang.txt").write_text("hang", encoding="utf-8")
    (tmp_path / "die.txt").write_text("die", encoding="utf-8")
    (tmp_path / "ok.txt").write_text("ok", encoding="utf-8")
    files = find_files([str(tmp_path)])
    parsed = parse_all(files, timeout=1.0, workers=1, module="tests.inputs.misbehaving_worker")
    outcome = {file.doc_path: each.report for file, each in zip(files, parsed, strict=True)}
    assert "took longer than 1 seconds" in outcome["hang.txt"].problems[0]
    assert "exit code 3" in outcome["die.txt"].problems[0]
    assert outcome["ok.txt"].status == "read"


def test_what_timed_out_is_not_remembered(tmp_path: Path) -> None:
    write_pdf(tmp_path / "a.pdf", PAGES)
    documents, reports = load_documents(
        [str(tmp_path / "a.pdf")], cache_dir=tmp_path / "cache", parse_timeout=0.0001
    )
    assert (documents, reports[0].status) == ([], "failed")
    documents, _ = load_documents([str(tmp_path / "a.pdf")], cache_dir=tmp_path / "cache")
    assert len(documents) == 1


def test_patterns_are_files_folders_and_globs_each_file_once(tmp_path: Path) -> None:
    for name in ("a.txt", "sub/b.md", "sub/deep/c.TXT", "x, y [1].txt", ".hidden.txt", "sub/skip.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    everything = ["a.txt", "sub/b.md", "sub/deep/c.TXT", "x, y [1].txt"]
    patterns = [str(tmp_path), str(tmp_path / "a.txt"), str(tmp_path / "sub" / "*.md")]
    assert [file.doc_path for file in find_files(patterns)] == everything
    assert [file.doc_path for file in find_files([str(tmp_path / "**" / "*.md")])] == ["sub/b.md"]
    assert [file.doc_path for file in find_files([str(tmp_path / "x, y [1].txt")])] == ["x, y [1].txt"]
    assert [file.doc_path for file in find_files([str(tmp_path / "sub")], root=str(tmp_path))] == everything[
        1:3
    ]


def test_patterns_without_a_match_are_all_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError) as error:
        load_documents(
            [str(tmp_path / "*.pdf"), str(tmp_path / "empty"), str(tmp_path / "no.md")],
            cache_dir=tmp_path / "cache",
        )
    assert len(error.value.problems) == 3


def test_files_outside_of_the_root_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    (tmp_path / "root").mkdir()
    with pytest.raises(InputError, match="outside of docs_root"):
        find_files([str(tmp_path / "a.txt")], root=str(tmp_path / "root"))


@pytest.mark.parametrize("asked", ["NFC", "NFD"])
@pytest.mark.parametrize("stored", ["NFC", "NFD"])
def test_umlauts_in_file_names_match_however_they_are_spelled(
    tmp_path: Path, stored: Form, asked: Form
) -> None:
    name = "rahmenprüfungsordnung.txt"
    (tmp_path / unicodedata.normalize(stored, name)).write_text("x", encoding="utf-8")
    for pattern in (name, "*prüfung*.txt"):
        (file,) = find_files([str(tmp_path / unicodedata.normalize(asked, pattern))])
        assert file.doc_path == unicodedata.normalize("NFC", name)
