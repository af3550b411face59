"""bm25 and tf-idf over shared term counts: one sparse matrix of weights, scores added term by term."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.sparse import csc_matrix

from core.contracts import RETRIEVERS
from core.registry import Component
from core.retrieval.corpus_index import CorpusIndex, Scores
from core.retrieval.counts import Analyzer, TermCounts
from core.retrieval.shared import Shared, Unshared


class PostingIndex(CorpusIndex):
    """Weights of terms in items, stored by term; a query adds up the columns of its terms in its own order."""

    def __init__(self, items: Sequence[Any], counts: TermCounts, weights: csc_matrix, source: str) -> None:
        super().__init__(items)
        self.counts = counts
        self.weights = weights
        self.source = source

    def query_terms(self, query: str) -> list[tuple[int, float]]:
        """(column, factor) of the query's known terms, in the order they are added; repeats count again."""
        column = self.counts.vocabulary.get
        return [(found, 1.0) for token in self.counts.tokens(query) if (found := column(token)) is not None]

    def scores(self, query: str) -> Scores:
        total = np.zeros(len(self.items))
        pointers, rows, weights = self.weights.indptr, self.weights.indices, self.weights.data
        for column, factor in self.query_terms(query):
            here = slice(pointers[column], pointers[column + 1])
            # add.at is quicker than fancy-indexed += since numpy 1.25
            np.add.at(total, rows[here], weights[here] if factor == 1.0 else weights[here] * factor)
        return total


class CosineIndex(PostingIndex):
    """As PostingIndex, the query weighted by idf and brought to length 1: the score is a cosine in [0, 1]."""

    def __init__(
        self, items: Sequence[Any], counts: TermCounts, weights: csc_matrix, idf: NDArray[Any]
    ) -> None:
        super().__init__(items, counts, weights, "tfidf")
        self.idf = idf

    def query_terms(self, query: str) -> list[tuple[int, float]]:
        frequency: dict[int, int] = {}
        for column, _ in super().query_terms(query):
            frequency[column] = frequency.get(column, 0) + 1
        raw = {column: n * float(self.idf[column]) for column, n in frequency.items()}
        norm = float(np.sqrt(sum(value * value for value in raw.values())))
        return [(column, value / norm) for column, value in raw.items()]


class _Lexical(Component):
    analyzer: Analyzer = Field("words", description="words, or their stems (German and English)")

    def index(self, chunks: Sequence[Any]) -> PostingIndex:
        """An index over the items, sharing work with nobody. Raises InputError for none."""
        return self.build(chunks, Unshared())

    @abstractmethod
    def build(self, items: Sequence[Any], shared: Shared) -> PostingIndex:
        """An index over the items from shared counts."""


@RETRIEVERS.register("bm25")
class Bm25(_Lexical):
    """Okapi BM25 over lower-cased words (Robertson & Zaragoza 2009).

    `idf`: lucene = log(1 + (N - df + .5)/(df + .5)); atire = log(N/df); okapi_eps = that of rank-bm25's
    BM25Okapi, whose scores are equalled bit for bit: words in more than half of the corpus get `epsilon` times
    the mean idf.
    """

    idf: Literal["lucene", "okapi_eps", "atire"] = Field("lucene", description="weight of rare words")
    k1: float = Field(1.5, ge=0, description="how fast repeated words stop adding score")
    b: float = Field(0.75, ge=0, le=1, description="how strongly long chunks are penalised")
    epsilon: float = Field(0.25, ge=0, description="floor for common words, only with idf okapi_eps")

    def build(self, items: Sequence[Any], shared: Shared) -> PostingIndex:
        counts = shared.term_counts(items, self.analyzer)
        return PostingIndex(items, counts, self.weights(counts), self.name)

    def weights(self, counts: TermCounts) -> csc_matrix:
        """Weight of each term in each item, shape (corpus, terms)."""
        matrix = counts.matrix.tocsc()
        average = counts.lengths.sum() / max(1, len(counts.lengths))
        # the order of operations is rank-bm25's own; another one differs in the last bit
        norms = self.k1 * (1 - self.b + self.b * counts.lengths / (average or 1.0))
        frequency = matrix.data
        idf = np.repeat(self.term_idf(counts), np.diff(matrix.indptr))
        saturated = frequency * (self.k1 + 1) / (frequency + norms[matrix.indices])
        return csc_matrix((idf * saturated, matrix.indices, matrix.indptr), shape=matrix.shape)

    def term_idf(self, counts: TermCounts) -> NDArray[np.float64]:
        """idf of each term, shape (terms,)."""
        n, df = counts.matrix.shape[0], counts.document_frequency
        if self.idf == "lucene":
            return np.asarray(np.log1p((n - df + 0.5) / (df + 0.5)), dtype=np.float64)
        if self.idf == "atire":
            return np.asarray(np.log(n / np.maximum(df, 1)), dtype=np.float64)
        return okapi_idf(counts, self.epsilon)


@RETRIEVERS.register("tfidf")
class TfIdf(_Lexical):
    """TF-IDF with cosine similarity: smooth idf, log((1 + N)/(1 + df)) + 1, rows of length 1 (as scikit-learn)."""

    ngrams: Literal[1, 2] = Field(
        1, description="2 adds pairs of neighbouring words, with a pass of their own"
    )

    def build(self, items: Sequence[Any], shared: Shared) -> PostingIndex:
        counts = shared.term_counts(items, self.analyzer, self.ngrams)
        matrix = counts.matrix
        idf = np.log((1 + matrix.shape[0]) / (1 + counts.document_frequency)) + 1
        data = matrix.data * idf[matrix.indices]
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        norms = np.sqrt(np.bincount(rows, weights=data * data, minlength=matrix.shape[0]))
        weighted = type(matrix)((data / norms[rows], matrix.indices, matrix.indptr), shape=matrix.shape)
        return CosineIndex(items, counts, weighted.tocsc(), idf)


def okapi_idf(counts: TermCounts, epsilon: float) -> NDArray[np.float64]:
    """idf from rank-bm25's own `BM25Okapi._calc_idf`, fed with our document frequencies in the order in which
    the library meets the terms."""
    from rank_bm25 import BM25Okapi

    if not counts.vocabulary:
        return np.zeros(0)
    okapi = BM25Okapi.__new__(BM25Okapi)
    okapi.corpus_size, okapi.epsilon, okapi.idf = counts.matrix.shape[0], epsilon, {}
    okapi._calc_idf(dict(zip(counts.vocabulary, counts.document_frequency.tolist(), strict=True)))
    return np.fromiter((okapi.idf[term] for term in counts.vocabulary), np.float64, len(counts.vocabulary))
