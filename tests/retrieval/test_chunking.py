from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contracts import CHUNKERS
from core.corpus import Document, Section
from core.errors import ConfigError
from core.retrieval import chunking
from core.text import token_spans
from tests.retrieval.corpora import document

SPECS = [
    {"type": "fixed_words", "chunk_size": 5, "overlap": 2},
    {"type": "fixed_tokens", "chunk_size": 7, "overlap": 3},
    {"type": "by_section"},
    {"type": "by_paragraph"},
    {"type": "by_sentence", "chunk_size": 2, "overlap": 1},
]
RULES = document(
    [
        ("§ 1", "Scope", "These rules apply to all. They apply from 1.10.2013.\nThey bind everybody."),
        (
            "§ 2",
            "Length",
            "Studies take six semesters. An extension of two semesters may be granted. Ask for it.",
        ),
        ("§ 1", "Scope of the annex", "The annex restarts the numbering. It has its own § 1."),
    ]
)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec["type"])
def test_offsets_ids_and_coverage(spec: dict[str, object]) -> None:
    chunks = CHUNKERS.create(spec).chunk(RULES)
    assert all(chunk.text == RULES.text[chunk.start : chunk.end] and chunk.text.strip() for chunk in chunks)
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.page == RULES.page_at(chunk.start) for chunk in chunks)
    assert all(chunk.page_end == RULES.page_at(chunk.end - 1) for chunk in chunks)
    covered = {i for chunk in chunks for i in range(chunk.start, chunk.end)}
    headings = {i for s in RULES.sections for i in range(s.start, s.start + len(f"{s.section_id} {s.title}"))}
    letters = {i for i, letter in enumerate(RULES.text) if not letter.isspace()}
    assert covered >= (letters - headings if spec["type"] == "by_paragraph" else letters)
    assert {chunk.strategy for chunk in chunks} == {spec["type"]}


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec["type"])
def test_ids_are_stable_and_follow_the_text(spec: dict[str, object]) -> None:
    again = CHUNKERS.create(spec).chunk(RULES.model_copy())
    assert [c.chunk_id for c in again] == [c.chunk_id for c in CHUNKERS.create(spec).chunk(RULES)]
    changed = RULES.model_copy(update={"text": RULES.text.replace("six", "ten")})
    before, after = ({c.chunk_id for c in CHUNKERS.create(spec).chunk(d)} for d in (RULES, changed))
    assert before != after


def test_windows_start_size_minus_overlap_later_and_stop_at_the_end() -> None:
    assert list(chunking.windows(10, 4, 1)) == [(0, 4), (3, 7), (6, 10)]
    assert list(chunking.windows(4, 4, 3)) == [(0, 4)]
    assert list(chunking.windows(0, 4, 1)) == []
    assert list(chunking.windows(5, 2, 1)) == [(0, 2), (1, 3), (2, 4), (3, 5)]


@given(st.integers(0, 200), st.integers(1, 50), st.data())
def test_windows_cover_everything_and_none_contains_another(
    count: int, size: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    found = list(chunking.windows(count, size, overlap))
    assert sorted({i for a, b in found for i in range(a, b)}) == list(range(count))
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(found))


def test_token_windows_count_tokens() -> None:
    chunks = chunking.FixedTokens(chunk_size=7, overlap=0).chunk(RULES)
    assert all(len(token_spans(chunk.text)) <= 7 for chunk in chunks)
    assert sum(len(token_spans(chunk.text)) for chunk in chunks) == len(token_spans(RULES.text))


def test_windows_do_not_cross_sections() -> None:
    chunks = chunking.FixedWords(chunk_size=1000, overlap=0).chunk(RULES)
    assert [(c.section_id, c.title) for c in chunks] == [(s.section_id, s.title) for s in RULES.sections]


@pytest.mark.parametrize("spec", [{"chunk_size": 5, "overlap": 5}, {"chunk_size": 0}, {"overlap": -1}])
def test_impossible_windows_are_refused(spec: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        CHUNKERS.create({"type": "fixed_words", **spec})


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec["type"])
@pytest.mark.parametrize("text", ["", "   \n\n \t", "\n"])
def test_a_document_without_text_has_no_chunks(spec: dict[str, object], text: str) -> None:
    assert CHUNKERS.create(spec).chunk(Document(doc_path="empty.txt", text=text)) == []


def test_a_document_without_sections_or_paragraphs() -> None:
    plain = Document(doc_path="plain.txt", text="First block.\n\nSecond block.\n \n\nThird.")
    assert [c.text for c in chunking.ByParagraph().chunk(plain)] == [
        "First block.",
        "Second block.",
        "Third.",
    ]
    assert [c.text for c in chunking.BySection().chunk(plain)] == [plain.text]
    assert chunking.BySection().chunk(plain)[0].page is None


def test_unusual_characters_keep_their_offsets() -> None:
    text = "Ünïcode 🙂 text\u00ad with soft hyphens, 中文。 مرحبا C:\\new $5."
    odd = Document(
        doc_path="odd.txt", text=text, sections=[Section(ordinal=0, section_id="", start=0, end=len(text))]
    )
    for spec in SPECS:
        for chunk in CHUNKERS.create(spec).chunk(odd):
            assert chunk.text == text[chunk.start : chunk.end]
