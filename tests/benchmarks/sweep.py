"""40 lexical configurations over the 19 regulation PDFs and their 60 questions, against separate runs.

    python -m tests.benchmarks sweep [--jobs 2] [--separate 3]

Seconds are user + system CPU of the process tree, unless they say wall. A separate run is its own process; "cold"
parses the documents itself, "parsed" finds them in the cache.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from core.sweep_grid import load_sweep
from tests.real_data import REAL_DATA

PDFS = REAL_DATA / "ulm_examination_regulations_de" / "pdf"


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--separate", type=int, default=3, help="separate runs to measure; their mean counts for all"
    )
    options = parser.parse_args(argv)
    if not PDFS.exists():
        print(f"the real inputs are not beside the repository ({REAL_DATA})")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        return _measure(Path(folder), options.jobs, options.separate)


def _measure(folder: Path, jobs: int, separate: int) -> int:
    config = folder / "base.json"
    docs = [str(PDFS / "IN__*.pdf"), *map(str, PDFS.glob("2013-03-12_rahmenpr*.pdf"))]
    questions = REAL_DATA / "ulm_questions" / "questions_by_file.json"
    config.write_text(
        json.dumps({"docs": docs, "docs_root": str(PDFS), "questions": str(questions)}), encoding="utf-8"
    )
    grid = [
        "--chunking",
        "auto",
        "--retriever",
        "auto",
        "--auto-retrievers",
        "tfidf,bm25",
        "--factor",
        "rerank_top_n=0,32",
    ]
    total = len(
        load_sweep(
            config,
            chunking="auto",
            retriever="auto",
            auto_retrievers=["tfidf", "bm25"],
            factors={"rerank_top_n": [0, 32]},
        ).configurations
    )
    place = ["--output-dir", str(folder / "out"), "--cache-dir", str(folder / "cache")]
    swept = _timed(
        ["sweep", str(config), *grid, *place, "--run-name", "forty", "--jobs", str(jobs), "--quiet"]
    )
    summary = json.loads((folder / "out" / "forty" / "run_summary.json").read_text(encoding="utf-8"))
    print(
        f"{total} configurations: {swept[0]:.1f} CPU s, {swept[1]:.1f} s wall with {jobs} processes (target 180 s wall)"
    )
    print(
        f"stages: {summary['stage_counts']}; controlled pairs {summary['design_attribution']['n_controlled_comparisons']}; failed {len(summary['failed_experiments'])}"
    )
    cold = [
        _timed(["run", str(config), *_place(folder, i), "--cache-dir", str(folder / f"cold{i}"), "--quiet"])
        for i in range(separate)
    ]
    warm = [
        _timed(
            [
                "run",
                str(config),
                *_place(folder, separate + i),
                "--cache-dir",
                str(folder / "cold0"),
                "--quiet",
            ]
        )
        for i in range(separate)
    ]
    for name, runs in (("cold", cold), ("parsed", warm)):
        cpu, wall = (sum(run[k] for run in runs) / len(runs) for k in (0, 1))
        print(
            f"one separate run, {name}: {cpu:.1f} CPU s, {wall:.1f} s wall; {total} of them are {cpu * total / swept[0]:.1f} × the CPU and {wall * total / swept[1]:.1f} × the wall time of the sweep (target 8)"
        )
    return 0


def _place(folder: Path, number: int) -> list[str]:
    return ["--output-dir", str(folder / f"separate{number}")]


def _timed(arguments: Sequence[str]) -> tuple[float, float]:
    def cpu() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before, started = cpu(), time.perf_counter()
    subprocess.run([sys.executable, "-m", "core", *arguments], check=True, stdout=subprocess.DEVNULL)
    return cpu() - before, time.perf_counter() - started
