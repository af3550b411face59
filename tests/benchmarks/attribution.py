"""Planted truth over hundreds of simulated sweeps, and time and memory of a large attribution.

python -m tests.benchmarks attribution [--sweeps 400] [--skip-large]
"""

from __future__ import annotations

import argparse
import math
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from core.attribution import attribute
from core.sweep_files import write_attribution
from tests.simulation import measure
from tests.simulation.sweeps import Plan, simulate


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sweeps", type=int, default=400)
    parser.add_argument("--skip-large", action="store_true")
    options = parser.parse_args(argv)
    failed = _truth(options.sweeps)
    if not options.skip_large:
        failed |= _large()
    return int(failed)


def _truth(sweeps: int) -> bool:
    seeds, failed = range(sweeps), False
    for name, plan in measure.PLANS.items():
        for kind, (covered, counted) in measure.coverage(plan, seeds).items():
            share, units = covered / counted, sweeps
            low = 0.93 - 3 * math.sqrt(0.93 * 0.07 / units)
            failed |= share < low
            print(
                f"coverage of {kind:12} {name:16} {share:.4f} of {counted} (at least {low:.4f})", flush=True
            )
        alarms = measure.false_alarms(plan, seeds) / sweeps
        high = 0.05 + 3 * math.sqrt(0.05 * 0.95 / sweeps)
        failed |= alarms > high
        print(f"A/A sweeps with an alarm  {name:16} {alarms:.4f} (at most {high:.4f})", flush=True)
        wrong, total = measure.mislabelled(plan, range(min(sweeps, 40)))
        failed |= wrong > 0
        print(f"pairs of a wrong type     {name:16} {wrong} of {total}", flush=True)
    for ladder in (False, True):
        shares = measure.balanced_accuracy(20 * sweeps, 0, ladder=ladder)
        failed |= ladder and shares["all"] < 0.95
        print(f"failures attributed {'with the ladder' if ladder else 'from stored facts'}")
        print(
            "".join(f"  {component:24} {share:.4f}\n" for component, share in shares.items()),
            end="",
            flush=True,
        )
    return failed


def _large() -> bool:
    """200 configurations × 1,000 questions: at most 60 CPU seconds and 2 GB, files included."""
    plan = Plan(
        {
            "retriever": {name: 0.01 * i for i, name in enumerate("abcde")},
            "top_k": {2**i: 0.01 * i for i in range(5)},
            "chunking": dict.fromkeys("wxyz", 0.0),
            "rerank": {False: 0.0, True: 0.04},
        },
        n_questions=1000,
    )
    trace = simulate(plan, 1)
    started = time.process_time()
    result = attribute(trace)
    computed = time.process_time() - started
    with tempfile.TemporaryDirectory() as folder:
        write_attribution(Path(folder), result)
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
    cpu = time.process_time() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    rows = len(result.tables["paired_design_comparisons"])
    print(
        f"200 configurations × 1,000 questions: {computed:.1f} CPU s, with files {cpu:.1f} CPU s, {memory:.2f} GB, {rows:,} paired rows, {size / 1e6:.0f} MB"
    )
    return cpu > 60 or memory > 2
