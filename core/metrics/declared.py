"""Importing this module declares every metric that ships with Plumbline, so that a number read from a store has
its kind, direction and formula even where nothing was scored in this process."""

from __future__ import annotations

from core.metrics import (
    abstention_rates,
    candidates,
    citations,
    claim_metrics,
    class_tables,
    context_overlap,
    entities,
    hierarchical_ranking,
    hierarchy,
    judgements,
    outcomes,
    overlap,
    ranking,
    relevance,
    retrieval_scores,
    spans,
    support,
    ties,
)

SHIPPED = (
    abstention_rates,
    candidates,
    citations,
    claim_metrics,
    class_tables,
    context_overlap,
    entities,
    hierarchical_ranking,
    hierarchy,
    judgements,
    outcomes,
    overlap,
    ranking,
    relevance,
    retrieval_scores,
    spans,
    support,
    ties,
)
