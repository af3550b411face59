from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from core.contracts import CHUNKERS, RERANKERS, RETRIEVERS
from core.records import Case, Hit
from core.registry import Component
from core.retrieval import rerank  # noqa: F401 - registers itself
from core.retrieval.hybrid import minmax, reciprocal_ranks
from core.retrieval.scope import conditions_of, positions_where
from core.retrieval.stages import Stages
from tests.retrieval.corpora import chunks_of, document, random_texts

DOCS = [
    document([("§ 1", "A", "alpha beta gamma. delta.")], "a.pdf"),
    document([("§ 1", "B", "alpha epsilon.")], "b.pdf"),
]


def test_rerank_mixes_minmax_and_overlap() -> None:
    hits = [
        Hit(id="x", rank=1, score=10.0, text="nothing here"),
        Hit(id="y", rank=2, score=5.0, text="six semesters"),
        Hit(id="z", rank=3, score=0.0, text="six"),
    ]
    got = RERANKERS.create("lexical_overlap", weight=0.6).rerank("six semesters", hits)
    assert [(hit.id, hit.rank) for hit in got] == [("y", 1), ("x", 2), ("z", 3)]
    assert got[0].score == pytest.approx(0.4 * 0.5 + 0.6 * 1.0)
    assert got[0].parts == {"base_score_before_rerank": 5.0, "lexical_rerank_score": 1.0, "reranked": "true"}
    assert RERANKERS.create("lexical_overlap").rerank("q", []) == []


def test_rerank_of_weight_zero_keeps_the_order() -> None:
    hits = [Hit(id=str(i), rank=i + 1, score=1.0 - i / 10, text="word") for i in range(5)]
    got = RERANKERS.create("lexical_overlap", weight=0.0).rerank("word", hits)
    assert [hit.id for hit in got] == [hit.id for hit in hits]


def test_minmax_and_reciprocal_ranks() -> None:
    assert minmax(np.array([2.0, 4.0, 3.0])).tolist() == [0.0, 1.0, 0.5]
    assert minmax(np.array([3.0, 3.0])).tolist() == [1.0, 1.0]
    assert minmax(np.array([0.0, 0.0])).tolist() == [0.0, 0.0]
    assert reciprocal_ranks(np.array([0.5, 0.0, 0.9]), 60).tolist() == [1 / 62, 0.0, 1 / 61]


def test_filters_are_exact_and_empty_matches_nothing() -> None:
    chunks = (*chunks_of(["x"], "law/2014_a.pdf"), *chunks_of(["y"], "law/2014_ab.pdf"))
    assert positions_where(chunks, {"doc_path": ["law/2014_a.pdf"]}) == [0]
    assert positions_where(chunks, {"doc_path": [""]}) == []
    assert positions_where(chunks, {"program_name": [""]}) == []
    assert positions_where(chunks, {"year": ["2014"]}) == [0, 1]
    assert positions_where(chunks, {"year": ["201"]}) == []
    assert positions_where(chunks, {}) == [0, 1]


def test_a_decomposed_file_name_is_the_same_name() -> None:
    chunks = chunks_of(["x"], "pru\u0308fung.pdf")
    assert positions_where(chunks, {"doc_path": ["pr\u00fcfung.pdf"]}) == [0]


def test_conditions_of_a_question() -> None:
    assert conditions_of(Case(id="1", query="q", doc_paths=("a.pdf",), metadata={"year": 2014})) == {
        "doc_path": ("a.pdf",)
    }
    assert conditions_of(Case(id="1", query="q", metadata={"year": 2014, "program_name": ""})) == {
        "year": ("2014",)
    }
    assert conditions_of(Case(id="1", query="q")) == {}


def test_work_is_shared_between_retrievers() -> None:
    stages = Stages(None)
    chunks = stages.chunks(DOCS, CHUNKERS.create("by_section"))
    for spec in (
        "bm25",
        {"type": "bm25", "idf": "atire"},
        "tfidf",
        {"type": "bm25", "analyzer": "stems"},
        "bm25",
    ):
        stages.index(chunks, spec)
    assert stages.chunks(DOCS, CHUNKERS.create("by_section")) is chunks
    assert stages.counts == {"chunk": 2, "tokenise": 1, "index": 4}


def test_counts_are_read_from_disk_and_follow_the_content(tmp_path: Path) -> None:
    chunks = chunks_of(random_texts(1))
    first = Stages(tmp_path).index(chunks, "bm25").search(["w1 w4"], 9)
    again = Stages(tmp_path)
    assert again.index(chunks, "bm25").search(["w1 w4"], 9) == first
    assert again.counts["tokenise"] == 0
    other = Stages(tmp_path)
    other.index(chunks_of(random_texts(2)), "bm25")
    assert other.counts["tokenise"] == 1


def test_a_damaged_cache_is_made_anew(tmp_path: Path) -> None:
    chunks = chunks_of(random_texts(1))
    first = Stages(tmp_path).index(chunks, "bm25").search(["w1 w4"], 9)
    for path in tmp_path.rglob("*.npz"):
        path.write_bytes(b"broken")
    again = Stages(tmp_path)
    assert again.index(chunks, "bm25").search(["w1 w4"], 9) == first
    assert again.counts["tokenise"] == 1


def test_threads_share_one_index() -> None:
    stages = Stages(None)
    chunks = chunks_of(random_texts(5, n=300))
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(stages.index(chunks, "bm25"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(index) for index in found}) == 1
    assert stages.counts == {"tokenise": 1, "index": 1}


class LongestFirst(Component):
    """A retriever of somebody else: it shares nothing and ranks by length."""

    def index(self, chunks):  # type: ignore[no-untyped-def]
        return LongestIndex(chunks)


class LongestIndex:
    def __init__(self, chunks) -> None:  # type: ignore[no-untyped-def]
        self.chunks = sorted(chunks, key=lambda chunk: -len(chunk.text))

    def search(self, queries, k, allowed=None):  # type: ignore[no-untyped-def]
        return [
            [
                Hit(id=c.chunk_id, rank=i, score=float(len(c.text)), text=c.text)
                for i, c in enumerate(self.chunks[:k], 1)
            ]
            for _ in queries
        ]

    def all_scores(self, queries):  # type: ignore[no-untyped-def]
        return np.array([[float(len(c.text)) for c in self.chunks] for _ in queries])


def test_a_retriever_of_somebody_else_works_through_stages() -> None:
    with RETRIEVERS.registered("longest_first", LongestFirst):
        index = Stages(None).index(chunks_of(["a", "longest text", "bb"]), "longest_first")
    hits = index.search(["q"], 2)[0]
    assert [hit.text for hit in hits] == ["longest text", "bb"]
