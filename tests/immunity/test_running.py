"""Running (immunity C): equal runs give equal bytes; loops, threads, folders, linear work, unknown prices."""

from __future__ import annotations

import asyncio
import cProfile
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from core import api
from core.contracts import ScoringContext
from core.evaluation.document_answers import DocumentAnswers
from core.evaluation.summary import aggregate, summarise
from core.llm.usage import prices
from core.records import Case, Hit, Output, Run, Usage
from core.statistics.paired import sign_flip
from core.store.export import export, write_run_folder
from core.store.runs import Store

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "data" / "demo"


def _run(folder: Path, hash_seed: str, concurrency: str) -> None:
    subprocess.run(
        [
            sys.executable, "-m", "core", "run", str(DEMO / "demo.yaml"),
            "--docs", str(DEMO / "documents"), "--questions", str(DEMO / "questions.json"),
            "--concurrency", concurrency, "--run-name", f"seed {hash_seed}", "--output-dir", str(folder),
            "--cache-dir", str(folder / "cache"), "--quiet",
        ],
        cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": hash_seed}, check=True, capture_output=True,
    )  # fmt: skip


def test_equal_runs_give_equal_bytes_under_any_hash_seed_and_concurrency(tmp_path: Path) -> None:
    made = (("0", "1"), ("7", "4"))
    for hash_seed, concurrency in made:
        _run(tmp_path / hash_seed, hash_seed, concurrency)
    for form in ("csv", "jsonl", "html"):
        exported = []
        for hash_seed, _ in made:
            store = Store(tmp_path / hash_seed / "plumbline.db")
            out = tmp_path / f"{hash_seed}.{form}"
            exported.append(export(store, store.runs()[0].id, form, out, canonical=True).read_bytes())
        assert exported[0] == exported[1], form


def _settings(folder: Path, **more: Any) -> dict[str, Any]:
    return {
        "docs": [str(DEMO / "documents")],
        "questions": str(DEMO / "questions.json"),
        "output_dir": str(folder / "outputs"),
        "cache_dir": str(CACHE),
        **more,
    }


CACHE = Path(tempfile.gettempdir()) / f"plumbline-immunity-{os.getpid()}"


@pytest.fixture(scope="module", autouse=True)
def _no_cache_left() -> Iterator[None]:
    yield
    shutil.rmtree(CACHE, ignore_errors=True)


def test_evaluate_works_from_a_running_loop_and_from_a_thread(tmp_path: Path) -> None:
    async def inside() -> tuple[Run, bool]:
        loop = asyncio.get_running_loop()
        run = api.evaluate(_settings(tmp_path, limit=2))
        await asyncio.sleep(0)
        return run, loop is asyncio.get_running_loop()

    run, same_loop = asyncio.run(inside())
    assert (run.status, same_loop) == ("sealed", True)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(api.evaluate, _settings(tmp_path, limit=2)).result().verdicts == run.verdicts


def test_the_folder_of_another_run_is_never_touched(tmp_path: Path) -> None:
    first, second = (api.evaluate(_settings(tmp_path, limit=2, run_name="same")) for _ in range(2))
    assert first.id != second.id
    assert first.folder != second.folder
    for run in (first, second):
        told = json.loads((Path(run.folder or "") / "run_summary.json").read_text(encoding="utf-8"))
        assert told["run_id"] == run.id


def _calls(work: Callable[[], object]) -> int:
    """Python calls made by a piece of work: the same on every machine."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())  # type: ignore[attr-defined]


def _asked(n: int, start: int) -> tuple[list[Case], list[Output]]:
    """`n` cases whose texts no other call has: nothing is remembered from an earlier one."""
    numbers = range(start, start + n)
    cases = [Case(id=f"q{i}", query=f"How long is loan {i}?", gold_answer=f"{i} weeks") for i in numbers]
    hits = tuple(
        Hit(id=f"c{i}", rank=i, text=f"Loan {start + i} lasts {i} weeks. It may be renewed.")
        for i in range(1, 4)
    )
    return cases, [Output(case_id=f"q{i}", text=f"It is {i} weeks. [1]", hits=hits) for i in numbers]


def test_twice_the_cases_take_twice_the_work(tmp_path: Path) -> None:
    def work(n: int) -> int:
        cases, outputs = _asked(n, 1000 * n)
        evaluator = DocumentAnswers()
        run = Run(
            id=f"run-{n}",
            name="x",
            kind="document_qa",
            suite="s",
            suite_digest="d",
            created_at="2026",
            n_cases=n,
        )

        def everything() -> None:
            with Store(tmp_path / f"{n}.db") as store:
                store.create_run(run, cases)
                store.add_outputs(run.id, outputs)
                results = [
                    evaluator.evaluate(case, output, ScoringContext())
                    for case, output in zip(cases, outputs, strict=True)
                ]
                store.add_results(run.id, results)
                rows = aggregate(cases, results)
                sealed = store.seal(
                    run.id,
                    summary=summarise("document_qa", cases, outputs, results, rows),
                    aggregates=rows,
                    verdicts={},
                )
                write_run_folder(store, sealed.id, tmp_path / f"folder-{n}")

        return _calls(everything)

    work(10)  # what is loaded and compiled once
    assert work(240) <= 2.2 * work(120)


def test_an_unknown_price_is_unknown_and_not_zero() -> None:
    table = prices()
    used = Usage(calls=1, input_tokens=1000, output_tokens=1000)
    assert table.cost("a-model-nobody-knows", used) is None
    assert (table.cost(next(iter(table.models)), used) or 0) > 0


def test_a_permutation_test_needs_no_memory_for_all_its_resamples() -> None:
    differences = [((i * 37) % 11 - 5) / 10 for i in range(2_000)]
    sign_flip(differences[:50], resamples=99)
    tracemalloc.start()
    sign_flip(differences, resamples=9_999)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 80_000_000, "resamples × n would be 160 MB"
