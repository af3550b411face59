from __future__ import annotations

import math

import numpy as np
import pytest
from rank_bm25 import BM25Okapi
from sklearn.feature_extraction.text import TfidfVectorizer

from core.contracts import RETRIEVERS
from core.errors import ConfigError, InputError
from core.retrieval.corpus_index import search_text, top_k
from core.retrieval.counts import analyse, count_texts, idf_of, load_counts, save_counts, tokenise
from core.retrieval.lexical import Bm25, TfIdf
from core.text import words
from tests.retrieval.corpora import chunks_of, random_texts

QUERIES = ["w0 w1 w2", "w5", "w0 w0 w17 unknown", "w39 w38 w3 w3 w3", "nothing known"]


@pytest.mark.parametrize("seed", range(20))
def test_okapi_eps_equals_rank_bm25_bit_for_bit(seed: int) -> None:
    texts = random_texts(seed, n=5 + 7 * seed, vocabulary=10 + 5 * seed)
    index = Bm25(idf="okapi_eps").index(chunks_of(texts))
    library = BM25Okapi([tokenise(text) for text in texts])
    for query in QUERIES:
        assert np.array_equal(index.all_scores([query])[0], library.get_scores(tokenise(query)))


@pytest.mark.parametrize(("k1", "b", "epsilon"), [(1.2, 0.0, 0.0), (0.1, 1.0, 0.5), (2.0, 0.4, 1.0)])
def test_okapi_eps_equals_rank_bm25_for_other_parameters(k1: float, b: float, epsilon: float) -> None:
    texts = random_texts(99)
    index = Bm25(idf="okapi_eps", k1=k1, b=b, epsilon=epsilon).index(chunks_of(texts))
    library = BM25Okapi([tokenise(text) for text in texts], k1=k1, b=b, epsilon=epsilon)
    for query in QUERIES:
        assert np.array_equal(index.all_scores([query])[0], library.get_scores(tokenise(query)))


def test_lucene_and_atire_idf_by_hand() -> None:
    chunks = chunks_of(["cat dog", "cat", "bird bird"])
    length, average = 2, 5 / 3
    norm = 1.5 * (1 - 0.75 + 0.75 * length / average)
    saturated = 1 * 2.5 / (1 + norm)
    lucene = Bm25().index(chunks).all_scores(["dog"])[0]
    assert lucene == pytest.approx([math.log(1 + 2.5 / 1.5) * saturated, 0, 0], abs=1e-12)
    atire = Bm25(idf="atire").index(chunks).all_scores(["dog"])[0]
    assert atire == pytest.approx([math.log(3) * saturated, 0, 0], abs=1e-12)


@pytest.mark.parametrize("ngrams", [1, 2])
def test_tfidf_equals_sklearn(ngrams: int) -> None:
    texts = random_texts(3)
    index = TfIdf(ngrams=ngrams).index(chunks_of(texts))
    library = TfidfVectorizer(analyzer=lambda text: analyse(text, ngrams=ngrams))
    matrix = library.fit_transform(texts)
    for query in QUERIES:
        wanted = (matrix @ library.transform([query]).T).toarray().ravel()
        assert index.all_scores([query])[0] == pytest.approx(wanted, abs=1e-14)


def test_tfidf_and_bm25_differ() -> None:
    chunks = chunks_of(random_texts(4))
    rankings = [
        [hit.id for hit in RETRIEVERS.create(name).index(chunks).search(["w3 w8 w20"], 20)[0]]
        for name in ("tfidf", "bm25")
    ]
    assert rankings[0] != rankings[1]


def test_ties_keep_corpus_order_and_zero_is_no_hit() -> None:
    chunks = chunks_of(["other", "same words", "same words", "same words", "else"])
    hits = Bm25().index(chunks).search(["same", "absent", ""], 2)
    assert [hit.id for hit in hits[0]] == ["c0001", "c0002"]
    assert [hit.rank for hit in hits[0]] == [1, 2]
    assert hits[1:] == [[], []]


def test_top_k_equals_a_full_stable_sort() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        scores = rng.integers(-1, 4, size=rng.integers(1, 80)).astype(float)
        k = int(rng.integers(0, 12))
        allowed = None if rng.random() < 0.5 else rng.choice(len(scores), size=len(scores) // 2).tolist()
        pool = range(len(scores)) if allowed is None else sorted(set(allowed))
        wanted = sorted((i for i in pool if scores[i] != 0), key=lambda i: (-scores[i], i))[:k]
        assert top_k(scores, k, allowed).tolist() == wanted


def test_allowed_positions_are_exact() -> None:
    index = Bm25().index(chunks_of(["a b", "a", "a c", "b"]))
    found = index.search(["a", "a", "a"], 5, [[2, 3], [], None])
    assert [[hit.id for hit in hits] for hits in found] == [["c0002"], [], ["c0001", "c0000", "c0002"]]


def test_permuting_the_corpus_changes_no_score() -> None:
    texts = random_texts(8)
    order = np.random.default_rng(0).permutation(len(texts))
    straight = Bm25().index(chunks_of(texts)).all_scores(QUERIES)
    permuted = Bm25().index(chunks_of([texts[i] for i in order])).all_scores(QUERIES)
    assert permuted == pytest.approx(straight[:, order], abs=1e-12)


def test_stems_find_other_forms() -> None:
    chunks = chunks_of(
        [
            "Die Anmeldung zu den schriftlichen Prüfungen ist rechtzeitig vorzunehmen.",
            "Der Rat der Fakultät tagt und beschließt.",
        ]
    )
    assert not Bm25().index(chunks).search(["Prüfung"], 3)[0]
    found = Bm25(analyzer="stems").index(chunks).search(["Prüfung"], 3)[0]
    assert [hit.id for hit in found] == ["c0000"]


def test_an_empty_corpus_is_an_input_error() -> None:
    for name in ("bm25", "tfidf"):
        with pytest.raises(InputError):
            RETRIEVERS.create(name).index(())


@pytest.mark.parametrize("idf", ["lucene", "atire", "okapi_eps"])
def test_chunks_without_words_are_searched_without_hits(idf: str) -> None:
    index = RETRIEVERS.create({"type": "bm25", "idf": idf}).index(chunks_of(["...", "—"]))
    assert index.search(["anything"], 3) == [[]]


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(ConfigError, match="k1"):
        RETRIEVERS.create({"type": "bm25", "k1": -1})
    with pytest.raises(ConfigError, match="did you mean 'bm25'"):
        RETRIEVERS.create("bm52")


def test_search_text_holds_file_name_heading_and_text() -> None:
    (chunk,) = chunks_of(["Body."], doc_path="law/2014-06-02_computer-science.pdf")
    chunk = chunk.model_copy(update={"section_id": "§ 5", "title": "Length"})
    assert search_text(chunk) == "law 2014 06 02 computer science\n§ 5 Length\nBody."
    assert words(search_text(chunk)) == tuple(tokenise(search_text(chunk)))


def test_counts_survive_the_disk_and_damage_is_noticed(tmp_path) -> None:  # type: ignore[no-untyped-def]
    counts = count_texts(["a b b", "ü 中 a"])
    path = tmp_path / "terms" / "x.npz"
    save_counts(counts, path)
    loaded = load_counts(path)
    assert loaded is not None
    assert loaded.vocabulary == counts.vocabulary
    assert (loaded.matrix != counts.matrix).nnz == 0
    assert idf_of(loaded) == idf_of(counts)
    path.write_bytes(path.read_bytes()[:60])
    assert load_counts(path) is None
    assert load_counts(tmp_path / "absent.npz") is None
