"""Work that several retrievers over one corpus share. `Stages` gives it cached; `Unshared` does it each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from core.contracts import Index
from core.embeddings import Encoder, Vectors
from core.retrieval.corpus_index import search_text
from core.retrieval.counts import TermCounts, count_texts


class Shared(Protocol):
    """`items` are the whole corpus, in order."""

    def term_counts(self, items: Sequence[Any], analyzer: str = "words", ngrams: int = 1) -> TermCounts: ...

    def encoder(self, model: str) -> Encoder: ...

    def vectors(self, items: Sequence[Any], model: str) -> Vectors: ...


@runtime_checkable
class Shareable(Protocol):
    """A retriever that can use shared work."""

    def build(self, items: Sequence[Any], shared: Shared) -> Index: ...


class Unshared:
    """Does everything anew: what `Retriever.index` uses on its own."""

    def term_counts(self, items: Sequence[Any], analyzer: str = "words", ngrams: int = 1) -> TermCounts:
        return count_texts([search_text(item) for item in items], analyzer, ngrams)

    def encoder(self, model: str) -> Encoder:
        return Encoder(model)

    def vectors(self, items: Sequence[Any], model: str) -> Vectors:
        return self.encoder(model).passages([search_text(item) for item in items])
