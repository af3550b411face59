"""One tokenising pass over a corpus: term counts that bm25, tf-idf and evidence weights share."""

from __future__ import annotations

import os
import tempfile
import unicodedata
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.text import WORD, language, stem

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

COUNTS_VERSION = "1"
Analyzer = Literal["words", "stems"]


@dataclass(frozen=True, slots=False)
class TermCounts:
    """Counts of terms, shape (corpus, terms), int32 CSR with sorted rows.

    `vocabulary` maps a term to its column; columns are numbered by first occurrence. `lengths` are tokens of
    each item. `analyzer` names the function that made the tokens; `language` is the one stems are made for.
    """

    matrix: csr_matrix
    vocabulary: dict[str, int]
    lengths: NDArray[np.int64]
    analyzer: str = "words"
    language: str = ""
    ngrams: int = 1

    @cached_property
    def document_frequency(self) -> NDArray[np.int64]:
        """In how many items each term stands, shape (terms,)."""
        return np.bincount(self.matrix.indices, minlength=self.matrix.shape[1]).astype(np.int64)

    def tokens(self, query: str) -> list[str]:
        """The tokens of a query, made as those of the corpus."""
        return list(analyse(query, self.analyzer, self.language, self.ngrams))


def tokenise(text: str) -> list[str]:
    """The words of a text, as `core.text.words` gives them but without its cache: corpora are read once."""
    return WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def analyse(text: str, analyzer: str = "words", stem_language: str = "", ngrams: int = 1) -> list[str]:
    """Tokens of a text: words or stems, and with `ngrams` = 2 pairs of neighbours after them."""
    tokens = tokenise(text)
    if analyzer == "stems":
        tokens = [stem(token, stem_language) for token in tokens]
    if ngrams == 2:
        tokens = tokens + [f"{a} {b}" for a, b in pairwise(tokens)]
    return tokens


def corpus_language(texts: Sequence[str], sample: int = 20) -> str:
    """The most frequent language of a spread sample of texts, the one with the first name on a tie."""
    step = max(1, len(texts) // sample)
    found: dict[str, int] = {}
    for text in texts[::step]:
        name = language(text[:2000])
        found[name] = found.get(name, 0) + 1
    return min(found, key=lambda name: (-found[name], name), default="")


def count_texts(texts: Sequence[str], analyzer: str = "words", ngrams: int = 1) -> TermCounts:
    """Tokenise texts once and count."""
    stem_language = corpus_language(texts) if analyzer == "stems" else ""
    if ngrams == 1:
        counts = count_tokens(map(tokenise, texts))
        return counts if analyzer == "words" else stemmed(counts, stem_language)
    tokens = (analyse(text, analyzer, stem_language, ngrams) for text in texts)
    return count_tokens(tokens, analyzer=analyzer, stem_language=stem_language, ngrams=ngrams)


def stemmed(counts: TermCounts, stem_language: str) -> TermCounts:
    """Counts of stems from counts of words: the texts are not read again, each word is stemmed once."""
    vocabulary: defaultdict[str, int] = defaultdict(count().__next__)
    target = np.fromiter(
        (vocabulary[stem(word, stem_language)] for word in counts.vocabulary),
        np.int64,
        len(counts.vocabulary),
    )
    words = counts.matrix
    matrix = _csr(
        (words.data, target[words.indices], words.indptr), (words.shape[0], len(vocabulary)), copy=True
    )
    matrix.sum_duplicates()
    return TermCounts(matrix, dict(vocabulary), counts.lengths, "stems", stem_language)


def count_tokens(
    corpus: Iterable[Sequence[str]], *, analyzer: str = "words", stem_language: str = "", ngrams: int = 1
) -> TermCounts:
    """Count token lists."""
    vocabulary: defaultdict[str, int] = defaultdict(count().__next__)
    number = vocabulary.__getitem__
    columns, lengths = [], []
    for tokens in corpus:
        columns.append(np.fromiter(map(number, tokens), dtype=np.int32, count=len(tokens)))
        lengths.append(len(tokens))
    sizes = np.asarray(lengths, dtype=np.int64)
    pointers = np.concatenate([[0], np.cumsum(sizes)])
    indices = np.concatenate(columns) if columns else np.empty(0, dtype=np.int32)
    matrix = _csr((np.ones(len(indices), dtype=np.int32), indices, pointers), (len(sizes), len(vocabulary)))
    matrix.sum_duplicates()
    return TermCounts(matrix, dict(vocabulary), sizes, analyzer, stem_language, ngrams)


def _csr(parts: tuple[Any, Any, Any], shape: tuple[int, int], *, copy: bool = False) -> csr_matrix:
    from scipy.sparse import csr_matrix

    return csr_matrix(parts, shape=shape, copy=copy)


def save_counts(counts: TermCounts, path: Path) -> None:
    """Write counts to one `.npz`; a reader never sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    terms = np.frombuffer("\n".join(counts.vocabulary).encode("utf-8", "surrogatepass"), dtype=np.uint8)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(
                file,
                data=counts.matrix.data,
                indices=counts.matrix.indices,
                indptr=counts.matrix.indptr,
                lengths=counts.lengths,
                terms=terms,
                made_by=np.array([counts.analyzer, counts.language, str(counts.ngrams)]),
            )
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load_counts(path: Path) -> TermCounts | None:
    """Counts from a file of `save_counts`; None where there is none or it cannot be read."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            text = stored["terms"].tobytes().decode("utf-8", "surrogatepass")
            vocabulary = {term: column for column, term in enumerate(text.split("\n") if text else [])}
            analyzer, stem_language, ngrams = stored["made_by"].tolist()
            shape = (len(stored["lengths"]), len(vocabulary))
            matrix = _csr((stored["data"], stored["indices"], stored["indptr"]), shape)
            return TermCounts(matrix, vocabulary, stored["lengths"], analyzer, stem_language, int(ngrams))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError):
        return None


def idf_of(counts: TermCounts) -> dict[str, float]:
    """Lucene's idf, log(1 + (N - df + 0.5) / (df + 0.5)), for every term: always above 0."""
    n = counts.matrix.shape[0]
    frequency = counts.document_frequency
    return dict(
        zip(counts.vocabulary, np.log1p((n - frequency + 0.5) / (frequency + 0.5)).tolist(), strict=True)
    )
