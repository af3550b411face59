"""Every format is recognised by its contents, and a wrong file is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError, UnknownNameError
from core.inputs.foreign import FORMATS, detect, load_foreign
from tests.real_data import real_data

REAL = [
    ("ragas", ("results_ragas", "diaure_french_events_ragas.csv"), 1, 6, 6),
    ("generic", ("results_xlsx", "yassine_evaluation_results.xlsx"), 1, 25, 25),
    ("generic", ("telecom_faq_fr", "evaluation_results.xlsx"), 1, 25, 25),
    ("deepeval", ("results_deepeval_promptfoo", "deepeval_test_run_sample.json"), 1, 1, 1),
    ("ragchecker", ("ragchecker_meta", "checking_inputs_example.json"), 1, 2, 2),
    ("ragchecker", ("ragchecker_meta", "checking_outputs_example.json"), 1, 2, 2),
    ("trec", ("trec_eval", "qrels.test"), 1, 3, 0),
    ("trec", ("trec_eval", "results.test"), 1, 3, 3),
    ("trec", ("ranx",), 3, 2, 2),
    ("trec", ("ranx", "run.json"), 1, 2, 2),
    ("trec", ("ranx", "qrels.parquet"), 1, 2, 0),
    ("trec", ("ranx", "run.trec.gz"), 1, 2, 2),
    ("squad", ("squad_small", "small.json"), 1, 51, 0),
    ("squad", ("squad_small", "tiny.json"), 1, 16, 0),
    ("squad", ("squad_small", "duplicate_answers.json"), 1, 7, 0),
    ("autorag", ("autorag_sample",), 5, 10, 10),
    ("generic", ("ragtruth_sample", "response_sample.jsonl"), 6, 9, 9),
]


@pytest.mark.parametrize(("form", "parts", "n_runs", "n_cases", "n_outputs"), REAL)
def test_real_files_are_recognised_and_read(
    form: str, parts: tuple[str, ...], n_runs: int, n_cases: int, n_outputs: int
) -> None:
    path = real_data(*parts)
    assert detect(path) == form
    found = load_foreign(path)
    assert len(found) >= n_runs
    assert (len(found[0].cases), len(found[0].outputs)) == (n_cases, n_outputs)
    for each in found:
        ids = {case.id for case in each.cases}
        assert len(ids) == len(each.cases)
        assert {output.case_id for output in each.outputs} <= ids
        assert len(each.digest) == 64


def test_unknown_formats_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'ragas'"):
        load_foreign(tmp_path, "raga")
    with pytest.raises(InputError, match="no such file"):
        detect(tmp_path / "none.json")
    (tmp_path / "notes.md").write_text("# hello", encoding="utf-8")
    with pytest.raises(InputError, match="no known format"):
        detect(tmp_path / "notes.md")


WRONG: list[tuple[str, str, Any, str]] = [
    ("trec", "run.txt", "q1 Q0 d1 1 high run\n", "line 1.*not a number"),
    ("trec", "run.json", {"q1": {"d1": "x"}}, "q1.d1: the score must be a number"),
    (
        "squad",
        "s.json",
        {"data": [{"paragraphs": [{"qas": "x"}]}]},
        r"data\[0\].paragraphs\[0\].qas' must be a list",
    ),
    (
        "promptfoo",
        "p.json",
        {"results": {"version": 3, "results": [{"success": True}]}},
        r"results.results\[0\]: has no variables",
    ),
    ("deepeval", "d.json", {"testCases": [{"actualOutput": "x"}]}, r"testCases\[0\]: input is missing"),
    (
        "ragchecker",
        "r.json",
        {"results": [{"query": 3, "response": "x", "gt_answer": "y"}]},
        r"results\[0\]: query must be a text",
    ),
    (
        "ragverdict",
        "report.json",
        {"tests": [{"name": "t", "evaluator": "e", "verdict": "MAYBE"}]},
        r"tests\[0\]: verdict must be",
    ),
    ("traces", "t.json", [{"name": "no span"}], r"\[0\]: is no span"),
    ("generic", "g.csv", "question,weather\nq,sunny\n", "no column holds predictions"),
    ("promptfoo", "p.json", "{", "not valid JSON"),
]


@pytest.mark.parametrize(("form", "name", "content", "message"), WRONG)
def test_wrong_files_are_refused_with_their_place(
    tmp_path: Path, form: str, name: str, content: Any, message: str
) -> None:
    file = tmp_path / name
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_foreign(file, form)


def test_every_format_has_a_title() -> None:
    assert all(form.title for form in FORMATS.values())
