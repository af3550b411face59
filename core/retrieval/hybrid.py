"""Two rankings fused: weighted min-max scores, or reciprocal ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field, field_validator

import core.retrieval.lexical  # noqa: F401 - registers the word channels
from core.contracts import RETRIEVERS, Index
from core.embeddings import DEFAULT_MODEL
from core.errors import ConfigError
from core.records import Hit
from core.registry import Component
from core.retrieval.corpus_index import CorpusIndex, Positions, Scores, hit_of, top_k
from core.retrieval.counts import Analyzer
from core.retrieval.dense import AT_ONCE, Dense, DenseIndex
from core.retrieval.shared import Shareable, Shared, Unshared

Fusion = Literal["minmax", "rrf"]


class HybridIndex(CorpusIndex):
    """Scores of both channels over the allowed items, fused. Min-max and ranks are taken over those items."""

    source = "hybrid"

    def __init__(self, dense: DenseIndex, lexical: Index, settings: Hybrid) -> None:
        super().__init__(dense.items)
        self.dense, self.lexical, self.settings = dense, lexical, settings

    def prepare(self, queries: Sequence[str]) -> None:
        self.dense.prepare(queries)

    def scores(self, query: str) -> Scores:
        return self._fuse(self.dense.scores(query), self.lexical.all_scores([query])[0])

    def search_positions(
        self, query: str, k: int, allowed: Sequence[int] | None = None
    ) -> tuple[Positions, Scores]:
        positions, fused, _, _ = self._search(query, self.dense.scores(query), k, allowed)
        return positions, fused

    def search(
        self, queries: Sequence[str], k: int, allowed: Sequence[Sequence[int] | None] | None = None
    ) -> list[list[Hit]]:
        self.prepare(queries)
        rankings = []
        for start in range(0, len(queries), AT_ONCE):
            part = queries[start : start + AT_ONCE]
            for i, (query, of_model) in enumerate(zip(part, self.dense.all_scores(part), strict=True), start):
                within = None if allowed is None else allowed[i]
                rankings.append(self._ranked(*self._search(query, of_model, k, within)))
        return rankings

    @property
    def notices(self) -> tuple[str, ...]:
        return self.dense.notices

    def _ranked(self, positions: Positions, fused: Scores, dense: Scores, lexical: Scores) -> list[Hit]:
        return [
            hit_of(self.items[int(at)], rank, float(score), self.source).model_copy(
                update={"parts": {"dense_score": float(of_dense), "lexical_score": float(of_words)}}
            )
            for rank, (at, score, of_dense, of_words) in enumerate(
                zip(positions, fused, dense, lexical, strict=True), start=1
            )
        ]

    def _search(
        self, query: str, of_model: Scores, k: int, allowed: Sequence[int] | None
    ) -> tuple[Positions, Scores, Scores, Scores]:
        pool = (
            np.arange(len(self.items)) if allowed is None else np.unique(np.asarray(allowed, dtype=np.int64))
        )
        dense, lexical = of_model[pool], self.lexical.all_scores([query])[0][pool]
        fused = self._fuse(dense, lexical)
        found = top_k(fused, k)
        return pool[found], fused[found], dense[found], lexical[found]

    def _fuse(self, dense: Scores, lexical: Scores) -> Scores:
        if self.settings.fusion == "minmax":
            alpha = self.settings.alpha
            return alpha * minmax(dense) + (1 - alpha) * minmax(lexical)
        return reciprocal_ranks(dense, self.settings.rrf_k) + reciprocal_ranks(lexical, self.settings.rrf_k)


@RETRIEVERS.register("hybrid")
class Hybrid(Component):
    """Dense and lexical retrieval fused over all items: score = alpha * dense + (1 - alpha) * lexical, each
    min-max scaled; or reciprocal-rank fusion, the sum of 1 / (k + rank) (Cormack et al. 2009)."""

    model: str = Field(DEFAULT_MODEL, description="sentence-transformers model of the dense channel")
    alpha: float = Field(0.5, ge=0, le=1, description="weight of the dense score (fusion minmax)")
    fusion: Fusion = Field("minmax", description="weighted min-max scores or reciprocal ranks")
    rrf_k: int = Field(60, ge=1, description="how little the first ranks stand out (fusion rrf)")
    lexical: str | dict[str, Any] = Field(
        "bm25", description="retriever of the word channel: a name or a spec"
    )

    analyzer: Analyzer = Field("words", description="words, or their stems, in the word channel")

    @field_validator("lexical")
    @classmethod
    def _known(cls, value: str | dict[str, Any]) -> str | dict[str, Any]:
        try:
            RETRIEVERS.create(value)
        except ConfigError as error:
            raise ValueError(str(error)) from error
        return value

    def index(self, chunks: Sequence[Any]) -> HybridIndex:
        """An index over the items. Raises InputError for none, ConfigError without the extra or the model."""
        return self.build(chunks, Unshared())

    def build(self, items: Sequence[Any], shared: Shared) -> HybridIndex:
        words = RETRIEVERS.create(self.lexical, analyzer=self.analyzer)
        lexical = words.build(items, shared) if isinstance(words, Shareable) else words.index(items)
        return HybridIndex(Dense(model=self.model).build(items, shared), lexical, self)


def minmax(scores: Scores) -> Scores:
    """Scores scaled to [0, 1]; all equal: 1 where they are above 0, else 0."""
    if not len(scores):
        return scores
    low, high = scores.min(), scores.max()
    if high == low:
        return np.full_like(scores, 1.0 if high > 0 else 0.0)
    return np.asarray((scores - low) / (high - low))


def reciprocal_ranks(scores: Scores, k: int) -> Scores:
    """1 / (k + rank) by descending score, ties in corpus order; 0 where the score is 0 (not found)."""
    order = np.argsort(-scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    return np.where(scores != 0, 1.0 / (k + ranks), 0.0)
