"""TREC, ranx, BEIR and SQuAD."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.errors import InputError
from core.inputs.foreign import load_foreign
from core.inputs.foreign.ranx_packed import MAGIC, unpacked
from tests.real_data import real_data


def beir(folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    (folder / "queries.jsonl").write_text(
        '{"_id": "q1", "text": "what is a cat", "metadata": {}}\n{"_id": "q2", "text": "what is a dog"}\n',
        encoding="utf-8",
    )
    (folder / "corpus.jsonl").write_text(
        '{"_id": "d1", "title": "Cat", "text": "A cat is an animal."}\n', encoding="utf-8"
    )
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n", encoding="utf-8"
    )
    (folder / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq2\td3\t1\n", encoding="utf-8")
    return folder


def test_a_beir_folder_without_a_run_gives_cases(tmp_path: Path) -> None:
    (found,) = load_foreign(beir(tmp_path / "pets"))
    assert (found.suite, found.outputs) == ("pets", ())
    (case,) = found.cases
    assert (case.id, case.query, case.qrels) == ("q1", "what is a cat", {"d1": 2, "d2": 0})
    (other,) = load_foreign(tmp_path / "pets", mapping={"split": "dev"})
    assert other.cases[0].qrels == {"d3": 1}


def test_runs_in_a_beir_folder_get_the_texts_of_the_corpus(tmp_path: Path) -> None:
    folder = beir(tmp_path / "pets")
    (folder / "bm25.trec").write_text(
        "q1 Q0 d2 1 0.5 bm25\nq1 Q0 d1 2 0.5 bm25\nq2 Q0 d9 1 1 bm25\n", encoding="utf-8"
    )
    (found,) = load_foreign(folder)
    assert [(hit.id, hit.rank) for hit in found.outputs[0].hits] == [("d2", 1), ("d1", 2)]
    assert found.outputs[0].hits[1].text == "A cat is an animal."
    assert [case.id for case in found.cases] == ["q1", "q2"]
    assert found.cases[1].qrels is None


def test_a_wrong_grade_is_named_by_line(tmp_path: Path) -> None:
    folder = beir(tmp_path / "pets")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\tgood\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"column 'score' \(line 2\)"):
        load_foreign(folder)


def test_a_trec_run_takes_its_judgements_and_ranks_like_trec_eval() -> None:
    run, qrels = real_data("trec_eval", "results.test"), real_data("trec_eval", "qrels.test")
    (found,) = load_foreign(run, mapping={"qrels": str(qrels)})
    assert found.name == "STANDARD"
    assert sum(len(case.qrels or {}) for case in found.cases) == sum(
        1 for line in qrels.open() if line.strip()
    )
    for output in found.outputs:
        keys = [(hit.score, hit.id) for hit in output.hits]
        assert keys == sorted(keys, key=lambda key: (key[0] or 0.0, key[1]), reverse=True)
        assert [hit.rank for hit in output.hits] == list(range(1, len(keys) + 1))


def test_one_run_in_json_parquet_and_trec_is_the_same() -> None:
    runs = [
        load_foreign(real_data("ranx", name))[0]
        for name in ("run.trec", "run.json", "run.parquet", "run.trec.gz")
    ]
    rankings = [[[(hit.id, hit.score) for hit in output.hits] for output in run.outputs] for run in runs]
    assert rankings[0] == rankings[1] == rankings[3]
    assert [[hit for hit, _ in each] for each in rankings[2]] == [
        [hit for hit, _ in each] for each in rankings[0]
    ]
    graded = [
        load_foreign(real_data("ranx", name))[0] for name in ("qrels.trec", "qrels.json", "qrels.parquet")
    ]
    assert len({str([case.qrels for case in each.cases]) for each in graded}) == 1


def test_each_run_of_a_folder_takes_the_judgements_it_shares_queries_with() -> None:
    found = load_foreign(real_data("trec_eval"), "trec")
    by_queries = {frozenset(case.id for case in each.cases): each for each in found}
    assert by_queries[frozenset(("301", "302", "303"))].suite == "qrels"
    assert by_queries[frozenset(("302",))].suite == "qrels-302"


def test_squad_questions_keep_all_answers_and_their_paragraph(tmp_path: Path) -> None:
    data = {
        "version": "v2.0",
        "data": [
            {
                "title": "Cats",
                "paragraphs": [
                    {
                        "context": "Cats purr. Cats sleep.",
                        "qas": [
                            {
                                "id": "a",
                                "question": "What do cats do?",
                                "is_impossible": False,
                                "answers": [
                                    {"text": "purr", "answer_start": 5},
                                    {"text": "sleep", "answer_start": 16},
                                ],
                            },
                            {"id": "b", "question": "Do dogs bark?", "is_impossible": True, "answers": []},
                            {"id": "b", "question": " ", "answers": []},
                        ],
                    }
                ],
            }
        ],
    }
    (tmp_path / "s.json").write_text(json.dumps(data), encoding="utf-8")
    (tmp_path / "answers.json").write_text(json.dumps({"a": "purr", "z": "x", "b": ""}), encoding="utf-8")
    (found,) = load_foreign(tmp_path / "s.json", mapping={"predictions": str(tmp_path / "answers.json")})
    first, second = found.cases
    assert (first.gold_answer, first.answerable, first.metadata["gold_answers"]) == (
        "purr",
        True,
        ["purr", "sleep"],
    )
    assert first.metadata["context"][first.metadata["answer_start"] :].startswith("purr")
    assert (second.answerable, second.gold_answer, second.cluster == first.cluster) == (False, None, True)
    assert [(output.case_id, output.text) for output in found.outputs] == [("a", "purr"), ("b", "")]
    assert len(found.notices) == 2


def framed(block: bytes) -> bytes:
    """An LZ4 frame of one block."""
    return MAGIC + b"\x40\x40\xc0" + len(block).to_bytes(4, "little") + block + bytes(4)


def test_ranx_packs_its_files_with_lz4(tmp_path: Path) -> None:
    packed, plain = (load_foreign(real_data("ranx", name))[0] for name in ("run.lz4", "run.json"))
    assert packed.outputs == plain.outputs
    data = real_data("ranx", "run.lz4").read_bytes()
    for end in range(4, len(data), 3):
        (tmp_path / "run.lz4").write_bytes(data[:end])
        with pytest.raises(InputError, match=r"damaged|left over"):
            load_foreign(tmp_path / "run.lz4", "trec")


def test_copies_in_an_lz4_block_may_overlap_and_be_long() -> None:
    # one literal, a copy of 4 + 15 + 255 + 6 bytes from one byte back, one more literal
    assert unpacked(framed(b"\x1fa\x01\x00\xff\x06\x10b")) == b"a" * 281 + b"b"
    with pytest.raises(ValueError, match="before the beginning"):
        unpacked(framed(b"\x10a\x02\x00"))


def test_a_corpus_is_no_result() -> None:
    with pytest.raises(InputError, match="holds no results"):
        load_foreign(real_data("autorag_sample", "corpus_data_sample.parquet"))


def test_a_wrong_line_of_a_run_is_named_though_nobody_named_the_format(tmp_path: Path) -> None:
    (tmp_path / "bm25.trec").write_text("q1 Q0 d1 1 0.9 bm25\nq1 Q0 d2 2 oops bm25\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2"):
        load_foreign(tmp_path / "bm25.trec")
