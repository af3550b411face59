"""Dense retrieval: cosine of sentence embeddings; long chunks score as their best window."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import Field

from core.contracts import RETRIEVERS
from core.embeddings import DEFAULT_MODEL, Encoder, Matrix, Vectors
from core.records import Hit
from core.registry import Component
from core.retrieval.corpus_index import Allowed, CorpusIndex, Scores, top_k
from core.retrieval.shared import Shared, Unshared

AT_ONCE = 32  # queries of one product: their scores over the whole corpus are held together
_ROWS = (
    1024  # rows of the matrix that are multiplied at a time: as float64 they stay in the processor's cache
)


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
        return self.all_scores([query])[0]

    def all_scores(self, queries: Sequence[str]) -> Scores:
        self.prepare(queries)
        if not queries:
            return np.zeros((0, len(self.items)))
        # the last bits of a float32 product depend on the place in the matrix and on what else is multiplied:
        # in float64, rounded, equal texts tie and a query scores the same alone and among others
        asked = np.stack([self._queries[query] for query in queries]).astype(np.float64)
        matrix = self.vectors.matrix
        products = np.empty((len(queries), len(matrix)))
        for start in range(0, len(matrix), _ROWS):
            rows = matrix[start : start + _ROWS].astype(np.float64)
            np.matmul(asked, rows.T, out=products[:, start : start + _ROWS])
        return np.asarray(np.round(self.vectors.best(products), 6))

    def search(self, queries: Sequence[str], k: int, allowed: Allowed = None) -> list[list[Hit]]:
        self.prepare(queries)
        rankings = []
        for start in range(0, len(queries), AT_ONCE):
            for i, scores in enumerate(self.all_scores(queries[start : start + AT_ONCE]), start):
                found = top_k(scores, k, None if allowed is None else allowed[i])
                rankings.append(self.hits(found, scores[found]))
        return rankings

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
