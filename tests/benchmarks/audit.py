"""160 cases against an HTTP agent that takes 300 ms an answer, at concurrency 16, beside the auditor that Plumbline
replaces; and the CPU seconds of starting up. `PLUMBLINE_RAGVERDICT` names the other tool's command."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.audit.auditing import ROOT, HttpAgent, env

CASES, LATENCY, WIDTH = 160, 0.3, 16


def main(argv: list[str]) -> int:
    """Prints wall seconds of both, whether verdicts and their order agree, and CPU seconds of starting up."""
    theirs = os.environ.get("PLUMBLINE_RAGVERDICT", "")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with HttpAgent(answer) as agent:
            config = written(place, agent.url)
            ours = timed(
                [sys.executable, "-m", "core", "run", config, "--no-judge", "--concurrency", str(WIDTH)],
                place,
            )
            print(f"plumbline: {ours[0]:.1f} s wall, {ours[1]:.1f} s CPU, {agent.most} requests at once")
            if theirs:
                other = timed([theirs, "run", config, "--no-judge", "--out-dir", "theirs"], place)
                print(f"ragverdict: {other[0]:.1f} s wall, {other[1]:.1f} s CPU")
                same = verdicts(place / "report") == verdicts(place / "theirs")
                print(f"times faster: {other[0] / ours[0]:.1f}; same verdicts in the same order: {same}")
        demo = str(ROOT / "data" / "demo_agent" / "audit.yaml")
        for name, command in {
            "plumbline --version": [sys.executable, "-m", "core", "--version"],
            "plumbline, demo audit": [sys.executable, "-m", "core", "run", demo, "--no-judge", "--quiet"],
            **({"ragverdict --version": [theirs, "--version"]} if theirs else {}),
        }.items():
            wall, cpu = timed(command, place)
            print(f"{name}: {cpu:.2f} s CPU, {wall:.2f} s wall")
    return 0


def answer(body: dict[str, Any], headers: dict[str, str], number: int) -> dict[str, Any]:
    """Every tenth case is answered wrongly."""
    time.sleep(LATENCY)
    asked = int(body["prompt"].rsplit(" ", 1)[1])
    return {"text": "I cannot say." if asked % 10 == 0 else f"The answer is {asked}."}


def written(folder: Path, url: str) -> str:
    """Eight tests of twenty cases each, in the shape both tools read."""
    tests = []
    for test in range(8):
        numbers = range(test * 20 + 1, test * 20 + 21)
        cases = [{"query": f"What is the answer to {n}", "must_mention": [f"is {n}."]} for n in numbers]
        tests.append({"name": f"part {test}", "evaluator": "rag_quality", "cases": cases})
    path = folder / "audit.yaml"
    path.write_text(
        json.dumps({"adapter": {"type": "http", "endpoint": url}, "tests": tests}), encoding="utf-8"
    )
    return path.name


def timed(command: list[str], folder: Path) -> tuple[float, float]:
    """(wall, CPU) seconds of a process."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, env=env(), capture_output=True, check=False)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def verdicts(folder: Path) -> list[tuple[str, str, list[tuple[str, str]]]]:
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return [
        (t["name"], t["verdict"], [(row["query"], row["verdict"]) for row in t["artifacts"]["cases"]])
        for t in report["tests"]
    ]
