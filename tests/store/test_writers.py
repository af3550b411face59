"""Several programs at once, and programs that are killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.errors import EmptyStoreError
from core.store.runs import Store
from tests.store.made import a_run, a_store, an_output, some_cases, store_run

ROOT = Path(__file__).resolve().parents[2]
_WRITE = """
import sys
from core.store.runs import Store
from tests.store.made import an_output, some_cases
path, run_id, first, last = sys.argv[1:]
with Store(path) as store:
    for case in some_cases(int(last))[int(first):]:
        store.add_outputs(run_id, [an_output(case)])
        print(case.id, flush=True)
"""


def writer(path: Path, run_id: str, first: int, last: int) -> subprocess.Popen[str]:
    """A process that stores outputs one by one and prints each id when it is acknowledged."""
    arguments = [sys.executable, "-c", _WRITE, str(path), run_id, str(first), str(last)]
    return subprocess.Popen(
        arguments, stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )


def test_several_processes_write_at_once_and_lose_nothing(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        cases = some_cases(120)
        for name in ("run-1", "run-2"):
            store.create_run(a_run(name), cases)
        processes = [
            writer(store.path, run, first, first + 60) for run in ("run-1", "run-2") for first in (0, 60)
        ]
        for process in processes:
            process.communicate(timeout=120)
            assert process.returncode == 0
        for name in ("run-1", "run-2"):
            assert store.outputs(name) == [an_output(case) for case in cases]
        assert store.check() == []


def test_two_processes_may_make_the_store_together(tmp_path: Path) -> None:
    path = tmp_path / "new" / "plumbline.db"
    code = f"from core.store.runs import Store; Store({str(path)!r}).close()"
    processes = [subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) for _ in range(3)]
    assert [process.wait(timeout=120) for process in processes] == [0, 0, 0]
    with Store(path) as store:
        assert store.check() == []


def kill_rounds(folder: Path, rounds: int, *, per_round: int = 400) -> dict[str, int]:
    """Kill a writer again and again while a reader is attached; what was acknowledged must be there, the sealed
    run unchanged, the file sound. Returns figures; raises AssertionError when something is lost."""
    with a_store(folder) as store, Store(store.path, readonly=True) as reader:
        sealed = store_run(store, a_run("sealed"), ["PASS", "FAIL", "WEAK"])
        kept_outputs, kept_results = store.outputs("sealed"), store.results("sealed")
        acknowledged = 0
        for number in range(rounds):
            run_id = f"run-{number}"
            store.create_run(a_run(run_id), some_cases(per_round))
            process = writer(store.path, run_id, 0, per_round)
            assert process.stdout is not None
            said = [process.stdout.readline().strip() for _ in range(1 + number % 7)]
            time.sleep((number % 5) * 0.002)
            reader.answered(run_id)
            os.kill(process.pid, signal.SIGKILL)
            said += process.stdout.read().split()
            process.wait()
            stored = {case_id for case_id, _ in reader.answered(run_id)}
            missing = {name for name in said if name} - stored
            assert not missing, f"acknowledged and lost: {missing}"
            acknowledged += len(said)
        assert reader.run("sealed") == sealed
        assert (reader.outputs("sealed"), reader.results("sealed")) == (kept_outputs, kept_results)
        assert store.check() == []
    connection = sqlite3.connect(folder / "plumbline.db")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    return {"rounds": rounds, "acknowledged": acknowledged}


def test_kill_9_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    figures = kill_rounds(tmp_path, 6)
    assert figures["acknowledged"] >= 6


_MAKE = """
import sys
from core.store.runs import Store
for number in range(25):
    Store(f"{sys.argv[1]}/{number}.db").close()
"""
_READ = """
import os, sys
from core.store.runs import Store
for number in range(25):
    path = f"{sys.argv[1]}/{number}.db"
    while not os.path.exists(path):
        pass
    with Store(path, readonly=True) as store:
        assert store.runs() == []
"""


def test_a_store_that_is_being_made_is_read_as_an_empty_one(tmp_path: Path) -> None:
    reader, maker = (
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, stderr=subprocess.PIPE, text=True
        )
        for code in (_READ, _MAKE)
    )
    assert maker.wait(120) == 0, maker.stderr
    _, trouble = reader.communicate(timeout=120)
    assert reader.returncode == 0, trouble


def test_a_file_in_which_no_store_was_made_is_said_to_be_empty(tmp_path: Path) -> None:
    path = tmp_path / "plumbline.db"
    path.touch()
    with pytest.raises(EmptyStoreError, match="is empty"):
        Store(path, readonly=True)
