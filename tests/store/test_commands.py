"""The commands, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from core.cli import cli
from core.errors import EvalError
from core.store.runs import Store
from tests.store.made import a_run, a_store, store_run


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    with a_store(tmp_path) as store:
        store_run(store, a_run("run-a", name="base [bold]"), ["PASS"] * 12, mrr_at_k=[1.0] * 12)
        later = a_run("run-b", name="new", created_at="2026-01-02T00:00:00+00:00")
        store_run(store, later, ["FAIL"] * 9 + ["PASS"] * 3, mrr_at_k=[0.5] * 12)
        return store.path


def call(path: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, [*arguments, "--store-path", str(path)])


def test_compare(stored: Path, tmp_path: Path) -> None:
    done = call(stored, "compare", "run-a", "run-b", "--html", str(tmp_path / "x.html"))
    assert done.exit_code == 0, done.output
    assert "9 broken" in done.output
    assert "base [bold]" in done.output
    assert "0 gained, 9 lost" in " ".join(done.output.split())
    assert (tmp_path / "x.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    found = json.loads(call(stored, "compare", "run-a", "run-b", "--json").output)
    assert (found["counts"]["broken"], found["comparable"]) == (9, True)


def test_gate(stored: Path, tmp_path: Path) -> None:
    policy = tmp_path / "gate.yaml"
    policy.write_text(
        "metrics:\n  - {name: pass_rate, margin: 0.05, min: 0.5}\nmust_pass: [q11]\n", encoding="utf-8"
    )
    files = {name: tmp_path / name for name in ("pr.md", "junit.xml")}
    done = call(
        stored, "gate", "run-b", "--baseline", "run-a", "--policy", str(policy), "--github",
        "--markdown", str(files["pr.md"]), "--junit", str(files["junit.xml"]),
    )  # fmt: skip
    assert done.exit_code == 1, done.output
    assert "::error title=Plumbline gate::FAIL" in done.output
    assert "q11 must pass: PASS" in done.output
    assert "Plumbline gate: FAIL" in files["pr.md"].read_text(encoding="utf-8")
    with Store(stored, readonly=True) as store:
        assert [gate.verdict for gate in store.gates()] == ["FAIL"]
    assert call(stored, "gate", "run-a", "--baseline", "run-a").exit_code == 0
    policy.write_text("metrics: []\n", encoding="utf-8")
    refused = call(stored, "gate", "run-b", "--policy", str(policy))
    assert isinstance(refused.exception, EvalError)
    assert refused.exception.exit_code == 2


def test_store_commands(stored: Path, tmp_path: Path) -> None:
    assert "2026-01-02" in call(stored, "store", "list").output
    assert [run["id"] for run in json.loads(call(stored, "store", "list", "--json").output)] == [
        "run-b",
        "run-a",
    ]
    assert "tags: nightly" in call(stored, "store", "tag", "run-a", "nightly").output
    assert "seen" in call(stored, "store", "note", "run-a", "seen").output
    assert "baseline 'main' is run-a" in call(stored, "store", "baseline", "set", "main", "run-a").output
    assert "main: run-a" in call(stored, "store", "baseline", "list").output
    protected = call(stored, "store", "delete", "run-a")
    assert isinstance(protected.exception, EvalError)
    assert "deleted run-b" in call(stored, "store", "delete", "new").output
    assert "run-b" in call(stored, "store", "list", "--deleted").output
    assert "run-b is back" in call(stored, "store", "undo").output
    assert "would delete 1 runs" in call(stored, "store", "retain", "--keep", "0", "--dry-run").output
    assert call(stored, "store", "check").output.endswith("ok\n")
    assert "purged 0 runs" in call(stored, "store", "vacuum").output
    assert call(stored, "store", "archive", "run-b").output == "archived\n"
    portable = tmp_path / "b.plumbline"
    assert "written" in call(stored, "store", "export", "run-b", str(portable)).output
    assert "1 new: run-b" in call(tmp_path / "fresh.db", "store", "import", str(portable)).output
    assert "nothing new" in call(tmp_path / "fresh.db", "store", "import", str(portable)).output


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    for arguments in (
        ["store", "check"],
        ["store", "vacuum"],
        ["gate", "x"],
        ["compare", "a", "b"],
        ["export", "a"],
    ):
        done = call(tmp_path / "none.db", *arguments)
        assert isinstance(done.exception, EvalError), arguments
        assert "no run store at" in str(done.exception)
    assert not (tmp_path / "none.db").exists()


def test_export(stored: Path, tmp_path: Path) -> None:
    done = call(stored, "export", "run-b", "--format", "suite", "--out", str(tmp_path / "failing.json"))
    assert done.exit_code == 0, done.output
    assert len(json.loads((tmp_path / "failing.json").read_text(encoding="utf-8"))) == 9
