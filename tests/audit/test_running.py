"""The command as its users run it: exit codes, judge or none, repeats, selections, time-outs, resume, reports."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from core.audit.schema import report_schema
from core.llm.loopback import Behaviour, Exchange, LoopbackServer, form_reply
from core.store.runs import Store
from tests.audit.auditing import AGENT, HttpAgent, env, plumbline, report_of, verdicts, waited, write_audit
from tests.servers.messages_api import RuleServer, filled, scripted

GOOD = {
    "name": "good",
    "evaluator": "rag_quality",
    "cases": [{"query": "How long are books lent?", "must_mention": ["28 days"]}],
}
BAD = {
    "name": "bad",
    "evaluator": "rag_quality",
    "cases": [{"query": "How long are books lent?", "must_mention": ["90 days"]}],
}
UNCHECKED = {"name": "open", "evaluator": "rag_quality", "cases": [{"query": "How long are books lent?"}]}
BROKEN = {"name": "broken", "evaluator": "tool_coverage"}


@pytest.mark.parametrize(
    ("tests", "flags", "code"),
    [
        ([GOOD], [], 0),
        ([GOOD, UNCHECKED], [], 0),
        ([GOOD, UNCHECKED], ["--strict"], 1),
        ([GOOD, BAD], [], 1),
        ([GOOD, BROKEN], [], 1),
        ([BROKEN], [], 3),
        ([GOOD], ["--only", "goood"], 2),
        ([GOOD, BAD], ["--only", "good"], 0),
        ([GOOD], ["--require-judge"], 2),
        ([GOOD], ["--concurrency", "many"], 2),
        ([GOOD], ["--resume", "nothing"], 2),
        ([GOOD], ["--resume", "latest"], 2),
    ],
)  # fmt: skip
def test_exit_codes(tests: list[dict], flags: list[str], code: int, tmp_path: Path) -> None:
    write_audit(tmp_path, tests)
    done = plumbline(tmp_path, "run", "audit.yaml", *flags)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_unchecked_is_said_and_counted_and_never_reads_as_pass(tmp_path: Path) -> None:
    write_audit(tmp_path, [GOOD, UNCHECKED])
    done = plumbline(tmp_path, "run", "audit.yaml")
    assert "WARNING: NO JUDGE: ANTHROPIC_API_KEY is not set" in done.stderr
    assert re.search(
        r"2 tests in [\d.]+ s: 1 PASS, 1 WEAK, 0 FAIL, 0 ERROR; 2 cases with unchecked checks", done.stdout
    )
    report = report_of(tmp_path)
    assert report["unchecked"] == 2
    assert [test["unchecked"] for test in report["tests"]] == [["faithfulness", "relevance"]] * 2
    assert report["tests"][1]["artifacts"]["cases"][0]["detail"] == "unchecked"
    assert "unchecked" in (tmp_path / "report" / "report.md").read_text(encoding="utf-8")


JUDGED = [
    {
        "name": "golden",
        "evaluator": "rag_quality",
        "cases": [{"query": "How long are books lent for, in days?", "must_mention": ["28"]}] * 1,
    },
    {
        "name": "citations",
        "evaluator": "citation_audit",
        "sample_queries": ["How long are books lent for, in days?"],
    },
]


def test_a_judge_that_works_decides(tmp_path: Path) -> None:
    with RuleServer() as server:
        judge = {"provider": "anthropic", "base_url": server.url, "api_key_env": "JUDGE_KEY"}
        write_audit(tmp_path, JUDGED, judge=judge)
        done = plumbline(tmp_path, "run", "audit.yaml", "--require-judge", JUDGE_KEY="test-key-1234")
        report = report_of(tmp_path)
        assert [t["unchecked"] for t in report["tests"]] == [[], []], done.stdout + done.stderr
        assert report["tests"][1]["verdict"] == "PASS"
        asked = server.counts.requests
        again = plumbline(tmp_path, "run", "audit.yaml", "--judge-cache", "only")
        assert server.counts.requests == asked, "a replay asks nobody"
        assert again.returncode == done.returncode
        assert [t["metrics"] for t in report_of(tmp_path)["tests"]] == [t["metrics"] for t in report["tests"]]


def test_half_a_judge_moves_no_mean(tmp_path: Path) -> None:
    """Each mean is the mean of what was judged; what was not is counted, and the verdict is ERROR."""
    days = [str(n) for n in range(1, 9)]
    agent = AGENT.replace(
        '"Books are lent for 28 days. [src:loans]"', 'f"Books are lent for {prompt[-2:].strip()} days."'
    )
    agent = agent.replace(
        '"Books are lent for 28 days.", 1.0', 'f"Books are lent for {prompt[-2:].strip()} days.", 1.0'
    )
    cases = [{"query": f"Books are lent for how many days: {n}", "must_mention": [n]} for n in days]
    tests = [{"name": "golden", "evaluator": "rag_quality", "cases": cases}]

    def half(server: LoopbackServer, exchange: Exchange) -> Behaviour:
        if dead and re.search(r"days: [1234]\b", exchange.prompt):
            return Behaviour(body=b"{}")
        return form_reply(server, exchange, filled(exchange))

    means = {}
    for dead in (False, True):
        with scripted(half) as server:
            folder = tmp_path / str(dead)
            folder.mkdir()
            judge = {"base_url": server.url, "api_key_env": "JUDGE_KEY", "retries": 0, "cache": "off"}
            write_audit(folder, tests, agent=agent, judge=judge)
            plumbline(folder, "run", "audit.yaml", JUDGE_KEY="test-key-1234")
            means[dead] = report_of(folder)["tests"][0]
    assert means[False]["metrics"]["n_faithfulness"] == 8
    assert means[True]["metrics"]["n_faithfulness"] == 4
    assert means[True]["metrics"]["mean_faithfulness"] == means[False]["metrics"]["mean_faithfulness"] == 1.0
    assert means[True]["verdict"] == "ERROR"
    assert means[True]["metrics"]["cases_errored"] == 4


def test_a_judge_that_never_answers_does_not_hold_the_process(tmp_path: Path) -> None:
    with LoopbackServer(lambda exchange: Behaviour(kind="hang")) as server:
        judge = {"base_url": server.url, "api_key_env": "JUDGE_KEY", "timeout_s": 1}
        write_audit(tmp_path, [GOOD], judge=judge)
        done = plumbline(tmp_path, "run", "audit.yaml", JUDGE_KEY="test-key-1234")
    test = report_of(tmp_path)["tests"][0]
    assert test["verdict"] == "ERROR"
    assert done.returncode == 3
    assert ended_in_time(tmp_path, done)


def ended_in_time(folder: Path, done: subprocess.CompletedProcess[str]) -> bool:
    """Whether the process was gone within ten seconds of its last record (its exit was awaited with a time-out)."""
    run = Store(folder / "outputs" / "plumbline.db").runs()[0]
    return run.status == "sealed" and run.summary["runtime_seconds"] < 10


def test_an_agent_that_never_returns_fails_in_time_and_the_process_exits(tmp_path: Path) -> None:
    tests = [{"name": "edges", "evaluator": "edge_cases", "cases": [{"kind": "long_input", "timeout_s": 2}]}]
    write_audit(tmp_path, tests, adapter={"module": "agent_under_test", "class": "Hanging"})
    done = plumbline(tmp_path, "run", "audit.yaml", "--no-judge", timeout=60)
    test = report_of(tmp_path)["tests"][0]
    assert (done.returncode, test["verdict"]) == (1, "FAIL")
    assert "no answer within 2 s" in test["detail"]
    assert 2000 <= test["duration_ms"] < 3500
    assert ended_in_time(tmp_path, done)


def test_repeats_flakiness_and_pass_rates(tmp_path: Path) -> None:
    agent = (
        AGENT
        + """

