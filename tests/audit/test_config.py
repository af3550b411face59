"""Everything wrong in a configuration is found at once, with its line, before anything is built or asked."""

from __future__ import annotations

import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from core.audit.reading import load_audit
from core.audit.schema import config_schema
from core.errors import ConfigError, Problem
from tests.audit.auditing import ROOT, HttpAgent, plumbline, write_audit

GOLDEN = {
    "name": "golden",
    "evaluator": "rag_quality",
    "cases": [{"query": "How long?", "must_mention": ["28 days"]}],
}

WRONG = """
adapter: {type: python, module: not_there_at_all, class: Agent}
judge: {provider: anthropic, modell: claude}
thresholds: {faithfulness_pass: 0.5, faithfulness_weak: 0.9}
run: {timeout_s: -1}
plugins: [no_such_plugin]
tests:
  - {name: a, evaluator: rag_qualty, cases: []}
  - name: b
    evaluator: rag_quality
    cases:
      - {query: "x", must_mentoin: ["y"]}
  - name: c
    evaluator: edge_cases
    cases:
      - {kind: long_input, lenght: 5}
      - {kind: multi_turn, turns: [], final_query: ""}
  - {name: c, evaluator: citation_audit, sample_queries: ["q"], citation_pattern: "["}
  - {name: d, evaluator: tool_coverage, required_args: {search: {type: object, properties: 7}}}
  - {name: e, evaluator: rag_quality, cases: [{query: x, must_cite: [s], must_not_cite: true}]}
nonsense: 1
"""


def problems(text: str, tmp_path: Path) -> list[Problem]:
    path = tmp_path / "audit.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_audit(path)
    return list(caught.value.problems)


def test_all_problems_at_once_with_lines(tmp_path: Path) -> None:
    found = problems(WRONG, tmp_path)
    told = {(p.where, p.line) for p in found}
    assert told == {
        ("adapter.module", 2),
        ("judge.modell", 3),
        ("thresholds", 4),
        ("run.timeout_s", 5),
        ("plugins", None),
        ("tests.0.evaluator", 8),
        ("tests.1.cases.0.must_mentoin", 12),
        ("tests.2.cases.0.lenght", 16),
        ("tests.2.cases.1.turns", 17),
        ("tests.2.cases.1.final_query", 17),
        ("tests.2", 13),
        ("tests.3", 18),
        ("tests.3.citation_pattern", 18),
        ("tests.4.required_args", 19),
        ("tests.5.cases.0", 20),
        ("nonsense", 21),
    }
    by_place = {p.where: p.message for p in found}
    assert "did you mean 'must_mention'?" in by_place["tests.1.cases.0.must_mentoin"]
    assert "did you mean 'length'?" in by_place["tests.2.cases.0.lenght"]
    assert "did you mean 'rag_quality'?" in by_place["tests.0.evaluator"]
    assert "did you mean 'model'?" in by_place["judge.modell"]
    assert not [p for p in found if "at least 1 item after validation" in p.message]


def test_nothing_is_built_or_asked_before_all_of_it_is_valid(tmp_path: Path) -> None:
    tests = [GOLDEN, {"name": "last", "evaluator": "edge_cases", "cases": [{"kind": "empty_inputs"}]}]
    write_audit(tmp_path, tests)
    diary = tmp_path / "diary.txt"
    done = plumbline(tmp_path, "run", "audit.yaml", "--no-judge", AGENT_DIARY=str(diary))
    assert done.returncode == 2
    assert "tests.1.cases.0" in done.stderr
    assert not diary.exists()
    assert not (tmp_path / "report").exists()


def test_an_http_agent_sees_no_request_before_all_of_it_is_valid(tmp_path: Path) -> None:
    with HttpAgent(lambda body, headers, number: {"text": "x"}) as agent:
        adapter = {"type": "http", "endpoint": agent.url, "corpus": "missing.jsonl"}
        write_audit(tmp_path, [GOLDEN], adapter=adapter)
        done = plumbline(tmp_path, "run", "audit.yaml", "--no-judge")
        assert done.returncode == 2
        assert "no such file or folder: missing.jsonl" in done.stderr
        assert agent.requests == []


@pytest.mark.parametrize(
    ("adapter", "where"),
    [
        ({"type": "http", "endpoint": "localhost:8000"}, "adapter.endpoint"),
        ({"type": "https", "endpoint": "x"}, "adapter.type"),
        ({"type": "http", "endpoint": "http://x", "headers": {"Authorization": "${NOT_SET_ANYWHERE}"}},
         "adapter.headers.Authorization"),
        ({"type": "openai", "base_url": "http://x", "model": "m", "tools": [{"name": "t", "callable": "os:nope"}]},
         "adapter.tools.0.callable"),
        ({"type": "langchain", "module": "os", "attribute": "nope"}, "adapter.module"),
        ({"type": "pipeline", "settings": {"chunkin": "x", "docs": "data/demo/documents"}}, "adapter.settings.chunkin"),
        ({"type": "prepared", "path": "nope.jsonl"}, "adapter.path"),
        ({"module": "os", "class": "Nope"}, "adapter.module"),
    ],
)  # fmt: skip
def test_what_an_adapter_names_is_looked_up(adapter: dict, where: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_audit({"adapter": adapter, "tests": [GOLDEN]})
    assert [p.where for p in caught.value.problems] == [where]


@pytest.mark.parametrize("tests", [None, [], "x", {}])
def test_without_tests_there_is_no_audit(tests: object) -> None:
    with pytest.raises(ConfigError, match="at least one test"):
        load_audit({"adapter": {"type": "http", "endpoint": "http://x"}, "tests": tests})


def test_system_is_the_same_as_adapter_and_old_keys_are_accepted(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "data" / "demo_agent"))
    loaded = load_audit(
        {
            "system": {"type": "python", "module": "support_agent", "class": "SupportAgent"},
            "judge": {"fixtures_path": "fixtures", "max_concurrency": 2},
            "tests": [
                {"name": "c", "evaluator": "citation_audit", "sample_queries": ["q"], "sample_size": 10}
            ],
        }
    )
    assert loaded.config.adapter.type == "python"
    assert len(loaded.notices) == 2


def test_the_published_schema_accepts_the_demo_and_refuses_typos() -> None:
    schema = config_schema()
    demo = yaml.safe_load((ROOT / "data" / "demo_agent" / "audit.yaml").read_text(encoding="utf-8"))
    jsonschema.validate(demo, schema)
    starter = yaml.safe_load((ROOT / "core" / "audit" / "starter.yaml").read_text(encoding="utf-8"))
    jsonschema.validate(starter, schema)
    demo["tests"][1]["cases"][0]["must_mentoin"] = ["x"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(demo, schema)
