"""`plumbline judge …` as a user calls it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from core.cli import cli
from tests.servers.messages_api import RuleServer


def call(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["judge", *arguments])


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    file = tmp_path / "labels.csv"
    rows = (
        [("pass", "pass")] * 40
        + [("fail", "fail")] * 18
        + [("fail", "pass")] * 2
        + [("", "pass")] * 60
        + [("", "fail")] * 20
    )
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["human", "judge"])
        writer.writerows(rows)
    return file


def test_check_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    done = call("check")
    assert done.exit_code == 0, done.output
    assert "97/97 malformed replies gave no score" in done.output
    assert "ANTHROPIC_API_KEY is not set" in done.output


def test_check_asks_the_judge_itself() -> None:
    with RuleServer() as server:
        done = call(
            "check", "--provider", "openai", "--base-url", server.chat_url, "--api-key-env", "", "--json"
        )
        assert server.counts.requests > 20
    report = {check["name"]: check["outcome"] for check in json.loads(done.output)["checks"]}
    assert report["answers"] == "held"
    assert report["well-formed reply is scored"] == "held"
    assert report["fact changed, with a command in the answer (library-en)"] == "held"
    # the rule takes courtesies for claims: a real weakness of this judge, and the check says so
    assert report["padded with courtesies (library-en)"] == "failed"
    assert done.exit_code == 1


def test_check_reports_a_judge_that_does_not_answer() -> None:
    from core.llm.loopback import LoopbackServer, error_reply

    with LoopbackServer(lambda x: error_reply(400, "no such model")) as server:
        done = call("check", "--base-url", server.url, "--api-key-env", "")
    assert done.exit_code == 1
    assert "no such model" in done.output


def test_probe_prints_counts_and_cost(tmp_path: Path) -> None:
    config = tmp_path / "judge.yaml"
    with RuleServer() as server:
        config.write_text(
            f"judge: {{provider: anthropic, base_url: '{server.url}', api_key_env: ''}}\n", encoding="utf-8"
        )
        done = call("probe", str(config))
    assert "5/6  fact changed" in done.output
    assert "calls, cost $" in done.output


def test_agreement(labelled: Path) -> None:
    done = call("agreement", str(labelled), "--pass", "pass")
    assert done.exit_code == 0, done.output
    assert "items          60" in done.output
    assert "kappa          0.923" in done.output
    assert "ppi++" in done.output
    assert "judge          validated" in done.output
    report = json.loads(call("agreement", str(labelled), "--pass", "pass", "--json").output)
    assert report["specificity"]["value"] == pytest.approx(0.9)
    assert report["pass_rate"]["low"] < report["pass_rate"]["value"] < report["pass_rate"]["high"]


def test_agreement_with_an_anchor_set(labelled: Path) -> None:
    done = call("agreement", str(labelled), "--pass", "pass", "--anchor")
    assert "rogan-gladen" in done.output
    # p = .75, sensitivity 1, specificity .9
    assert "pass rate      0.722" in done.output


def test_agreement_explains_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text('{"humen": "pass", "judge": "pass"}\n', encoding="utf-8")
    done = call("agreement", str(file))
    assert "did you mean 'humen'" in str(done.exception)
    assert getattr(done.exception, "exit_code", None) == 2


def test_fit_writes_what_the_local_judge_reads(tmp_path: Path) -> None:
    rows, fit = tmp_path / "claims.jsonl", tmp_path / "fit.json"
    with rows.open("w", encoding="utf-8") as out:
        for number in range(20):
            source = f"Course {number} has {number + 3} credits and ends with a written exam in summer."
            out.write(
                json.dumps(
                    {"claim": f"Course {number} has {number + 3} credits.", "source": source, "human": "yes"}
                )
                + "\n"
            )
            out.write(
                json.dumps(
                    {"claim": f"Course {number} has {number + 9} credits.", "source": source, "human": "no"}
                )
                + "\n"
            )
    done = call("fit", str(rows), "--output", str(fit))
    assert done.exit_code == 0, done.output
    assert "may decide verdicts" in done.output
    from core.judge import create_judge

    assert create_judge({"provider": "local", "fitted": str(fit)}, cache_dir=None).decides


def test_unknown_provider() -> None:
    done = call("check", "--provider", "antropic")
    assert "did you mean 'anthropic'" in str(done.exception)
