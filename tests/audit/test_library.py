"""Audits through the library, as jobs, scored again, and as pytest items."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import core
from core.audit.doctor import examine
from core.errors import ConfigError
from core.jobs import work
from core.store.runs import Store
from tests.audit.auditing import ROOT, env, write_audit

DEMO = ROOT / "data" / "demo_agent" / "audit.yaml"


def test_evaluate_and_score_again_without_the_agent(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.db")
    run = core.evaluate(DEMO, store=store, no_judge=True, output_dir=tmp_path)
    verdicts = {test["name"]: test["verdict"] for test in run.summary["tests"]}
    assert set(verdicts.values()) == {"PASS"}
    assert (Path(run.folder or "") / "report.json").is_file()
    again = core.score(run, store=store, output_dir=tmp_path)
    assert again.parent_id == run.id
    assert {test["name"]: test["verdict"] for test in again.summary["tests"]} == verdicts
    by_test = {test["name"]: test for test in again.summary["tests"]}
    assert by_test["citations"]["metrics"]["citations_dangling"] == 0.0
    assert [r.reasons for r in store.results(again.id)] == [r.reasons for r in store.results(run.id)]


def test_unknown_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no_juge"):
        core.evaluate(DEMO, no_juge=True, output_dir=tmp_path)


def test_an_audit_is_a_job_like_any_other(tmp_path: Path) -> None:
    store = Store(tmp_path / "plumbline.db")
    ready = tmp_path / "ready.jsonl"
    ready.write_text('{"id": "1", "question": "How long?", "answer": "28 days"}\n', encoding="utf-8")
    settings = {
        "adapter": {"type": "prepared", "path": str(ready)},
        "judge": {"provider": "none"},
        "tests": [
            {
                "name": "golden",
                "evaluator": "rag_quality",
                "cases": [{"query": "How long?", "must_mention": ["28"]}],
            }
        ],
    }
    job = store.request_job(settings, token="t", kind="run")
    assert work(job, store) == 0
    run = store.runs(kind="audit")[0]
    assert run.summary["tests"][0]["verdict"] == "PASS"
    assert store.job(job).status == "done"


def test_the_doctor_says_what_is_missing(tmp_path: Path) -> None:
    tests = [{"name": "tools", "evaluator": "tool_coverage"}]
    found = list(examine(write_audit(tmp_path, tests), tmp_path / "cache"))
    assert {f.level for f in found} >= {"ok", "wrong"}
    assert any("names no tools" in f.what for f in found)


def pytest_on(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "core.pytest_plugin",
        "-p",
        "no:cacheprovider",
        *arguments,
    ]
    return subprocess.run(
        command,
        cwd=folder,
        env=env(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
        capture_output=True,
        text=True,
        check=False,
    )


def test_cases_are_pytest_items(tmp_path: Path) -> None:
    case = {"query": "How long?"}
    tests = [
        {"name": "quality", "evaluator": "rag_quality", "cases": [
            {**case, "id": "right", "must_mention": ["28 days"]}, {**case, "id": "wrong", "must_mention": ["90 days"]}, {**case, "id": "open"}]},
        {"name": "tools", "evaluator": "tool_coverage"},
    ]  # fmt: skip
    write_audit(tmp_path, tests)
    done = pytest_on(tmp_path, "--plumbline", "audit.yaml", "--plumbline-no-judge", "-v")
    assert "quality/right PASSED" in done.stdout
    assert "quality/wrong FAILED" in done.stdout
    assert "quality/open PASSED" in done.stdout
    assert "quality/open is WEAK: unchecked" in done.stdout
    assert "tools FAILED" in done.stdout, "a test without cases has a verdict too"
    assert "must_mention: does not mention '90 days'" in done.stdout
    assert "2 failed, 2 passed" in done.stdout
    assert done.returncode == 1


def test_other_test_runs_do_not_pay_for_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(
        "import sys\ndef test_x():\n    assert not [m for m in sys.modules if m.startswith(('core.audit', 'core.pipeline', 'httpx', 'scipy'))]\n",
        encoding="utf-8",
    )
    done = pytest_on(tmp_path, "-q", "test_x.py")
    assert done.returncode == 0, done.stdout
