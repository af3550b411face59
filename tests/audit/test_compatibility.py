"""The same agent, custom evaluator and YAML under both auditors: only the import lines differ."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

import core.audit as audit
from core.audit.judging import JudgeDesk
from core.audit.running import run_audit
from core.contracts import Material
from core.errors import JudgeFailure
from core.records import Judgement
from tests.audit.auditing import plumbline, report_of
from tests.audit.ragverdict_demo import write

THEIRS = os.environ.get("PLUMBLINE_RAGVERDICT", "")


@pytest.mark.parametrize(
    ("cls", "differing"),
    [
        ("Shop", {}),
        # citations that dangle in the text alone are not looked for by the other tool
        ("Careless", {"citations": ("PASS", "FAIL")}),
    ],
)
def test_same_verdicts_under_both(cls: str, differing: dict, tmp_path: Path) -> None:
    if not Path(THEIRS).is_file():
        pytest.skip("set PLUMBLINE_RAGVERDICT to the path of an installed ragverdict to compare with it")
    theirs = write(tmp_path, "theirs", cls)
    done = subprocess.run(
        [THEIRS, "run", theirs.name, "--no-judge", "--out-dir", "theirs"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    told = json.loads((tmp_path / "theirs" / "report.json").read_text(encoding="utf-8"))
    ours = plumbline(tmp_path, "run", write(tmp_path, "ours", cls).name, "--no-judge")
    report = report_of(tmp_path)
    assert ours.returncode == done.returncode
    for old, new in zip(told["tests"], report["tests"], strict=True):
        assert old["name"] == new["name"]
        assert (old["verdict"], new["verdict"]) == differing.get(old["name"], (old["verdict"],) * 2)
        assert set(old) <= set(new)
        assert set(old["metrics"]) <= set(new["metrics"])
        assert set(old["artifacts"]) <= set(new["artifacts"])
        for name, rows in old["artifacts"].items():
            if name in ("cases", "per_tool", "per_citation"):
                assert set(rows[0]) <= set(new["artifacts"][name][0])


def test_a_custom_evaluator_runs_unchanged(tmp_path: Path) -> None:
    run = run_audit(write(tmp_path, "ours", "Shop"), no_judge=True, output_dir=tmp_path, only=["short"])
    test = run.summary["tests"][0]
    assert (test["verdict"], test["detail"]) == ("PASS", "longest answer 8 words")
    assert test["metrics"] == {"longest": 8.0}
    assert test["artifacts"]["keys"] == ["evaluator", "max_words", "name", "queries"]


def test_the_twelve_names_with_their_fields() -> None:
    assert len(audit.__all__) == 12
    expected = {
        "Citation": ["id", "source_id", "span"],
        "ContextDoc": ["source_id", "chunk", "score"],
        "Message": ["role", "content"],
        "RagResponse": ["text", "citations", "tool_calls", "retrieved_context", "raw"],
        "SourceDoc": ["source_id", "content", "title"],
        "TestResult": ["name", "evaluator", "verdict", "detail", "metrics", "duration_ms", "artifacts"],
        "ToolCall": ["name", "args", "result", "latency_ms", "error"],
        "ToolSpec": ["name", "description", "trigger_prompt"],
    }
    for name, names in expected.items():
        assert [field.name for field in fields(getattr(audit, name))][: len(names)] == names
    parameters = inspect.signature(audit.Evaluator.run).parameters
    assert list(parameters) == ["self", "adapter", "spec", "judge", "thresholds"]


class Scripted:
    """A judge with one answer to everything."""

    provider, model, decides, concurrency = "scripted", "", True, 1

    def __init__(self, score: float | None) -> None:
        self.score, self.asked = score, []

    def judge(self, rubric: str, material: Material) -> Judgement:
        assert all(text.strip() for text in material.parts.values())
        self.asked.append(rubric)
        return Judgement(rubric=rubric, rubric_version="1", provider="scripted", score=self.score, label="x")

    def fingerprint(self, rubric: str) -> str:
        return rubric


def test_custom_evaluators_get_the_judge_they_know() -> None:
    desk = JudgeDesk(Scripted(1.0))
    assert desk.faithfulness("answer", "context").score == 1.0
    assert desk.relevance("answer", "query").score == 1.0
    assert desk.refusal("answer", "query").is_refusal
    assert desk.pushback("answer", "premise").handled_correctly
    with pytest.raises(JudgeFailure):
        JudgeDesk(Scripted(None)).relevance("answer", "query")
