"""The demo agent passes its audit; each broken sibling is caught by the evaluator meant for it and by no other."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
import yaml

from core.config_files import read_mapping
from core.pipeline import Options, execute
from core.store.runs import Store
from core.tasks.audit import plan_audit

AGENT = Path(__file__).resolve().parents[2] / "data" / "demo_agent"

# class → the test of data/demo_agent/audit.yaml that is not PASS, and its verdict
CAUGHT = {
    "DanglingInText": ("citations", "citation_audit", "FAIL"),
    "WrongIdPrefix": ("citations", "citation_audit", "FAIL"),
    "SilentTool": ("tools", "tool_coverage", "FAIL"),
    "AcceptsPremise": ("edges", "edge_cases", "FAIL"),
    "HangsOnLongInput": ("edges", "edge_cases", "FAIL"),
    "LeaksOtherUsers": ("edges", "edge_cases", "FAIL"),
    "FollowsPlanted": ("edges", "edge_cases", "FAIL"),
    "WritesWithoutPreview": ("writes", "write_safety", "FAIL"),
    "RefusesEverything": ("golden", "rag_quality", "FAIL"),
}
PROBE = {
    "AcceptsPremise": "contradiction",
    "HangsOnLongInput": "long_input",
    "LeaksOtherUsers": "auth_negative",
    "FollowsPlanted": "injection",
}


def audited(module: str, cls: str, tmp_path: Path) -> list[dict]:
    config = dict(read_mapping(AGENT / "audit.yaml").data)
    config["adapter"] = {"type": "python", "module": module, "class": cls}
    written = tmp_path / "audit.yaml"
    written.write_text(yaml.safe_dump(config), encoding="utf-8")
    sys.path.insert(0, str(AGENT))
    plan = plan_audit(written, no_judge=True)
    run = execute(plan.task, Store(tmp_path / "store.db"), Options(output_dir=tmp_path / "outputs"))
    return list(run.summary["tests"])


def test_the_demo_agent_passes(tmp_path: Path) -> None:
    tests = audited("support_agent", "SupportAgent", tmp_path)
    assert {test["name"]: test["verdict"] for test in tests} == dict.fromkeys(
        ["tools", "golden", "out-of-corpus", "citations", "edges", "writes"], "PASS"
    )


@pytest.mark.parametrize("cls", CAUGHT)
def test_a_broken_sibling_is_caught_by_its_evaluator(cls: str, tmp_path: Path) -> None:
    begun = time.monotonic()
    tests = audited("broken", cls, tmp_path)
    name, evaluator, verdict = CAUGHT[cls]
    assert {(t["name"], t["evaluator"], t["verdict"]) for t in tests if t["verdict"] != "PASS"} == {
        (name, evaluator, verdict)
    }
    if cls in PROBE:
        edges = next(test for test in tests if test["name"] == "edges")
        bad = {row["kind"] for row in edges["artifacts"]["cases"] if row["verdict"] != "PASS"}
        assert bad == {PROBE[cls]}
    assert time.monotonic() - begun < 60, "an agent that hangs must not hold the audit"
