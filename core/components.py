"""Importing this module registers every component that ships with Plumbline."""

from __future__ import annotations

from core.contracts import (
    ANSWERERS,
    CHUNKERS,
    EVALUATORS,
    JUDGES,
    RERANKERS,
    RETRIEVERS,
    SYSTEMS,
)
from core.evaluation import classification, document_answers
from core.registry import Registry
from core.retrieval import chunking, dense, hybrid, lexical, rerank
from core.systems import answering

SHIPPED = (answering, chunking, classification, dense, document_answers, hybrid, lexical, rerank)
REGISTRIES: tuple[Registry, ...] = (SYSTEMS, CHUNKERS, RETRIEVERS, RERANKERS, ANSWERERS, JUDGES, EVALUATORS)
