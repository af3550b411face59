"""ragas, DeepEval, promptfoo, RAGChecker, audit reports, the admin's folders, AutoRAG: what comes over."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from core.errors import InputError
from core.inputs.foreign import Imported, load_foreign
from core.inputs.prepared_items import text_id
from core.records import Verdict
from tests.real_data import real_data


def saved(path: Path, data: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


RAGAS = [
    {
        "user_input": "When was it built?",
        "retrieved_contexts": ["Built in 1889.", "In Paris."],
        "reference_contexts": ["Built in 1889."],
        "response": "1889",
        "reference": "In 1889",
        "faithfulness": 1.0,
        "answer_relevancy": None,
    },
    {
        "user_input": [
            {"content": "Hi", "type": "human"},
            {"content": "Hello", "type": "ai"},
            {"content": "How high?", "type": "human"},
        ],
        "retrieved_contexts": [],
        "response": "300 m",
        "reference": "330 m",
        "faithfulness": float("nan"),
        "answer_relevancy": 0.5,
    },
]


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "csv"])
def test_ragas_in_three_formats(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"ragas.{ending}"
    rows: list[dict[str, Any]] = [dict(row) for row in RAGAS]
    if ending == "jsonl":
        file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    else:
        rows[1]["user_input"] = "How high?"
        if ending == "parquet":
            parquet.write_table(arrow.Table.from_pylist(rows), file)
        else:
            with file.open("w", newline="", encoding="utf-8") as stream:
                writer = csv.DictWriter(stream, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
    (found,) = load_foreign(file)
    first, second = found.cases
    assert (first.query, first.gold_answer, first.qrels) == (
        "When was it built?",
        "In 1889",
        {text_id("Built in 1889."): 1},
    )
    assert found.outputs[0].hits[0].id == text_id("Built in 1889.")
    assert found.outputs[0].raw["foreign_scores"] == {"faithfulness": 1.0}
    assert found.outputs[1].raw["foreign_scores"] == {"answer_relevancy": 0.5}
    assert (second.query, len(second.conversation)) == ("How high?", 2 if ending == "jsonl" else 0)
    assert found.results is None


def test_the_real_ragas_file_keeps_its_lists_and_its_gaps() -> None:
    (found,) = load_foreign(real_data("results_ragas", "diaure_french_events_ragas.csv"))
    assert [len(output.hits) for output in found.outputs] == [1, 1, 0, 1, 1, 1]  # the third is written ['']
    assert all(output.text for output in found.outputs)
    scored = [output.raw.get("foreign_scores", {}) for output in found.outputs]
    assert all(
        set(each) <= {"faithfulness", "answer_relevancy", "context_precision", "context_recall"}
        for each in scored
    )
    assert sum(len(each) for each in scored) < 24


def test_a_deepeval_run_brings_its_trace(tmp_path: Path) -> None:
    (found,) = load_foreign(real_data("results_deepeval_promptfoo", "deepeval_test_run_sample.json"))
    (output,), (result,) = found.outputs, found.results or ()
    assert output.raw["foreign_scores"] == {"Answer Relevancy": 0.92, "Faithfulness": 0.45}
    assert (output.text or "").startswith("CECL (Current Expected Credit Losses)")
    assert [call.name for call in output.tool_calls] == ["web_search"]
    assert output.latency_ms == pytest.approx(11_420)
    assert output.usage is not None
    assert (output.usage.calls, output.usage.input_tokens, output.usage.cost_usd) == (
        4,
        1200 + 2200 + 540 + 880,
        None,
    )
    assert len(output.hits) >= 2
    assert (result.verdict, result.reasons[0][:12]) == (Verdict.FAIL, "Faithfulness")


def test_deepeval_datasets_and_conversations(tmp_path: Path) -> None:
    data = {
        "testRunData": {
            "testCases": [
                {
                    "name": "a",
                    "input": "Q",
                    "actual_output": "A",
                    "expected_output": "G",
                    "retrieval_context": ["c"],
                }
            ],
            "conversationalTestCases": [
                {
                    "name": "talk",
                    "success": True,
                    "turns": [
                        {"role": "user", "content": "Hi"},
                        {"role": "assistant", "content": "Hello"},
                        {"role": "user", "content": "Bye"},
                        {"role": "assistant", "content": "See you"},
                    ],
                }
            ],
        }
    }
    (found,) = load_foreign(saved(tmp_path / "run.json", data))
    assert [(case.id, case.query, case.gold_answer) for case in found.cases] == [
        ("a", "Q", "G"),
        ("talk", "Bye", None),
    ]
    assert [output.text for output in found.outputs] == ["A", "See you"]
    assert [message.content for message in found.cases[1].conversation] == ["Hi", "Hello"]
    assert [(result.case_id, result.verdict) for result in found.results or ()] == [("talk", Verdict.PASS)]


def promptfoo(**changes: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "testIdx": 0,
        "promptIdx": 0,
        "vars": {"question": "How long?", "context": ["Six semesters."], "expected": "6 semesters"},
        "testCase": {"vars": {}, "assert": [{"type": "contains", "value": "6"}], "description": "length"},
        "prompt": {"raw": "Answer: How long?", "label": "short"},
        "provider": {"id": "openai:gpt-x", "label": "gpt-x"},
        "response": {
            "output": "6 semesters",
            "tokenUsage": {"total": 12, "prompt": 10, "completion": 2},
            "cost": 0.001,
        },
        "success": True,
        "score": 1,
        "latencyMs": 321,
        "namedScores": {"brevity": 0.5},
        "gradingResult": {
            "pass": True,
            "score": 1,
            "reason": "All assertions passed",
            "componentResults": [
                {"pass": True, "score": 1, "reason": "ok", "assertion": {"type": "contains", "value": "6"}}
            ],
        },
    }
    return entry | changes


def test_promptfoo_results_by_provider_with_repeats_errors_and_unchecked(tmp_path: Path) -> None:
    failing = promptfoo(
        success=False,
        score=0,
        response={"output": "8 semesters"},
        gradingResult={
            "pass": False,
            "score": 0,
            "reason": "no",
            "componentResults": [
                {"pass": False, "score": 0, "reason": "lacks 6", "assertion": {"type": "contains"}}
            ],
        },
    )
    data = {
        "evalId": "eval-1",
        "results": {
            "version": 3,
            "results": [
                promptfoo(),
                failing,
                promptfoo(
                    testIdx=1,
                    success=False,
                    error="429 Too Many Requests",
                    response={"error": "429 Too Many Requests"},
                    gradingResult=None,
                ),
                promptfoo(provider="local", gradingResult=None),
            ],
        },
        "config": {"description": "study length"},
    }
    first, second = load_foreign(saved(tmp_path / "p.json", data))
    assert (first.name, second.name, first.suite) == ("gpt-x", "local", "study length")
    assert next((case.id, case.query, case.gold_answer) for case in first.cases) == (
        "test-0",
        "How long?",
        "6 semesters",
    )
    assert [(output.case_id, output.repeat, output.text) for output in first.outputs] == [
        ("test-0", 0, "6 semesters"),
        ("test-0", 1, "8 semesters"),
        ("test-1", 0, None),
    ]
    assert first.outputs[0].raw["foreign_scores"] == {"score": 1.0, "brevity": 0.5, "contains": 1.0}
    assert first.outputs[0].usage is not None
    assert (first.outputs[0].latency_ms, first.outputs[0].usage.cost_usd) == (321.0, 0.001)
    assert [hit.text for hit in first.outputs[0].hits] == ["Six semesters."]
    verdicts = [result.verdict for result in first.results or ()]
    assert verdicts == [Verdict.PASS, Verdict.FAIL, Verdict.ERROR]
    assert (first.results or ())[1].reasons == ("lacks 6",)
    assert [(r.verdict, r.reasons) for r in second.results or ()] == [(Verdict.WEAK, ("unchecked",))]


def test_ragchecker_keeps_claims_and_metrics() -> None:
    (found,) = load_foreign(real_data("ragchecker_meta", "checking_outputs_example.json"))
    output = found.outputs[0]
    assert output.raw["foreign_scores"]["precision"] == pytest.approx(8 / 11)
    assert (
        len(output.raw["response_claims"]) == len(output.raw["response2answer"])
        or output.raw["answer2response"]
    )
    assert [hit.id for hit in output.hits][:2] == ["000", "001"]
    assert "overall.f1 68.3" in found.notices[0]


def test_an_audit_report_brings_its_verdicts(tmp_path: Path) -> None:
    tests = [
        {
            "name": "quality",
            "evaluator": "rag_quality",
            "verdict": "PASS",
            "detail": "3 of 3",
            "metrics": {"faithfulness": 0.9},
            "duration_ms": 12.5,
            "artifacts": {"cases": [1]},
        },
        {
            "name": "tools",
            "evaluator": "tool_coverage",
            "verdict": "error",
            "detail": "refused",
            "metrics": {},
            "duration_ms": 3,
        },
    ]
    (found,) = load_foreign(
        saved(tmp_path / "nightly" / "report.json", {"tests": tests, "summary": {"PASS": 1, "ERROR": 1}})
    )
    assert (found.kind, found.name) == ("audit", "nightly")
    assert [(r.case_id, r.verdict, r.scores) for r in found.results or ()] == [
        ("quality", Verdict.PASS, {"faithfulness": 0.9}),
        ("tools", Verdict.ERROR, {}),
    ]
    assert (found.results or ())[0].artifacts == {"cases": [1]}
    assert found.cases[0].evaluator == "rag_quality"


def admin_folder(folder: Path, **row: str) -> Path:
    folder.mkdir(parents=True)
    values = {
        "question_id": "q1",
        "question": "Wie lange?",
        "question_type": "single_hop",
        "gold_answer": "6 Semester",
        "answer": "8 Semester",
        "expected_keywords": '["Semester"]',
        "retrieved_chunk_ids": '["c1", "c2"]',
        "retrieved_chunks": json.dumps(
            [
                {"rank": 1, "chunk_id": "c1", "score": 0.5, "title": "T", "text_preview": "Sechs"},
                {"rank": 2, "chunk_id": "c2", "score": 0.1},
            ]
        ),
        "mrr_at_k": "0.5",
        "abstained": "False",
        "auto_flag": "correct",
    } | row
    with (folder / "rag_results.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(values))
        writer.writeheader()
        writer.writerow(values)
    chunks = [
        "question_id,chunk_id,rank,score,doc_path,section_id,text",
        "q1,c1,1,0.5,a.pdf,§ 3,Sechs Semester.",
    ]
    (folder / "retrieved_chunks.csv").write_text("\n".join(chunks) + "\n", encoding="utf-8")
    return folder


def test_the_admins_folder_of_a_sweep_gives_its_experiments(tmp_path: Path) -> None:
    run = admin_folder(tmp_path / "run1")
    admin_folder(run / "fixed_words_bm25")
    admin_folder(run / "by_section_tfidf", answer="6 Semester")
    summary = {"classifier_type": "document_qa", "questions_path": "data/questions.json"}
    saved(run / "run_summary.json", summary)
    found = load_foreign(run)
    assert [(each.name, each.kind, each.suite) for each in found] == [
        ("by_section_tfidf", "document_qa", "questions"),
        ("fixed_words_bm25", "document_qa", "questions"),
    ]
    (output,) = found[1].outputs
    assert (output.text, output.abstained) == ("8 Semester", False)
    assert next((h.id, h.text, h.doc_path, h.section_id, h.score) for h in output.hits) == (
        "c1",
        "Sechs Semester.",
        "a.pdf",
        "§ 3",
        0.5,
    )
    assert output.raw["foreign_scores"]["mrr_at_k"] == 0.5
    assert (found[0].cases[0].expected_keywords, found[0].results) == (("Semester",), None)


def test_the_admins_classifier_runs_have_codes(tmp_path: Path) -> None:
    folder = admin_folder(
        tmp_path / "cpv",
        gold_answer="",
        expected_cpv_codes='["09310000"]',
        retrieved_chunks='[{"rank": 1, "chunk_id": "09310000", "score": 3.2}, {"rank": 2, "chunk_id": "cpv:45000000", "score": 1}]',
    )
    (found,) = load_foreign(folder)
    assert found.kind == "ted_cpv"
    assert found.cases[0].gold_codes == ("09310000",)
    assert [hit.id for hit in found.outputs[0].hits] == ["09310000", "45000000"]


def test_a_results_file_with_repeated_ids_is_refused(tmp_path: Path) -> None:
    folder = admin_folder(tmp_path / "run")
    file = folder / "rag_results.csv"
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join([*lines, lines[1]]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="'q1' comes 2 times"):
        load_foreign(folder)


def test_autorag_results_follow_the_questions_of_equal_length(tmp_path: Path) -> None:
    found = {each.name.split("__")[-2]: each for each in load_foreign(real_data("autorag_sample"))}
    lexical = found["lexical_retrieval"]
    assert lexical.suite == "qa_data_sample"
    assert lexical.cases[0].qrels == {"5b957791-3c7b-4f29-a410-8d005a538855": 1}
    ids = [hit.id for hit in lexical.outputs[0].hits]
    assert len(ids) == len(set(ids)) == 10 - lexical.outputs[0].raw["n_repeated"]
    assert set(lexical.outputs[0].raw["foreign_scores"]) == {
        "retrieval_f1",
        "retrieval_recall",
        "retrieval_precision",
    }
    generated: Imported = found["generator"]
    assert all(output.text for output in generated.outputs)
    with pytest.raises(InputError, match="no QA file has as many"):
        load_foreign(
            real_data("autorag_sample", "result_project__0__retrieve_node_line__lexical_retrieval__0.parquet")
        )
