"""Dense retrieval: cosine of sentence embeddings; long chunks score as their best window."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import Field

from core.contracts import RETRIEVERS
from core.embeddings import DEFAULT_MODEL, Encoder, Matrix, Vectors
from core.registry import Component
from core.retrieval.corpus_index import CorpusIndex, Scores
from core.retrieval.shared import Shared, Unshared


class DenseIndex(CorpusIndex):
    """Exact search over float32 vectors of length 1. `prepare` encodes many queries in one batch."""

    source = "dense"

    def __init__(self, items: Sequence[Any], vectors: Vectors, encoder: Encoder) -> None:
        super().__init__(items)
        self.vectors = vectors
        self.encoder = encoder
        self._queries: dict[str, Matrix] = {}
        self._lock = threading.Lock()

    def prepare(self, queries: Sequence[str]) -> None:
        with self._lock:
            new = [query for query in dict.fromkeys(queries) if query not in self._queries]
            if new:
                self._queries.update(zip(new, self.encoder.queries(new), strict=True))

    def scores(self, query: str) -> Scores:
        self.prepare([query])
        best = self.vectors.best(self.vectors.matrix @ self._queries[query])
        # the last bits of a float32 product depend on the place in the matrix: equal texts must tie
        return np.asarray(np.round(best, 6), dtype=np.float64)

    @property
    def notices(self) -> tuple[str, ...]:
        """Remarks worth showing with the run."""
        n = self.vectors.n_windowed
        if not n:
            return ()
        said = f"{n} of {len(self.items)} chunks are longer than the window of '{self.encoder.name}'"
        return (f"{said}: they were encoded in windows and score as their best one",)


@RETRIEVERS.register("dense")
class Dense(Component):
    """Cosine similarity of sentence embeddings (sentence-transformers; extra `dense`)."""

    model: str = Field(DEFAULT_MODEL, description="sentence-transformers model: a name or a folder")

    def index(self, chunks: Sequence[Any]) -> DenseIndex:
        """An index over the items. Raises InputError for none, ConfigError without the extra or the model."""
        return self.build(chunks, Unshared())

    def build(self, items: Sequence[Any], shared: Shared) -> DenseIndex:
        return DenseIndex(items, shared.vectors(items, self.model), shared.encoder(self.model))
