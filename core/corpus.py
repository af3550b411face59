"""What the system under test searches: documents with their parts, chunks, and code lists.

Every part of a document is a half-open range `[start, end)` of characters of `Document.text`, so that any
evidence can be shown on its page: `document.text[part.start:part.end]` is the part, for pages, sections,
paragraphs and chunks alike.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property

from pydantic import Field

from core.records import Record


class Page(Record):
    """One page. `number` counts from 1 as the PDF does, not as the page prints it."""

    number: int = Field(ge=1)
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Section(Record):
    """A part under one heading. `section_id` is the printed one ("§ 12", "3.2", "PREAMBLE") and may repeat in
    a document whose annexes restart the numbering; `ordinal` counts from 0 and does not repeat.
    `level` is 1 for the outermost heading. The range includes the heading line."""

    ordinal: int = Field(ge=0)
    section_id: str
    title: str = ""
    level: int = Field(1, ge=1)
    part: str = ""
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Paragraph(Record):
    """A block of text inside one section; `ordinal` counts from 0 over the document."""

    ordinal: int = Field(ge=0)
    section: int = Field(ge=0, description="ordinal of the section it stands in")
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Document(Record):
    """One parsed document.

    `doc_path` is the path relative to the documents root with `/` (the identity users write in their
    questions); `digest` is the SHA-256 of the file's bytes. Pages, sections and paragraphs are sorted by
    `start`; sections cover the text without gaps.
    """

    doc_path: str
    text: str
    pages: tuple[Page, ...] = ()
    sections: tuple[Section, ...] = ()
    paragraphs: tuple[Paragraph, ...] = ()
    title: str = ""
    language: str | None = None
    program_id: str = ""
    program_name: str = ""
    digest: str = ""

    @cached_property
    def _page_starts(self) -> list[int]:
        return [page.start for page in self.pages]

    def page_at(self, offset: int) -> int | None:
        """Number of the page that holds the character at `offset`; None where the document has no pages."""
        index = bisect_right(self._page_starts, offset) - 1
        return self.pages[index].number if index >= 0 else None


class ParsingReport(Record):
    """What parsing one file gave, and what failed and why. `status` is read | partly_read | empty | failed.

    Lengths of sections are in characters, None without a section; a section is empty when it holds no
    word beyond its heading.
    """

    doc_path: str
    status: str
    n_pages: int = 0
    n_characters: int = 0
    n_empty_pages: int = 0
    n_sections: int = 0
    n_paragraphs: int = 0
    n_tables: int = 0
    n_empty_sections: int = 0
    mean_section_chars: float | None = None
    min_section_chars: int | None = None
    max_section_chars: int | None = None
    encrypted: bool = False
    image_only: bool = False
    seconds: float = 0.0
    cached: bool = False
    problems: tuple[str, ...] = ()


class Chunk(Record):
    """A retrievable piece. `chunk_id` is unique in a corpus and stable: document, ordinal, content digest.

    `text == document.text[start:end]`; `page` is the page of its first character. `ordinal` counts the chunks
    of one document from 0.
    """

    chunk_id: str
    doc_path: str
    ordinal: int
    text: str
    start: int
    end: int
    page: int | None = None
    page_end: int | None = None
    section_id: str = ""
    title: str = ""
    program_id: str = ""
    program_name: str = ""
    strategy: str = ""
    n_words: int = 0


class Code(Record):
    """An entry of a code list. `labels` maps a language ("en") to the label; `parent` is None at the top.

    `examples` are texts known to carry the code; they are training material and never the query's own.
    """

    code: str
    label: str
    labels: dict[str, str] = Field(default_factory=dict)
    parent: str | None = None
    level: int = Field(1, ge=1)
    description: str = ""
    examples: tuple[str, ...] = ()


class Catalog(Record):
    """A hierarchical code list. `level_names[i]` names level i + 1; `codes` is sorted by code.

    Built by `core.inputs.catalog`, which sees to it that every parent exists and there is no cycle.
    """

    name: str
    scheme: str
    codes: tuple[Code, ...]
    level_names: tuple[str, ...] = ()
    width: int | None = Field(None, description="digits of a full code, None where codes have no fixed width")
    digest: str = ""

    @cached_property
    def by_code(self) -> dict[str, Code]:
        return {code.code: code for code in self.codes}

    @cached_property
    def children(self) -> dict[str | None, tuple[str, ...]]:
        found: dict[str | None, list[str]] = {}
        for code in self.codes:
            found.setdefault(code.parent, []).append(code.code)
        return {parent: tuple(codes) for parent, codes in found.items()}

    def ancestors(self, code: str) -> tuple[str, ...]:
        """The code and everything above it, from the top down; empty for an unknown code."""
        path: list[str] = []
        current: str | None = code if code in self.by_code else None
        while current is not None:
            path.append(current)
            current = self.by_code[current].parent
        return tuple(reversed(path))

    def __contains__(self, code: object) -> bool:
        return code in self.by_code

    def __len__(self) -> int:
        return len(self.codes)

    def entries(self) -> Iterator[Code]:
        return iter(self.codes)
