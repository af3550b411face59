"""Result files as people keep them, from the file to the sealed run: every row, every model, answers and codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import Table
from pyarrow.parquet import write_table

from core import pipeline
from core.records import Run
from core.settings import load_settings
from core.store.runs import Store
from tests.real_data import real_data


def scored(file: Path, folder: Path, **settings: Any) -> tuple[list[Run], Store]:
    store = Store(folder / "runs.db")
    chosen = load_settings(
        {
            "classifier_type": "prepared_rag_results",
            "prepared_results": str(file),
            "output_dir": str(folder / "outputs"),
            "cache_dir": str(folder / "cache"),
            **settings,
        }
    )
    return pipeline.run_each(chosen, store=store), store


def total(run: Run, metric: str) -> tuple[int, int]:
    """(scored, not applicable) of a metric over the whole run."""
    found = next(each for each in run.aggregates if each.metric == metric and not each.group_by)
    return found.n_scored, found.n_not_applicable


@pytest.mark.parametrize(
    ("name", "n", "retrieval"),
    [
        ("results_xlsx/yassine_evaluation_results.xlsx", 25, False),
        ("telecom_faq_fr/evaluation_results.xlsx", 25, False),
        ("results_ragas/diaure_french_events_ragas.csv", 6, True),
    ],
)
def test_real_answers_are_scored_as_answers(tmp_path: Path, name: str, n: int, retrieval: bool) -> None:
    (run,), store = scored(real_data(name), tmp_path)
    assert run.status == "sealed"
    assert sum(run.verdicts.values()) == n == run.n_cases
    assert run.verdicts.get("PASS", 0) > 0
    assert not any("exact_top1_match" in result.scores for result in store.results(run.id))
    assert all(case.gold_answer and case.query for case in store.cases(run.id))
    assert all(output.text for output in store.outputs(run.id))
    assert total(run, "hit_at_k") == ((n, 0) if retrieval else (0, n))
    if not retrieval:
        told = {result.undefined["hit_at_k"] for result in store.results(run.id)}
        assert told == {"no_retrieval"}
        blamed = {result.diagnosis.component for result in store.results(run.id) if result.diagnosis}
        assert "retrieval" not in blamed, "what is not known is not blamed"


def test_several_models_in_a_parquet_file_are_one_run_each(tmp_path: Path) -> None:
    rows = [
        {
            "query_id": f"q{n}",
            "query": f"text {n}",
            "gold_cpv_code": "09310000",
            "predicted": ["09310000", "45000000"] if model == "first" or n else ["45000000"],
            "score": [0.9, 0.1] if model == "first" or n else [0.7],
            "model": model,
        }
        for model in ("first", "second")
        for n in range(4)
    ]
    write_table(Table.from_pylist(rows), tmp_path / "two.parquet")
    runs, store = scored(tmp_path / "two.parquet", tmp_path)
    assert [(run.name, run.verdicts["PASS"], run.verdicts["FAIL"]) for run in runs] == [
        ("two first", 4, 0),
        ("two second", 3, 1),
    ]
    assert runs[0].suite_digest == runs[1].suite_digest, "they can be compared"
    assert [len(output.hits) for output in store.outputs(runs[1].id)] == [1, 2, 2, 2]


def test_several_models_of_answers_in_json_lines(tmp_path: Path) -> None:
    rows = [
        {
            "id": n,
            "question": f"How many days is the period {n}?",
            "reference": f"{n + 3} days",
            "response": f"It is {n + 3} days." if model == "good" else "It is 99 days.",
            "retrieved_contexts": [f"The period {n} is {n + 3} days."],
            "model": model,
        }
        for model in ("good", "bad")
        for n in range(3)
    ]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    good, bad = scored(tmp_path / "answers.jsonl", tmp_path)[0]
    assert (good.verdicts["PASS"], bad.verdicts["FAIL"]) == (3, 3)


def test_questions_without_answers_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="no column holds predictions, answers or retrieved texts"):
        scored(real_data("telecom_faq_fr/evaluation_questions.xlsx"), tmp_path)
    assert not (tmp_path / "outputs").exists()
