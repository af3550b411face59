"""Ways of cutting a document into chunks. `chunk.text == document.text[chunk.start:chunk.end]` always holds.

Windows never cross a section. A window starts `size - overlap` units after the one before and the last window of
a section is the first that reaches its end, so that no window is contained in its neighbour.
"""

from __future__ import annotations

import hashlib
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence

from pydantic import Field, model_validator

from core.contracts import CHUNKERS
from core.corpus import Chunk, Document, Section
from core.registry import Component
from core.text import sentence_spans, token_spans, word_spans

CHUNKING_VERSION = "1"
Span = tuple[int, int]
_BLANK_LINES = re.compile(r"\n[ \t]*\n")


class _SpanChunker(Component):
    """A chunker that names character ranges, each with the section it stands in."""

    @abstractmethod
    def spans(self, document: Document) -> Iterator[tuple[int, int, Section]]:
        """Ranges in the order of the text."""

    def chunk(self, document: Document) -> list[Chunk]:
        """The chunks of one document, in the order of the text; none is empty or only white space."""
        return _chunks(document, self.spans(document), self.name)


class _Windows(_SpanChunker):
    """Windows of `chunk_size` units over each section, neighbours sharing `overlap` units."""

    chunk_size: int = Field(450, ge=1, description="units in a window")
    overlap: int = Field(60, ge=0, description="units shared by neighbouring windows; less than chunk_size")

    @model_validator(mode="after")
    def _advances(self) -> _Windows:
        if self.overlap >= self.chunk_size:
            raise ValueError(f"overlap ({self.overlap}) must be smaller than chunk_size ({self.chunk_size})")
        return self

    @abstractmethod
    def units(self) -> Callable[[str], Sequence[Span]]:
        """The function that finds the units of a text."""

    def spans(self, document: Document) -> Iterator[tuple[int, int, Section]]:
        find = self.units()
        for section in sections_of(document):
            units = find(document.text[section.start : section.end])
            for first, last in windows(len(units), self.chunk_size, self.overlap):
                yield section.start + units[first][0], section.start + units[last - 1][1], section


@CHUNKERS.register("fixed_words")
class FixedWords(_Windows):
    """Windows of words (runs without white space) over each section."""

    def units(self) -> Callable[[str], Sequence[Span]]:
        return word_spans


@CHUNKERS.register("fixed_tokens")
class FixedTokens(_Windows):
    """Windows of our own tokens (words, numbers, single punctuation marks) over each section.

    The count is the same with and without any model installed. It is not the count of a model's word pieces.
    """

    def units(self) -> Callable[[str], Sequence[Span]]:
        return token_spans


@CHUNKERS.register("by_sentence")
class BySentence(_Windows):
    """Windows of whole sentences over each section."""

    chunk_size: int = Field(6, ge=1, description="sentences in a window")
    overlap: int = Field(
        1, ge=0, description="sentences shared by neighbouring windows; less than chunk_size"
    )

    def units(self) -> Callable[[str], Sequence[Span]]:
        return sentence_spans


@CHUNKERS.register("by_section")
class BySection(_SpanChunker):
    """Whole sections, however long."""

    def spans(self, document: Document) -> Iterator[tuple[int, int, Section]]:
        for section in sections_of(document):
            yield section.start, section.end, section


@CHUNKERS.register("by_paragraph")
class ByParagraph(_SpanChunker):
    """Whole paragraphs; a document without known paragraphs is cut at its empty lines."""

    def spans(self, document: Document) -> Iterator[tuple[int, int, Section]]:
        sections = sections_of(document)
        if document.paragraphs:
            by_ordinal = {section.ordinal: section for section in sections}
            for paragraph in document.paragraphs:
                yield paragraph.start, paragraph.end, by_ordinal.get(paragraph.section, sections[0])
            return
        for section in sections:
            start = section.start
            for gap in _BLANK_LINES.finditer(document.text, section.start, section.end):
                yield start, gap.start(), section
                start = gap.end()
            yield start, section.end, section


def windows(count: int, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Half-open windows over `count` units: the next starts at max(end - overlap, start + 1), the last is the
    first that reaches the end; none for no units."""
    start = 0
    while start < count:
        end = min(start + size, count)
        yield start, end
        if end == count:
            return
        start = max(end - overlap, start + 1)


def sections_of(document: Document) -> tuple[Section, ...]:
    """The sections of a document; one without any is a single section without a name."""
    return document.sections or (Section(ordinal=0, section_id="", start=0, end=len(document.text)),)


def _chunks(document: Document, spans: Iterable[tuple[int, int, Section]], strategy: str) -> list[Chunk]:
    chunks: list[Chunk] = []
    for raw_start, raw_end, section in spans:
        raw = document.text[raw_start:raw_end]
        text = raw.strip()
        if not text:
            continue
        start = raw_start + len(raw) - len(raw.lstrip())
        end = start + len(text)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        chunks.append(
            Chunk(
                chunk_id=f"{document.doc_path}#{len(chunks):04d}-{digest}",
                doc_path=document.doc_path,
                ordinal=len(chunks),
                text=text,
                start=start,
                end=end,
                page=document.page_at(start),
                page_end=document.page_at(end - 1),
                section_id=section.section_id,
                title=section.title,
                program_id=document.program_id,
                program_name=document.program_name,
                strategy=strategy,
                n_words=len(text.split()),
            )
        )
    return chunks
