"""1,000 calls at 100 ms with 5 % 500s, 2 % hangs and 1 % garbage: every row accounted for, wall time beside the sum
of the planned waits divided by the concurrency.

    python -m tests.benchmarks api_classifier [--calls 1000] [--concurrency 32]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core import pipeline
from core.settings import load_settings
from core.store.runs import Store
from tests.classification.services import Answer, Service

DELAY, TIMEOUT, RETRIES, FIRST_WAIT = 0.1, 1.0, 2, 0.5
ALLOWED = 1.5


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="api_classifier")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=32)
    chosen = parser.parse_args(argv)
    asked: Counter[str] = Counter()
    lock = threading.Lock()

    def script(number: int, body: dict[str, Any], headers: Mapping[str, str]) -> Answer:
        with lock:
            asked[body["id"]] += 1
        kind = _kind(int(body["id"]))
        if kind == "error":
            return Answer({"error": "x"}, status=500, delay_s=DELAY)
        if kind == "hang":
            return Answer(hang_s=30)
        if kind == "garbage":
            return Answer(raw=b"<html>no</html>", delay_s=DELAY)
        codes = [{"label": "45000000", "score": 0.8}, {"label": "09310000", "score": 0.1}]
        return Answer({"id": body["id"], "predictions": codes}, delay_s=DELAY)

    with tempfile.TemporaryDirectory() as name, Service(script) as service:
        folder = Path(name)
        queries = [
            {"id": str(i), "query": f"text {i}", "gold_cpv_code": "45000000"} for i in range(chosen.calls)
        ]
        (folder / "queries.json").write_text(json.dumps(queries))
        settings = load_settings(
            {
                "classifier_type": "api_classifier",
                "api_classifier_url": service.url,
                "api_timeout_seconds": TIMEOUT,
                "api_retries": RETRIES,
                "cpv_queries": str(folder / "queries.json"),
                "concurrency": chosen.concurrency,
                "output_dir": str(folder / "out"),
                "cache_dir": str(folder / "cache"),
            }
        )
        store = Store(folder / "runs.db")
        started, cpu = time.perf_counter(), time.process_time()
        run = pipeline.run(settings, store=store)
        wall, cpu = time.perf_counter() - started, time.process_time() - cpu
        rows = len(store.results(run.id))
    planned = sum(_planned(_kind(i)) for i in range(chosen.calls)) / chosen.concurrency
    print(f"rows: {rows} of {chosen.calls}; verdicts {run.verdicts}; failures {run.summary['failures']}")
    print(f"requests: {sum(asked.values())}, most at once {service.most_in_flight}")
    print(
        f"wall {wall:.1f} s, planned waits / concurrency {planned:.1f} s, ratio {wall / planned:.2f} (allowed {ALLOWED})"
    )
    print(f"CPU {cpu:.1f} s with the server in the same process")
    return 0 if rows == chosen.calls and wall <= ALLOWED * planned else 1


def _kind(place: int) -> str:
    """5 % errors, 2 % hangs, 1 % garbage, spread evenly."""
    at = (place * 37) % 100
    return "error" if at < 5 else "hang" if at < 7 else "garbage" if at < 8 else "good"


def _planned(kind: str) -> float:
    if kind == "hang":
        return TIMEOUT
    if kind == "error":
        backoff = sum(0.75 * FIRST_WAIT * 2**attempt for attempt in range(RETRIES))
        return DELAY * (RETRIES + 1) + backoff
    return DELAY


if __name__ == "__main__":
    raise SystemExit(main([]))
