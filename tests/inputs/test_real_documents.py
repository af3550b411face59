"""Real documents: statutes, FAQs, and PDFs made to break parsers."""

from __future__ import annotations

import csv
from bisect import bisect_right
from pathlib import Path

import pytest

from core.corpus import Document
from core.inputs.cases import load_questions
from core.inputs.documents import load_documents
from tests.real_data import real_data

PASSWORDS = {"P1": "asdfzxcv", "P2": "password", "P3": "openpassword", "P4": "foo", "P5": "test"}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def statutes(cache: Path) -> dict[str, Document]:
    folder = real_data("ulm_examination_regulations_de", "pdf")
    patterns = [str(folder / "IN__*.pdf"), str(folder / "2013-03-12_rahmenprüfungsordnung.pdf")]
    documents, reports = load_documents(patterns, cache_dir=cache)
    assert [report.status for report in reports] == ["read"] * 19
    return {document.doc_path: document for document in documents}


def test_every_damaged_pdf_is_reported_and_the_readable_ones_are_read(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in PASSWORDS.items():
        monkeypatch.setenv(name, value)
    with real_data("nasty_pdfs", "manifest_pypdf.csv").open(encoding="utf-8") as stream:
        manifest = {row["file"]: row for row in csv.DictReader(stream)}
    folder = str(real_data("nasty_pdfs", "files"))
    documents, reports = load_documents([folder], cache_dir=cache, passwords=list(PASSWORDS))
    assert {report.doc_path for report in reports} == set(manifest)
    assert len(reports) == 37
    for report in reports:
        row = manifest[report.doc_path]
        assert (report.status == "failed") == bool(row["error"])
        assert bool(report.problems) == (report.status != "read")
        if not row["error"]:
            assert report.n_pages == int(row["pages"])
            assert report.n_empty_pages == int(row["empty_pages"])
            assert report.encrypted == (row["encrypted"] == "True")
            assert (report.n_characters > 0) == (int(row["chars"]) > 0)
    assert {report.doc_path for report in reports if report.image_only} == {
        "pdfminersix__contrib__pdf-with-jbig2.pdf"
    }
    assert len(documents) == sum(report.n_characters > 0 for report in reports)


def test_without_their_passwords_encrypted_files_say_what_they_need(cache: Path) -> None:
    folder = real_data("nasty_pdfs", "files")
    _, reports = load_documents(
        [str(folder / "*encryption*.pdf")], cache_dir=cache, passwords=["PLUMBLINE_TEST_UNSET_PASSWORD"]
    )
    assert len(reports) == 2
    for report in reports:
        assert (report.status, report.encrypted) == ("failed", True)
        assert "needs a password" in report.problems[0]
        assert "PLUMBLINE_TEST_UNSET_PASSWORD is not set" in report.problems[1]


def test_every_gold_quote_stands_on_its_page_in_its_section(statutes: dict[str, Document]) -> None:
    cases = load_questions(real_data("ulm_questions", "questions_by_file.json")).cases
    squashed = {path: _squash(document.text) for path, document in statutes.items()}
    checked = sections = 0
    for case in cases:
        for evidence in case.evidence:
            document = statutes[evidence.doc_path]
            text, offsets = squashed[evidence.doc_path]
            quote, _ = _squash(evidence.quote or "")
            places = [offsets[place] for place in _all(text, quote)]
            pages = [document.page_at(place) for place in places]
            assert evidence.page in pages, (case.id, evidence.page, pages)
            checked += 1
            if len(case.evidence) == 1:
                place = places[pages.index(evidence.page)]
                starts = [section.start for section in document.sections]
                section = document.sections[bisect_right(starts, place) - 1]
                assert section.section_id == case.metadata["section_id"], case.id
                sections += 1
    assert (checked, sections) == (89, 33)


def test_the_statutes_have_their_sections_in_order(statutes: dict[str, Document]) -> None:
    framework = statutes["2013-03-12_rahmenprüfungsordnung.pdf"]
    numbers = [section.section_id for section in framework.sections if section.section_id.startswith("§")]
    assert numbers == [
        f"§ {n}" for n in [*range(1, 7), "6a", *range(7, 17), "16a", "16b", "16c", *range(17, 28)]
    ]
    assert framework.language == "de"
    for document in statutes.values():
        assert "".join(document.text[s.start : s.end] for s in document.sections) == document.text
        assert document.pages[-1].end == len(document.text)


def test_a_markdown_conversion_of_a_statute_has_the_same_sections(cache: Path) -> None:
    file = real_data(
        "ulm_examination_regulations_de", "someones_markdown_of_2013-03-12_rahmenpruefungsordnung.md"
    )
    (document,), _ = load_documents([str(file)], cache_dir=cache)
    assert {"§ 1", "§ 6a", "§ 16c", "§ 27"} <= {section.section_id for section in document.sections}


def test_the_questions_of_a_faq_are_its_sections(cache: Path) -> None:
    documents, reports = load_documents([str(real_data("telecom_faq_fr", "pdf"))], cache_dir=cache)
    by_path = {document.doc_path: document for document in documents}
    faq = by_path["FAQ_Résiliation_et_Modifications.pdf"]
    assert [section.section_id for section in faq.sections] == ["PREAMBLE", "Q1", "Q2", "Q3"]
    assert len(reports) == 7


def _squash(text: str) -> tuple[str, list[int]]:
    """The text without white space and hyphens, and where each character stood."""
    kept = [
        (char, offset) for offset, char in enumerate(text) if not char.isspace() and char not in "-\u2010"
    ]
    return "".join(char for char, _ in kept), [offset for _, offset in kept]


def _all(text: str, part: str) -> list[int]:
    found, place = [], text.find(part)
    while place >= 0:
        found.append(place)
        place = text.find(part, place + 1)
    return found
