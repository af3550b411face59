"""Locating quotes, and coverage of gold characters by the published definitions."""

from __future__ import annotations

import csv
import json

import pytest

from core.corpus import Document, Page
from core.metrics import spans
from core.records import Case, Evidence
from tests.real_data import real_data


def _document(*pages: str, path: str = "folder/statute.pdf") -> Document:
    text, parts = "", []
    for number, page in enumerate(pages, 1):
        parts.append(Page(number=number, start=len(text), end=len(text) + len(page) + 1))
        text += page + "\n"
    return Document(doc_path=path, text=text, pages=tuple(parts))


def _found(quote: str, document: Document, page: int | None = None) -> str | None:
    span = spans.locate(quote, document, page)
    return None if span is None else document.text[span[0] : span[1]]


TEXT = "Erste Zeile. Das Thema kann nur ein-\nmal „zurückgegeben“ werden – und das bin-\nnen 4 Wochen (ﬁnal). Letzte Zeile."


@pytest.mark.parametrize(
    "quote",
    [
        "Das Thema kann nur einmal „zurückgegeben“ werden",
        "Das  Thema kann\nnur ein- mal 'zurückgegeben' werden",
        'Das Thema kann nur einmal "zuru\u0308ckgegeben" werden - und das binnen 4 Wochen',
        "DAS THEMA KANN NUR EINMAL",
        "bin\u00adnen 4\u00a0Wochen (final)",
    ],
)
def test_typography_and_line_breaks_make_no_difference(quote: str) -> None:
    found = _found(quote, _document(TEXT))
    assert found is not None
    assert spans.fold_for_locating(found) == spans.fold_for_locating(quote)


def test_the_span_is_the_quote_and_nothing_around_it() -> None:
    assert _found("Das Thema kann nur einmal", _document(TEXT)) == "Das Thema kann nur ein-\nmal"


def test_a_short_quote_is_found_only_as_whole_words() -> None:
    assert _found("12", _document("In 2012 there were 312 and 12 rules")) == "12"
    assert _found("12", _document("In 2012 there were 312 rules")) is None
    assert spans.locate("", _document(TEXT)) is None
    assert spans.locate("–", _document(TEXT)) is None


def test_the_page_decides_between_equal_passages_and_a_wrong_page_is_forgiven() -> None:
    document = _document(
        "Die Frist beträgt vier Wochen.", "Die Frist beträgt vier Wochen.", "Anderes steht hier."
    )
    for page in (1, 2):
        span = spans.locate("Die Frist beträgt vier Wochen", document, page)
        assert span is not None
        assert document.page_at(span[0]) == page
    assert spans.locate("Die Frist beträgt vier Wochen", document, 3) is not None
    assert spans.locate("Die Frist beträgt vier Wochen", document, 99) == spans.locate(
        "Die Frist beträgt vier Wochen", document
    )


def test_a_quote_over_a_page_break_is_found() -> None:
    document = _document("Die Frist beträgt", "vier Wochen nach Ausgabe.")
    assert _found("Die Frist beträgt vier Wochen", document, 1) == "Die Frist beträgt\nvier Wochen"


def test_small_differences_are_bridged_but_never_a_number() -> None:
    passage = "Das Thema der Arbeit kann nur einmal und nur innerhalb von 4 Wochen nach der Ausgabe zurückgegeben werden."
    document = _document("Vorher steht etwas anderes. " + passage + " Danach auch.")
    typo = passage.replace("Ausgabe", "Ausgahe").replace("Arbeit", "Arbeiit")
    assert _found(typo, document) == passage[:-1] or _found(typo, document) == passage
    assert spans.locate(typo.replace("4", "6"), document) is None
    assert (
        spans.locate("Ein völlig anderer Satz, der nirgends in diesem Dokument vorkommt.", document) is None
    )


def test_evidence_by_file_name_by_offsets_and_unknown() -> None:
    document = _document(TEXT)
    case = Case(
        id="1",
        query="?",
        evidence=(
            Evidence(doc_path="statute.pdf", quote="Das Thema kann nur einmal"),
            Evidence(doc_path="folder/statute.pdf", start=0, end=12),
            Evidence(doc_path="folder/statute.pdf", quote="Das Thema kann nur ein- mal"),
            Evidence(doc_path="folder/statute.pdf", quote="steht nirgends in dem Text"),
            Evidence(doc_path="other.pdf", quote="Das Thema"),
        ),
    )
    found = spans.evidence_spans(case, {document.doc_path: document})
    assert [(span.evidence_index, document.text[span.start : span.end]) for span in found] == [
        (0, "Das Thema kann nur ein-\nmal"),
        (1, "Erste Zeile."),
    ]