class Flaky(Agent):
    asked = 0

    def query(self, prompt, *, conversation=None):
        Flaky.asked += 1
        return RagResponse("28 days" if Flaky.asked % 3 else "no idea")
"""
    )
    case = {"query": "How long?", "must_mention": ["28 days"]}
    tests = [
        {"name": "strict", "evaluator": "rag_quality", "cases": [case]},
        {"name": "lenient", "evaluator": "rag_quality", "cases": [case], "min_pass_rate": 0.5},
    ]
    write_audit(tmp_path, tests, agent=agent, adapter={"module": "agent_under_test", "class": "Flaky"})
    done = plumbline(tmp_path, "run", "audit.yaml", "--no-judge", "--repeats", "4")
    assert done.returncode == 1
    assert verdicts(tmp_path) == {"strict": "FAIL", "lenient": "PASS"}
    rows = [test["artifacts"]["repeats"][0] for test in report_of(tmp_path)["tests"]]
    for row in rows:
        assert (row["n"], row["passed"], row["pass_rate"]) == (4, 3, 0.75)
        assert (row["pass_all"], row["pass_any"], row["flaky"]) == (False, True, True)
        assert (row["low"], row["high"]) == pytest.approx((0.3006, 0.9544), abs=1e-4)  # Wilson


def test_failed_asks_only_what_failed(tmp_path: Path) -> None:
    write_audit(tmp_path, [GOOD, BAD, {**BAD, "name": "worse"}])
    plumbline(tmp_path, "run", "audit.yaml", "--no-judge")
    plumbline(
        tmp_path, "run", "audit.yaml", "--no-judge", "--only", "bad"
    )  # says nothing about the other tests
    diary = tmp_path / "diary.txt"
    done = plumbline(tmp_path, "run", "audit.yaml", "--no-judge", "--failed", AGENT_DIARY=str(diary))
    assert verdicts(tmp_path) == {"bad": "FAIL", "worse": "FAIL"}
    assert diary.read_text(encoding="utf-8").count("asked") == 2
    assert "2 of 3 cases are asked" in done.stderr


def test_retry_errors_asks_only_the_errors(tmp_path: Path) -> None:
    calm = {"on": False}

    def answer(body: dict, headers: dict, number: int) -> object:
        return (
            (503, {}, "busy") if "films" in body["prompt"] and not calm["on"] else {"text": "Books: 28 days."}
        )

    films = {"query": "How long are films lent?", "must_mention": ["28 days"]}
    with HttpAgent(answer) as agent:
        tests = [{"name": "golden", "evaluator": "rag_quality", "cases": [*GOOD["cases"], films]}]
        write_audit(tmp_path, tests, adapter={"type": "http", "endpoint": agent.url}, run={"retries": 0})
        first = plumbline(tmp_path, "run", "audit.yaml", "--no-judge")
        assert (first.returncode, verdicts(tmp_path)) == (3, {"golden": "ERROR"})
        run_id = re.search(r"run (\S+)$", first.stdout.strip())[1]
        agent.requests.clear()
        calm["on"] = True
        again = plumbline(tmp_path, "run", "audit.yaml", "--no-judge", "--retry-errors", run_id)
        assert (again.returncode, verdicts(tmp_path)) == (0, {"golden": "PASS"})
        assert [body["prompt"] for body, _ in agent.requests] == ["How long are films lent?"]


def test_kill_9_half_way_and_resume(tmp_path: Path) -> None:
    cases = [
        {"query": f"Question {n}: how long are books lent?", "must_mention": ["28 days"]} for n in range(12)
    ]
    tests = [{"name": "golden", "evaluator": "rag_quality", "cases": cases}, {**GOOD, "name": "more"}]
    write_audit(tmp_path, tests)
    diary = tmp_path / "diary.txt"
    arguments = [sys.executable, "-m", "core", "run", "audit.yaml", "--no-judge", "--quiet"]
    process = subprocess.Popen(arguments, cwd=tmp_path, env=env(AGENT_DIARY=str(diary), AGENT_SECONDS="0.4"))
    store = Store(tmp_path / "outputs" / "plumbline.db")
    assert waited(lambda: bool(store.runs()) and len(store.answered(store.runs()[0].id)) >= 4)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    run = store.runs()[0]
    kept = {case_id for case_id, _ in store.answered(run.id)}
    before = Counter(diary.read_text(encoding="utf-8").splitlines())
    done = plumbline(
        tmp_path, "run", "audit.yaml", "--no-judge", "--resume", "latest", AGENT_DIARY=str(diary)
    )
    assert done.returncode == 0, done.stderr
    after = Counter(diary.read_text(encoding="utf-8").splitlines()) - before
    asked = sum(count for line, count in after.items() if line.startswith("asked"))
    assert asked == 13 - len(kept)
    resumed = comparable(report_of(tmp_path))
    plumbline(tmp_path, "run", "audit.yaml", "--no-judge")
    assert resumed == comparable(report_of(tmp_path))


def comparable(report: dict) -> dict:
    """A report without what differs from run to run: ids, times, durations."""
    kept = {key: value for key, value in report.items() if key not in ("run", "versions")}
    return {
        **kept,
        "tests": [{k: v for k, v in test.items() if k != "duration_ms"} for test in report["tests"]],
    }


def test_results_stand_in_config_order_whatever_finished_first(tmp_path: Path) -> None:
    def answer(body: dict, headers: dict, number: int) -> object:
        time.sleep(0.6 if "slow" in body["prompt"] else 0.0)
        return {"text": body["prompt"]}

    with HttpAgent(answer) as agent:
        cases = [
            {"query": f"{speed} {n}", "must_mention": [str(n)]}
            for n, speed in enumerate(["slow", "quick"] * 4)
        ]
        tests = [{"name": name, "evaluator": "rag_quality", "cases": cases} for name in ("z", "a")]
        write_audit(tmp_path, tests, adapter={"type": "http", "endpoint": agent.url})
        plumbline(tmp_path, "run", "audit.yaml", "--no-judge", "--concurrency", "16")
        assert agent.most > 8
    report = report_of(tmp_path)
    assert [test["name"] for test in report["tests"]] == ["z", "a"]
    for test in report["tests"]:
        assert [row["query"] for row in test["artifacts"]["cases"]] == [case["query"] for case in cases]


HOSTILE = "\x1b[31m</td><script>alert(1)</script> | pipe `x` \x00 ]]> ::error::x\n::set-output name=a::b [bold]no[/] ![i](http://x/y)"


def test_hostile_text_stays_text_in_every_report(tmp_path: Path) -> None:
    agent = AGENT.replace(
        '"Books are lent for 28 days. [src:loans]", [Citation("1", "loans", "")]',
        f"{HOSTILE!r}, [Citation('1', {HOSTILE!r})]",
    )
    tests = [
        {"name": "a <b> | c", "evaluator": "citation_audit", "sample_queries": [HOSTILE]},
        {
            "name": "quality",
            "evaluator": "rag_quality",
            "cases": [{"query": HOSTILE, "must_mention": [HOSTILE + "x"]}],
        },
    ]
    write_audit(tmp_path, tests, agent=agent)
    done = plumbline(tmp_path, "run", "audit.yaml", "--no-judge", "--junit", "made/junit.xml", "--github")
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    annotations = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert len(annotations) == 2
    assert all(line.startswith("::error file=audit.yaml,title=FAIL ") for line in annotations)
    markdown = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "<script>" not in markdown.replace("\\<script\\>", "")
    table = [line for line in markdown.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {7}
    suite = ElementTree.parse(tmp_path / "made" / "junit.xml").getroot()[0]
    assert [case.get("name") for case in suite] == ["a <b> | c", "quality"]
    assert suite.get("failures") == "2"
    report = report_of(tmp_path)
    jsonschema.validate(report, report_schema())
    assert report["tests"][1]["artifacts"]["cases"][0]["response_text"] == HOSTILE


def test_every_report_follows_the_published_schema(tmp_path: Path) -> None:
    demo = str(Path(__file__).resolve().parents[2] / "data" / "demo_agent" / "audit.yaml")
    plumbline(tmp_path, "run", demo, "--no-judge", "--repeats", "2", "--out-dir", "report")
    report = report_of(tmp_path)
    jsonschema.validate(report, report_schema())
    assert report["summary"] == {"PASS": 6, "WEAK": 0, "FAIL": 0, "ERROR": 0}
    assert all(isinstance(v, float) for test in report["tests"] for v in test["metrics"].values())
    run = Store(tmp_path / "outputs" / "plumbline.db").runs(kind="audit")[0]
    assert (run.verdicts["PASS"], run.repeats) == (run.n_cases, 2)
    assert json.loads((Path(tmp_path) / run.folder / "run_summary.json").read_text(encoding="utf-8"))


def test_secrets_are_in_no_store_report_or_log(tmp_path: Path) -> None:
    """An agent that echoes its headers in answers and in errors gives nothing away."""

    def answer(body: dict, headers: dict, number: int) -> object:
        told = json.dumps(headers)
        return (
            (418, {}, told) if "teapot" in body["prompt"] else {"text": f"28 days {told}", "debug": headers}
        )

    with HttpAgent(answer) as agent:
        adapter = {
            "type": "http",
            "endpoint": f"{agent.url}/?api_token=${{URL_TOKEN}}",
            "headers": {"Authorization": "Bearer ${AGENT_TOKEN}", "X-Api-Key": "literal-secret-77"},
            "profiles": {"ben": {"Authorization": "Bearer bens-secret-55"}},
        }
        cases = [
            *GOOD["cases"],
            {"query": "teapot?", "must_mention": ["x"]},
            {"query": "Ben?", "credentials": "ben", "must_mention": ["28"]},
        ]
        write_audit(
            tmp_path, [{"name": "golden", "evaluator": "rag_quality", "cases": cases}], adapter=adapter
        )
        done = plumbline(
            tmp_path,
            "run",
            "audit.yaml",
            "--no-judge",
            AGENT_TOKEN="env-secret-99",
            URL_TOKEN="url-secret-33",
        )
        sent = [headers for _, headers in agent.requests]
    assert any("env-secret-99" in str(headers) for headers in sent)
    assert any("bens-secret-55" in str(headers) for headers in sent)
    places = [path for path in tmp_path.rglob("*") if path.is_file() and path.name not in ("audit.yaml",)]
    texts = {str(path): path.read_bytes() for path in places} | {
        "stdout": done.stdout.encode(),
        "stderr": done.stderr.encode(),
    }
    assert any(name.endswith("plumbline.db") for name in texts)
    for secret in (b"env-secret-99", b"literal-secret-77", b"bens-secret-55", b"url-secret-33"):
        assert [name for name, text in texts.items() if secret in text] == []
    settings = Store(tmp_path / "outputs" / "plumbline.db").runs()[0].settings
    assert settings["adapter"]["headers"] == {
        "Authorization": "Bearer ${AGENT_TOKEN}",
        "X-Api-Key": "**********",
    }


def test_the_plan_asks_nothing(tmp_path: Path) -> None:
    write_audit(tmp_path, [GOOD, BAD])
    diary = tmp_path / "diary.txt"
    done = plumbline(tmp_path, "run", "audit.yaml", "--no-judge", "--plan", AGENT_DIARY=str(diary))
    assert done.returncode == 0
    assert "2 tests, 2 cases × 1; judge: none" in done.stdout
    assert "asked" not in diary.read_text(encoding="utf-8")
