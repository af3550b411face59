"""The built-in document QA pipeline: question → passages → answer with citations, or abstention.

Order of one question: scope → retrieve → rerank → assemble the context → weigh the evidence → answer or abstain.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, TypeVar

from core.contracts import ANSWERERS, CHUNKERS, RERANKERS, RETRIEVERS, Answerer, Draft, Index
from core.corpus import Chunk, Document
from core.errors import InputError, SystemFailure
from core.metrics.abstention import Evidence, evidence_strength
from core.records import Case, Citation, Failure, Hit, Output
from core.retrieval import chunking, dense, hybrid, lexical, rerank  # noqa: F401 - they register themselves
from core.retrieval.corpus_index import search_text
from core.retrieval.counts import idf_of
from core.retrieval.scope import conditions_of, positions_where
from core.retrieval.stages import Stages
from core.settings import RunSettings
from core.systems.answering import Extractive, abstention_text
from core.systems.context import assemble

T = TypeVar("T")
ABSTAINED = "runtime_abstention"


class DocumentQa:
    """Answers questions over documents. `chunks` is the corpus it searches, `notices` what is worth saying
    about how it is searched.

    Raises InputError when the documents give no text, ConfigError for components that cannot be built.
    """

    concurrency = 1

    def __init__(
        self,
        settings: RunSettings,
        documents: Sequence[Document],
        stages: Stages,
        *,
        answerer: Answerer | None = None,
        rewrite: Callable[[Case], str] | None = None,
    ) -> None:
        self.settings, self.stages = settings, stages
        self.rewrite = rewrite
        chunker = CHUNKERS.create(settings.chunking, chunk_size=settings.chunk_size, overlap=settings.overlap)
        self.chunks: tuple[Chunk, ...] = stages.chunks(documents, chunker)
        if not self.chunks:
            raise InputError("there is nothing to search: the documents gave no text")
        self.retriever: Any = RETRIEVERS.create(
            {"type": settings.retriever, **settings.retriever_options},
            model=settings.embedding_model,
            alpha=settings.hybrid_alpha,
            fusion=settings.hybrid_fusion,
            analyzer=settings.analyzer,
        )
        if hasattr(self.retriever, "model"):
            stages.encoder(
                self.retriever.model
            )  # a missing extra or model is said now, not at the first case
        self.answerer: Answerer = answerer or ANSWERERS.create(
            settings.answer_mode, answer_sentences=settings.answer_sentences
        )
        self._lock = threading.Lock()

    @cached_property
    def index(self) -> Index:
        """The index over `chunks`; built when first needed."""
        return self.stages.index(self.chunks, self.retriever.spec())

    @cached_property
    def idf(self) -> Mapping[str, float]:
        """How rare each word is in the corpus: the same for all retrievers."""
        return idf_of(self.stages.term_counts(self.chunks))

    @property
    def notices(self) -> tuple[str, ...]:
        """Remarks of the index (long chunks encoded in windows…)."""
        return tuple(getattr(self.index, "notices", ()))

    def ask(self, case: Case) -> Output:
        """Answer one question. Raises SystemFailure where it cannot be answered."""
        (output,) = self.ask_many([case])
        if output.failure is not None:
            raise SystemFailure(output.failure.message, output.failure.kind)
        return output

    def ask_many(self, cases: Sequence[Case]) -> Iterator[Output]:
        """Answer many questions; the texts a model must encode go in one batch. A question that fails yields an
        output with `failure`."""
        with self._lock:
            index = self.index
            _ = self.idf
        queries: dict[str, tuple[str, str]] = {}
        failed: dict[str, Exception] = {}
        for case in cases:
            try:
                queries[case.id] = self._query(case)
            except Exception as error:  # noqa: BLE001 - a rewriter may raise anything; it costs this case
                failed[case.id] = error
        share = self._prepare(index, [query for query, _ in queries.values()])
        for case in cases:
            if case.id in failed:
                yield _failure(case, failed[case.id])
                continue
            try:
                yield self._answer(case, *queries[case.id], index, share)
            except Exception as error:  # noqa: BLE001 - whatever happens on one case is a record of that case
                yield _failure(case, error)

    def rehearse(self, cases: Sequence[Case]) -> None:
        """Answer once for nothing, so that times measured afterwards do not depend on which passages earlier
        configurations of a sweep have looked at. Nothing happens where a model would be asked."""
        if isinstance(self.answerer, Extractive) and self.rewrite is None:
            for _ in self.ask_many(cases):
                pass

    def close(self) -> None:
        """Nothing to free; may be called any number of times."""

    def _query(self, case: Case) -> tuple[str, str]:
        """What is searched for, and the published status of rewriting."""
        if self.settings.query_augmentation == "none":
            return case.query, "disabled"
        if self.rewrite is None:
            return case.query, "llm_disabled"
        rewritten = self.rewrite(case)
        return (rewritten, "success") if rewritten.strip() else (case.query, "empty_response")

    def _prepare(self, index: Index, queries: Sequence[str]) -> float | None:
        """Encode all queries in one batch; each query's equal share of the time in milliseconds, None where
        nothing is encoded."""
        prepare = getattr(index, "prepare", None)
        if prepare is None or not queries:
            return None
        began = time.perf_counter()
        prepare(queries)
        encodes = isinstance(index, dense.DenseIndex | hybrid.HybridIndex)
        return (time.perf_counter() - began) * 1000 / len(queries) if encodes else None

    def _answer(self, case: Case, query: str, status: str, index: Index, share: float | None) -> Output:
        settings = self.settings
        stages: dict[str, float] = {} if share is None else {"embed": share}
        conditions = conditions_of(case) if settings.scope == "question" else {}
        hits = _timed(stages, "retrieve", lambda: self._retrieve(index, query, conditions))
        if settings.rerank_top_n:
            hits = _timed(stages, "rerank", lambda: self._rerank(query, hits))
        hits = hits[: settings.top_k]
        context = _timed(stages, "assemble", lambda: self._context(hits))
        evidence = _timed(stages, "weigh", lambda: self._weigh(case, context))
        abstains = settings.abstain_on_weak_evidence and evidence.score < settings.abstain_below
        abstains = abstains or not context
        draft = _timed(stages, "answer", lambda: self._draft(case, context, abstains))
        return Output(
            case_id=case.id,
            text=draft.text,
            hits=tuple(hits),
            context_ids=tuple(hit.id for hit in context),
            citations=_citations(draft, context),
            abstained=draft.mode == ABSTAINED,
            confidence=evidence.score,
            latency_ms=sum(stages.values()),
            stages=stages,
            signals=self._signals(query, status, draft, evidence, conditions) | dict(draft.signals),
            asked_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )

    def _retrieve(self, index: Index, query: str, conditions: Mapping[str, Sequence[str]]) -> list[Hit]:
        allowed = positions_where(self.chunks, conditions) if conditions else None
        wanted = max(self.settings.top_k, self.settings.rerank_top_n)
        return index.search([query], wanted, None if allowed is None else [allowed])[0]

    def _rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        return RERANKERS.create("lexical_overlap", weight=self.settings.rerank_weight).rerank(query, hits)

    def _context(self, hits: Sequence[Hit]) -> list[Hit]:
        settings = self.settings
        return assemble(
            hits,
            settings.context_mode,
            max_chunks=settings.max_context_chunks,
            max_chars=settings.max_context_chars,
        )

    def _weigh(self, case: Case, context: Sequence[Hit]) -> Evidence:
        # as they are searched: a document's name says what its text takes for granted
        texts = [search_text(hit) for hit in context]
        return evidence_strength(case.query, texts, self.idf, weak_below=self.settings.abstain_below)

    def _draft(self, case: Case, context: Sequence[Hit], abstains: bool) -> Draft:
        declined = Draft(text=abstention_text(case.query), mode=ABSTAINED)
        if abstains:
            return declined
        if isinstance(self.answerer, Extractive):
            # no sentence holds anything of the question: there is nothing to quote
            draft = self.answerer.answer(case, context, self.idf)
            return draft if draft.text else declined
        return self.answerer.answer(case, context)

    def _signals(
        self,
        query: str,
        status: str,
        draft: Draft,
        evidence: Evidence,
        conditions: Mapping[str, Sequence[str]],
    ) -> dict[str, Any]:
        settings = self.settings
        return {
            "retriever": settings.retriever,
            "scope": "question" if conditions else "all",
            "retrieval_query": query,
            "query_augmentation_mode": settings.query_augmentation,
            "query_augmentation_status": status,
            "answer_mode": draft.mode,
            "context_mode": settings.context_mode,
            "runtime_retrieval_status": evidence.status,
            "runtime_retrieval_action": evidence.action,
            "runtime_retrieval_score": evidence.score,
            "runtime_retrieval_reason": evidence.reason,
            "answerability_confidence": evidence.score,
            "context_relevance": evidence.context_relevance,
        }


def _citations(draft: Draft, context: Sequence[Hit]) -> tuple[Citation, ...]:
    place = {hit.id: number for number, hit in enumerate(context, start=1)}
    return tuple(
        Citation(id=str(place[cited]), source_id=cited, marker=f"[{place[cited]}]")
        for cited in draft.cited_ids
        if cited in place
    )


def _timed(stages: dict[str, float], name: str, work: Callable[[], T]) -> T:
    began = time.perf_counter()
    try:
        return work()
    finally:
        stages[name] = (time.perf_counter() - began) * 1000


def _failure(case: Case, error: Exception) -> Output:
    kind = error.kind if isinstance(error, SystemFailure) else "exception"
    failure = Failure(where="system", kind=kind, message=f"{type(error).__name__}: {error}")
    return Output(
        case_id=case.id, failure=failure, asked_at=datetime.now(UTC).isoformat(timespec="milliseconds")
    )