def test_a_file_name_that_is_not_unique_finds_nothing() -> None:
    documents = [_document(TEXT, path=path) for path in ("a/x.pdf", "b/x.pdf")]
    case = Case(id="1", query="?", evidence=(Evidence(doc_path="x.pdf", quote="Das Thema"),))
    assert spans.evidence_spans(case, documents) == []


@pytest.mark.real_data
def test_coverage_equals_hand_computed_figures_on_the_published_questions() -> None:
    """Figures by hand from the definitions: recall = gold retrieved / gold; precision = gold retrieved / retrieved,
    overlaps each time; IoU = gold retrieved / (retrieved, overlaps each time, + gold missed)."""
    with real_data("chunking_evaluation", "questions_df.csv").open(encoding="utf-8") as file:
        questions = list(csv.DictReader(file))
    gold = [[(r["start_index"], r["end_index"]) for r in json.loads(q["references"])] for q in questions[:4]]
    assert gold[0] == [(27346, 27425), (27866, 28023)]  # 79 + 157 = 236 characters
    # windows of 400 and 500: 54 + 25 + 34 = 113 gold characters
    assert _coverage(gold[0], [(27000, 27400), (27400, 27900)]) == pytest.approx(
        (113 / 236, 113 / 900, 113 / 1023)
    )
    # a third, overlapping window adds no gold but 200 retrieved characters
    three = [(27000, 27400), (27400, 27900), (27300, 27500)]
    assert _coverage(gold[0], three) == pytest.approx((113 / 236, 113 / 1100, 113 / 1223))
    # the same window twice is one window
    assert _coverage(gold[0], [*three, three[0]]) == _coverage(gold[0], three)
    assert gold[1] == [(29533, 29592), (29594, 29800)]  # 59 + 206 = 265
    assert _coverage(gold[1], [(29500, 29700)]) == pytest.approx((165 / 265, 165 / 200, 165 / 300))
    assert gold[2] == [(16996, 17096)]
    assert _coverage(gold[2], [(16996, 17096)]) == (1.0, 1.0, 1.0)
    assert gold[3] == [(1039, 1145)]
    assert _coverage(gold[3], [(0, 1000)]) == (0.0, 0.0, 0.0)


def _coverage(
    gold: list[spans.Span], retrieved: list[spans.Span]
) -> tuple[float | None, float | None, float | None]:
    functions = (spans.char_recall, spans.char_precision, spans.char_iou)
    recall, precision, iou = (function(gold, retrieved) for function in functions)
    return recall, precision, iou


@pytest.mark.real_data
def test_every_published_reference_is_located_at_its_own_offsets() -> None:
    with real_data("chunking_evaluation", "questions_df.csv").open(encoding="utf-8") as file:
        questions = list(csv.DictReader(file))
    corpora = {
        name: Document(
            doc_path=name,
            text=real_data("chunking_evaluation", "corpora", f"{name}.md").read_bytes().decode(),
        )
        for name in {question["corpus_id"] for question in questions}
    }
    exact = total = 0
    for question in questions:
        document = corpora[question["corpus_id"]]
        for reference in json.loads(question["references"]):
            total += 1
            span = spans.locate(reference["content"], document)
            assert span is not None, reference
            content = reference["content"]
            start = reference["start_index"] + len(content) - len(content.lstrip(" \n="))
            exact += span == (start, reference["end_index"] - len(content) + len(content.rstrip()))
            assert spans.fold_for_locating(document.text[span[0] : span[1]]) == spans.fold_for_locating(
                reference["content"]
            )
    assert total > 276
    assert exact == total  # white space around a quote is not part of its place


def test_no_gold_is_undefined() -> None:
    assert _coverage([], [(0, 5)]) == (None, None, None)
    assert _coverage([(0, 5)], []) == (0.0, None, 0.0)


@pytest.mark.real_data
def test_every_evidence_quote_of_the_regulations_is_located_on_its_page(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    from core.inputs.documents import load_documents

    folder = real_data("ulm_examination_regulations_de", "pdf")
    questions = json.loads(real_data("ulm_questions", "questions_by_file.json").read_text(encoding="utf-8"))[
        "questions"
    ]
    quotes = [e for q in questions for e in [*q["evidence"], *q.get("distractor_evidence", [])]]
    wanted = sorted({str(folder / quote["doc_path"]) for quote in quotes})
    cache = tmp_path_factory.mktemp("parsed")
    documents, _ = load_documents(wanted, root=str(folder), parse_timeout=120, cache_dir=cache)
    by_path = {document.doc_path: document for document in documents}
    missed = []
    for quote in quotes:
        document = by_path[quote["doc_path"]]
        span = spans.locate(quote["quote"], document, quote["page"])
        pages = (0, 0) if span is None else (document.page_at(span[0]), document.page_at(span[1] - 1))
        if quote["page"] not in pages:
            missed.append((quote["doc_path"], quote["page"], quote["quote"][:60]))
    assert len(quotes) == 98
    assert not missed
