"""500 judge calls at 300 ms through the real SDK, 32 at once: wall against ideal, connections, CPU, and the replay.

python -m tests.benchmarks judge_calls [--calls 500] [--delay 0.3] [--limit 32] [--provider anthropic|openai]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from core.contracts import Material
from core.judge import create_judge


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks judge_calls")
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--delay", type=float, default=0.3)
    parser.add_argument("--limit", type=int, default=32)
    parser.add_argument("--provider", choices=["anthropic", "openai"], default="anthropic")
    options = parser.parse_args(argv)
    # the server is its own process, so that its work is not counted as the judge's
    command = [sys.executable, "-m", "tests.servers.messages_api", "--delay", str(options.delay)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        with tempfile.TemporaryDirectory() as folder:
            wall = measure(options, url if options.provider == "anthropic" else f"{url}/v1", Path(folder))
        counts = json.loads(server.communicate("")[0])
    print(
        f"connections {counts['connections']} (limit {options.limit}), most in flight {counts['most_in_flight']}, requests {counts['requests']}"
    )
    ideal = math.ceil(options.calls / options.limit) * options.delay
    return 0 if wall <= 1.5 * ideal else 1


def measure(options: argparse.Namespace, url: str, folder: Path) -> float:
    """Wall seconds of the first pass; prints both passes."""
    spec = {
        "provider": options.provider,
        "base_url": url,
        "api_key_env": "",
        "max_concurrency": options.limit,
    }
    materials = [
        Material(
            {
                "context": f"The exam of course {n} lasts {n} minutes.",
                "claim": f"The exam of course {n} lasts {n} minutes.",
            }
        )
        for n in range(options.calls)
    ]
    ideal = math.ceil(options.calls / options.limit) * options.delay
    wall = 0.0
    for name in ("asked", "replayed"):
        judge = create_judge(spec, cache_dir=folder)
        if name == "asked":
            # the SDK's import (1-2 s of CPU, once a process) is shown apart
            started = time.perf_counter()
            judge.judge("claim_support", Material({"context": "Warm.", "claim": "Warm."}))
            print(
                f"first call, with the SDK's import: {time.perf_counter() - started - options.delay:.2f} s beyond the delay"
            )
        cpu, started = os.times(), time.perf_counter()
        with ThreadPoolExecutor(2 * options.limit) as pool:
            judgements = list(pool.map(partial(judge.judge, "claim_support"), materials))
        took, after = time.perf_counter() - started, os.times()
        used = after.user + after.system - cpu.user - cpu.system
        right = sum(judgement.score == 1.0 for judgement in judgements)
        judge.close()
        line = f"{name}: {options.calls} calls, wall {took:.2f} s, CPU {1000 * used / options.calls:.2f} ms a call, {right} right"
        if name == "asked":
            wall = took
            line += f", {took / ideal:.2f}x ideal ({ideal:.2f} s), {options.calls * options.delay / took:.1f}x one by one"
        else:
            line += f", {sum(judgement.cached for judgement in judgements)} from the cache"
        print(line)
    return wall
