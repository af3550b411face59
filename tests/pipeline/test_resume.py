"""A run killed with SIGKILL in the middle is finished by `--resume` with the result of an undisturbed run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from core import api
from core.errors import ConfigError
from core.pipeline import Progress
from core.store.runs import Store

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "data" / "demo"


def command(output: Path, *more: str) -> list[str]:
    return [
        sys.executable, "-m", "core", "run", str(DEMO / "demo.yaml"),
        "--docs", str(DEMO / "documents"), "--questions", str(DEMO / "questions.json"),
        "--plugins", "tests.plugins.slow_answers", "--answer-mode", "slow_extractive", "--run-name", "killed",
        "--output-dir", str(output), "--cache-dir", str(output / "cache"), "--quiet", *more,
    ]  # fmt: skip


def environment(diary: Path, seconds: float) -> dict[str, str]:
    return {**os.environ, "SLOW_ANSWERS_DIARY": str(diary), "SLOW_ANSWERS_SECONDS": str(seconds)}


def comparable(store: Store, run_id: str) -> list[tuple]:
    """Everything of a run's results that must not depend on how often it was interrupted."""
    return [
        (
            result.case_id,
            result.verdict,
            result.label,
            result.reasons,
            dict(result.scores),
            dict(result.relevance),
        )
        for result in sorted(store.results(run_id), key=lambda each: each.case_id)
    ]


def test_kill_and_resume(tmp_path: Path) -> None:
    diary = tmp_path / "diary.txt"
    killed = tmp_path / "killed"
    store_file = killed / "plumbline.db"
    killed.mkdir()
    watching = Store(store_file)
    process = subprocess.Popen(command(killed), cwd=ROOT, env=environment(diary, 0.3))
    deadline = time.monotonic() + 60
    stored: set[tuple[str, int]] = set()
    while time.monotonic() < deadline and len(stored) < 4:
        time.sleep(0.05)
        runs = watching.runs()
        stored = set(watching.answered(runs[0].id)) if runs else set()
    assert process.poll() is None, "the run ended before it could be killed"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()

    store = Store(store_file)
    run = store.runs()[0]
    kept = {case_id for case_id, _ in store.answered(run.id)}
    assert run.status == "running"
    assert 4 <= len(kept) < run.n_cases
    asked_before = Counter(diary.read_text(encoding="utf-8").split())
    assert set(asked_before) >= kept - refused(store, run.id)

    done = subprocess.run(
        command(killed, "--resume", run.id),
        cwd=ROOT,
        env=environment(diary, 0),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    asked_after = Counter(diary.read_text(encoding="utf-8").split()) - asked_before
    assert not set(asked_after) & kept, "what was stored is not asked again"

    undisturbed = tmp_path / "undisturbed"
    subprocess.run(command(undisturbed), cwd=ROOT, env=environment(tmp_path / "other.txt", 0), check=True)
    other = Store(undisturbed / "plumbline.db")
    sealed = store.run(run.id)
    assert sealed.status == "sealed"
    assert comparable(store, run.id) == comparable(other, other.runs()[0].id)
    assert sealed.verdicts == other.runs()[0].verdicts
    assert [a.model_dump() for a in sealed.aggregates] == [a.model_dump() for a in other.runs()[0].aggregates]


def refused(store: Store, run_id: str) -> set[str]:
    """Cases the pipeline declined before it came to the answerer."""
    return {output.case_id for output in store.outputs(run_id) if output.abstained}


def test_a_sealed_run_cannot_be_resumed(tmp_path: Path) -> None:
    env = environment(tmp_path / "diary.txt", 0)
    subprocess.run(command(tmp_path / "a"), cwd=ROOT, env=env, check=True)
    run = Store(tmp_path / "a" / "plumbline.db").runs()[0]
    again = subprocess.run(
        command(tmp_path / "a", "--resume", run.id),
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 2
    assert "sealed" in again.stderr


LOANS = "A loan of a book lasts four weeks. It may be renewed twice.\n"


class Stopped(Exception):
    pass


def stop(_: Progress) -> None:
    raise Stopped


def test_a_run_is_continued_only_in_the_way_it_was_begun(tmp_path: Path) -> None:
    text = tmp_path / "loans.txt"
    text.write_text(LOANS, encoding="utf-8")
    settings = {
        "docs": [str(text)], "questions": str(DEMO / "questions.json"), "output_dir": str(tmp_path / "out"),
        "cache_dir": str(tmp_path / "cache"),
    }  # fmt: skip
    with pytest.raises(Stopped):
        api.evaluate(settings, on_result=stop)
    begun = Store(tmp_path / "out" / "plumbline.db").runs()[0]
    assert begun.status == "running"
    with pytest.raises(ConfigError, match="begun in another way") as caught:
        api.evaluate({**settings, "retriever": "tfidf", "concurrency": 3}, resume=begun.id)
    assert [problem.where for problem in caught.value.problems] == ["retriever"]
    text.write_text(LOANS + "\nOne more sentence about loans.\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        api.evaluate(settings, resume=begun.id)
    assert [problem.where for problem in caught.value.problems] == ["corpus"]
    text.write_text(LOANS, encoding="utf-8")
    assert (
        api.evaluate({**settings, "parse_timeout": 30, "concurrency": 3}, resume=begun.id).status == "sealed"
    )
