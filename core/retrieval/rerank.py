"""Reordering the first hits of a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from pydantic import Field

from core.contracts import RERANKERS
from core.records import Hit
from core.registry import Component
from core.retrieval.hybrid import minmax
from core.text import words


@lru_cache(maxsize=8_192)  # the candidates of different questions and configurations are the same passages
def _words_of(title: str, text: str) -> frozenset[str]:
    return frozenset(words(f"{title} {text}"))


@RERANKERS.register("lexical_overlap")
class LexicalOverlap(Component):
    """score = (1 - weight) * min-max(score) + weight * share of the query's words that stand in title + text.

    Hits get the parts `base_score_before_rerank`, `lexical_rerank_score` and `reranked`; ties keep the order
    they came in.
    """

    weight: float = Field(0.25, ge=0, le=1, description="weight of the word overlap")

    def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """The same hits in their new order, ranks from 1. A query without words leaves the overlap at 0."""
        if not hits:
            return []
        asked = set(words(query))
        base = minmax(np.asarray([0.0 if hit.score is None else hit.score for hit in hits], dtype=np.float64))
        overlap = [len(asked & _words_of(hit.title, hit.text)) / len(asked) if asked else 0.0 for hit in hits]
        final = [(1 - self.weight) * float(b) + self.weight * o for b, o in zip(base, overlap, strict=True)]
        order = sorted(range(len(hits)), key=lambda i: (-final[i], i))
        return [
            hits[i].model_copy(
                update={
                    "rank": rank,
                    "score": final[i],
                    "parts": {
                        **hits[i].parts,
                        "base_score_before_rerank": hits[i].score,
                        "lexical_rerank_score": overlap[i],
                        "reranked": "true",
                    },
                }
            )
            for rank, i in enumerate(order, start=1)
        ]
