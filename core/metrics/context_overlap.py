"""Overlap of question and answer with the retrieved context, on stemmed content words."""

from __future__ import annotations

from core.contracts import metric
from core.metrics.overlap import content_set, share

_SHARED = {"family": "claims", "version": "2", "source": "published name"}


def _pool(passages: tuple[str, ...], language: str) -> frozenset[str]:
    return frozenset().union(*(content_set(text, language) for text in passages))


@metric(
    name="proxy_faithfulness",
    title="Answer words in the context",
    formula="|A ∩ C| / |A| over stemmed content words, C of all chunks together",
    inputs="answer, retrieved chunks",
    empty="None for an answer without words or without context",
    **_SHARED,
)
def proxy_faithfulness(answer: str, passages: tuple[str, ...], language: str = "en") -> float | None:
    """Share of the answer's content words that stand in the context; None without words or context.

    >>> proxy_faithfulness("Six months", ("It takes six months.",))
    1.0
    """
    return share(content_set(answer, language), _pool(passages, language)) if passages else None


@metric(
    name="proxy_context_relevance",
    title="Question words in the context",
    formula="|Q ∩ C| / |Q| over stemmed content words, C of all chunks together",
    inputs="question, retrieved chunks",
    empty="None for a question without words or without context",
    **_SHARED,
)
def proxy_context_relevance(question: str, passages: tuple[str, ...], language: str = "en") -> float | None:
    """Share of the question's content words that stand in the context; None without words or context.

    >>> proxy_context_relevance("Who wrote Faust?", ("Goethe wrote Faust.",))
    1.0
    """
    return share(content_set(question, language), _pool(passages, language)) if passages else None
