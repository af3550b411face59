"""Shares retrieval work between the configurations of a sweep and between runs.

Everything is keyed by content: documents by what chunking reads of them, chunks by their ids and search texts,
indexes by chunks + component. In memory a thing is made once, however many threads ask; term counts and vectors
also live on disk, keyed by content and the version of the code that made them.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from core.contracts import RETRIEVERS, Chunker, Index
from core.corpus import Chunk, Document
from core.embeddings import Encoder, Vectors
from core.records import digest
from core.registry import Component
from core.retrieval.chunking import CHUNKING_VERSION
from core.retrieval.corpus_index import SEARCH_TEXT_VERSION, search_text
from core.retrieval.counts import (
    COUNTS_VERSION,
    TermCounts,
    corpus_language,
    count_texts,
    load_counts,
    save_counts,
    stemmed,
)
from core.retrieval.shared import Shareable
from core.text import WORD

T = TypeVar("T")


class Stages:
    """Chunks, term counts, vectors and indexes, each made once. Safe to share between threads.

    `cache_dir` None keeps nothing on disk. `counts` says how often each stage really ran: chunk (documents),
    tokenise and index (corpora), embed (texts).
    """

    def __init__(self, cache_dir: Path | None) -> None:
        self.cache_dir = cache_dir
        self.counts: Counter[str] = Counter()
        self._made: dict[Hashable, Any] = {}
        self._locks: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def chunks(self, documents: Sequence[Document], chunker: Chunker) -> tuple[Chunk, ...]:
        """The chunks of all documents, in their order."""
        spec = _spec(chunker)
        keys = [("chunks", self._key_of(document), spec) for document in documents]

        def gather() -> tuple[Chunk, ...]:
            cut = (
                self._once(key, lambda document=document: self._chunk(document, chunker))  # type: ignore[misc]
                for key, document in zip(keys, documents, strict=True)
            )
            return tuple(chunk for chunks in cut for chunk in chunks)

        return cast(tuple[Chunk, ...], self._once(("corpus", tuple(keys)), gather))

    def index(self, chunks: Sequence[Any], retriever_spec: str | Mapping[str, Any]) -> Index:
        """An index over the chunks. Raises ConfigError for a spec that cannot be built, InputError for no chunks."""
        retriever = RETRIEVERS.create(retriever_spec)
        key = ("index", self.corpus_key(chunks), _spec(retriever))
        return cast(Index, self._once(key, lambda: self._index(chunks, retriever)))

    def term_counts(self, items: Sequence[Any], analyzer: str = "words", ngrams: int = 1) -> TermCounts:
        """Term counts of a corpus: one tokenising pass, whatever number of retrievers use it."""
        key = ("terms", self.corpus_key(items), analyzer, ngrams)
        return cast(TermCounts, self._once(key, lambda: self._count(items, analyzer, ngrams)))

    def encoder(self, model: str) -> Encoder:
        """The encoder of a model, with vectors cached on disk."""
        return cast(Encoder, self._once(("encoder", model), lambda: Encoder(model, self.cache_dir)))

    def vectors(self, items: Sequence[Any], model: str) -> Vectors:
        """Vectors of a corpus."""
        return cast(
            Vectors, self._once(("vectors", self.corpus_key(items), model), lambda: self._embed(items, model))
        )

    def shared(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, made once for a key that names everything it depends on (read inputs, say)."""
        return cast(T, self._once(("shared", key), make))

    def corpus_key(self, items: Sequence[Any]) -> str:
        """Digest of a corpus: ids and search texts, in order."""
        if not isinstance(items, tuple):
            return _corpus_key(items)
        # a tuple of records cannot change; holding on to it keeps its id from being given away
        return cast(str, self._once(("key of", id(items)), lambda: (items, _corpus_key(items)))[1])

    def _key_of(self, document: Document) -> str:
        # a record cannot change; holding on to it keeps its id from being given away
        return cast(str, self._once(("key of", id(document)), lambda: (document, _document_key(document)))[1])

    def _chunk(self, document: Document, chunker: Chunker) -> list[Chunk]:
        self._count_stage("chunk")
        return list(chunker.chunk(document))

    def _index(self, items: Sequence[Any], retriever: Any) -> Index:
        self._count_stage("index")
        if isinstance(retriever, Shareable):
            return retriever.build(items, self)
        return cast(Index, retriever.index(items))

    def _count(self, items: Sequence[Any], analyzer: str, ngrams: int) -> TermCounts:
        path = None
        if self.cache_dir:
            rule = [
                COUNTS_VERSION,
                SEARCH_TEXT_VERSION,
                WORD.pattern,
                analyzer,
                ngrams,
                self.corpus_key(items),
            ]
            path = self.cache_dir / "terms" / f"{digest(rule)[:32]}.npz"
            stored = load_counts(path)
            if stored is not None:
                return stored
        if analyzer == "stems" and ngrams == 1:
            made = stemmed(self.term_counts(items), corpus_language([search_text(item) for item in items]))
        else:
            self._count_stage("tokenise")
            made = count_texts([search_text(item) for item in items], analyzer, ngrams)
        if path:
            save_counts(made, path)
        return made

    def _embed(self, items: Sequence[Any], model: str) -> Vectors:
        encoder = self.encoder(model)
        before = encoder.calls
        vectors = encoder.passages([search_text(item) for item in items])
        self._count_stage("embed", encoder.calls - before)
        return vectors

    def _count_stage(self, name: str, times: int = 1) -> None:
        with self._lock:
            self.counts[name] += times

    def _once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        with self._lock:
            if key in self._made:
                return self._made[key]
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]


def _spec(component: Any) -> str:
    """What decides a component's work; one that is no Component is told apart by identity."""
    if isinstance(component, Component):
        return digest([type(component).__module__, component.spec(), CHUNKING_VERSION])
    return f"{type(component).__qualname__}-{id(component)}"


def _document_key(document: Document) -> str:
    total = hashlib.sha256()
    parts = (
        document.doc_path,
        document.program_id,
        document.program_name,
        document.sections,
        document.paragraphs,
    )
    total.update(repr((*parts, document.pages)).encode("utf-8", "surrogatepass"))
    total.update(document.text.encode("utf-8", "surrogatepass"))
    return total.hexdigest()


def _corpus_key(items: Sequence[Any]) -> str:
    total = hashlib.sha256()
    for item in items:
        total.update(f"{item.chunk_id}\x00{search_text(item)}\x01".encode("utf-8", "surrogatepass"))
    return total.hexdigest()
