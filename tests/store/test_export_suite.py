"""The failing cases of a run as a configuration that runs again, with the same cases."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from core import api
from core.audit.reading import load_audit
from core.audit.running import run_audit
from core.cli import cli
from core.errors import ConfigError, StoreError
from core.records import Case
from core.store.compare import compare_runs
from core.store.export import export
from core.store.runs import Store
from tests.store.made import a_result, a_run, store_run

ROOT = Path(__file__).resolve().parents[2]
AUDIT = """
adapter: {type: python, module: data.demo_agent.support_agent, class: SupportAgent}
judge: {provider: none}
tests:
  - {name: tools, evaluator: tool_coverage, trigger_prompts: {renew_loan: "hello"}}
  - name: golden
    evaluator: rag_quality
    cases:
      - {query: "How long are books lent for?", must_mention: ["28 days"]}
      - {query: "What annual fee do students pay?", must_mention: ["13 euros"]}
      - {id: card, query: "What does a lost card cost?", must_mention: ["6 euros"]}
  - name: citations
    evaluator: citation_audit
    sample_queries: ["How long are books lent for?", "Who won the chess tournament last spring?"]
  - name: edges
    evaluator: edge_cases
    cases:
      - {kind: empty_input}
      - {kind: multi_turn, turns: ["My name is Ada."], final_query: "What is my name?", must_reference: ["Bob"]}
  - name: writes
    evaluator: write_safety
"""


def test_the_failing_cases_of_an_audit_run_again(tmp_path: Path) -> None:
    (tmp_path / "library.yaml").write_text(AUDIT, encoding="utf-8")
    with Store(tmp_path / "plumbline.db") as store:
        first = run_audit(tmp_path / "library.yaml", store=store, output_dir=str(tmp_path))
        written = export(store, first.id, "suite", tmp_path / "failing.yaml")
        second = run_audit(written, store=store, output_dir=str(tmp_path))
        asked = {case.id for case in store.cases(second.id)}
        found = compare_runs(store, first.id, second.id)
    assert asked == {"tools/renew_loan", "golden/2", "golden/card", "citations/2", "edges/2-multi_turn"}
    assert second.suite == "library-failed"
    assert {pair.status for pair in found.pairs} == {"unchanged", "only_in_a"}
    golden = yaml.safe_load(written.read_text(encoding="utf-8"))["tests"][1]
    assert [case["id"] for case in golden["cases"]] == ["2", "card"]


@pytest.mark.parametrize("settings", ["data/demo/demo.yaml", "data/tiny_catalog/tiny_catalog.yaml"])
def test_the_failing_questions_run_again_with_their_settings(settings: str, tmp_path: Path) -> None:
    def ran(path: Path, name: str) -> None:
        arguments = ["run", str(path), "--run-name", name, "--output-dir", str(tmp_path / "out")]
        done = CliRunner().invoke(cli, [*arguments, "--cache-dir", str(tmp_path / "cache")])
        assert done.exit_code == 0, done.output

    ran(ROOT / settings, "whole")
    with Store(tmp_path / "out" / "plumbline.db") as store:
        written = export(store, "whole", "suite", tmp_path / "failing.suite.yaml")
    assert (tmp_path / "failing.questions.json").is_file()
    ran(written, "again")
    with Store(tmp_path / "out" / "plumbline.db") as store:
        found = compare_runs(store, "whole", "again")
        rescored = api.score("whole", store=store)
    assert Path(rescored.folder or "") == tmp_path / "out" / "whole-rescored"
    assert found.counts["unchanged"] == sum(n for verdict, n in found.a.verdicts.items() if verdict != "PASS")
    assert found.counts["only_in_a"] == found.a.verdicts["PASS"]
    assert found.design == "replicate"


def test_a_secret_that_was_not_kept_is_asked_for_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"Authorization": "Bearer abcdefghij"}
    data = {
        "adapter": {"type": "http", "endpoint": "http://localhost:1/ask", "headers": headers},
        "tests": [{"name": "t", "evaluator": "rag_quality", "cases": [{"query": "a?"}, {"query": "b?"}]}],
    }
    written = load_audit(data).written
    with Store(tmp_path / "plumbline.db") as store:
        case = Case(id="t/2", query="b?", test="t", evaluator="rag_quality")
        store.create_run(a_run(kind="audit", settings={"classifier_type": "audit", **written}), [case])
        store.add_results("run-1", [a_result(case, "FAIL")])
        path = export(store, "run-1", "suite", tmp_path / "failing.yaml")
    assert "abcdefghij" not in path.read_text(encoding="utf-8")
    with pytest.raises(ConfigError) as wrong:
        load_audit(path)
    assert "ADAPTER_HEADERS_AUTHORIZATION is not set" in wrong.value.problems[0].message
    monkeypatch.setenv("ADAPTER_HEADERS_AUTHORIZATION", headers["Authorization"])
    (test,) = load_audit(path).config.tests
    assert [(case.id, case.query) for case in test.cases] == [("2", "b?")]  # type: ignore[attr-defined]


def test_what_cannot_be_run_again_is_said(tmp_path: Path) -> None:
    with Store(tmp_path / "plumbline.db") as store:
        store_run(store, a_run("good"), ["PASS", "PASS"])
        store_run(store, a_run("ready", kind="prepared_rag_results"), ["FAIL"])
        store_run(store, a_run("asked"), ["FAIL"])
        with pytest.raises(StoreError, match="nothing to run again"):
            export(store, "good", "suite", tmp_path)
        with pytest.raises(StoreError, match=r"--out NAME\.json"):
            export(store, "ready", "suite", tmp_path)
        (tmp_path / "x.questions.json").write_text("mine", encoding="utf-8")
        with pytest.raises(StoreError, match="already there"):
            export(store, "asked", "suite", tmp_path / "x.yaml")
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix in (".yaml", ".json")) == [
        "x.questions.json"
    ]


def test_only_cases_names_cases_that_exist() -> None:
    config = yaml.safe_load(AUDIT)
    config["tests"] = [{**config["tests"][0], "only_cases": ["renew_lone"]}]
    with pytest.raises(ConfigError) as wrong:
        run_audit(config)
    assert "did you mean 'renew_loan'" in wrong.value.problems[0].message
