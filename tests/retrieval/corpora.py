"""Small documents and chunks for the retrieval tests."""

from __future__ import annotations

import random
from collections.abc import Sequence

from core.corpus import Chunk, Document, Page, Paragraph, Section


def document(parts: Sequence[tuple[str, str, str]], doc_path: str = "rules.pdf", pages: int = 2) -> Document:
    """A document of (section id, title, body); paragraphs are the lines of a body; pages are of equal length."""
    text, sections, paragraphs = "", [], []
    for ordinal, (section_id, title, body) in enumerate(parts):
        start = len(text)
        text += f"{section_id} {title}\n"
        for line in body.split("\n"):
            paragraphs.append(
                Paragraph(
                    ordinal=len(paragraphs), section=ordinal, start=len(text), end=len(text) + len(line)
                )
            )
            text += line + "\n"
        sections.append(
            Section(ordinal=ordinal, section_id=section_id, title=title, start=start, end=len(text))
        )
    size = max(1, -(-len(text) // pages))
    made = [
        Page(number=n + 1, start=n * size, end=min((n + 1) * size, len(text)))
        for n in range(pages)
        if n * size < len(text)
    ]
    return Document(doc_path=doc_path, text=text, pages=made, sections=sections, paragraphs=paragraphs)


def chunks_of(texts: Sequence[str], doc_path: str = "") -> tuple[Chunk, ...]:
    return tuple(
        Chunk(chunk_id=f"c{i:04d}", doc_path=doc_path, ordinal=i, text=text, start=0, end=len(text))
        for i, text in enumerate(texts)
    )


def random_texts(seed: int, n: int = 60, vocabulary: int = 40) -> list[str]:
    """Texts over a small vocabulary with a skewed distribution, so that some words are in most texts."""
    rng = random.Random(seed)
    names = [f"w{i}" for i in range(vocabulary)]
    weights = [1 / (i + 1) for i in range(vocabulary)]
    return [" ".join(rng.choices(names, weights, k=rng.randint(1, 30))) for _ in range(n)]
