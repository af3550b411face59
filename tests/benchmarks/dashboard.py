"""CPU of the dashboard's pages over a store of 40 runs × 2,500 cases (100,000 case-results): the first visit with
empty caches, and a rerun such as every click makes. The target is 100 ms a rerun.

    python -m tests.benchmarks dashboard                        makes the store
    python -m tests.benchmarks dashboard FOLDER/plumbline.db    uses one, such as `store --keep FOLDER` leaves
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from streamlit import cache_data, cache_resource
from streamlit.testing.v1 import AppTest

from tests.dashboard import stores

RERUN, FIRST = 100, {"compare": 2_000, "trends": 1_000}  # CPU milliseconds
ROOT = Path(__file__).resolve().parents[2]
PAGES: tuple[tuple[str, dict[str, str]], ...] = (
    ("home", {}),
    ("run", {}),
    ("verdicts", {}),
    ("verdicts", {"verdict": "Fail", "metric": "recall_at_k", "sort": "lowest score"}),
    ("verdicts", {"find": "number 77"}),
    ("case", {"case": "q77"}),
    ("new", {}),
    ("data", {}),
    ("compare", {}),
    ("compare", {"change": "regressed", "compare_find": "number 7"}),
    ("trends", {}),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Print first and repeated CPU milliseconds of each page. `argv`: an existing store, or nothing to make one."""
    arguments = list(argv or ())
    with tempfile.TemporaryDirectory() as folder:
        store = Path(arguments[0]) if arguments else Path(folder) / "plumbline.db"
        if not arguments:
            began = time.process_time()
            stores.large(store)
            print(
                f"store of 100,000 case-results: {store.stat().st_size / 1e6:.0f} MB, made in {time.process_time() - began:.0f} s CPU"
            )
        os.environ["PLUMBLINE_STORE"] = str(store)
        print(f"{'page':58} {'first ms':>9} {'rerun ms':>9}")
        worst, slow = 0.0, []
        for page, params in PAGES:
            first, again = _measure(page, params)
            worst = max(worst, again)
            if first > FIRST.get(page, first):
                slow.append(f"{page} opens in {first:.0f} ms CPU (target {FIRST[page]})")
            print(f"{page + ' ' + (str(params) if params else ''):58} {first:9.0f} {again:9.0f}")
    print("\n".join([f"worst rerun {worst:.0f} ms CPU (target {RERUN})", *slow]))
    return 0 if worst <= RERUN and not slow else 1


def _measure(page: str, params: dict[str, str]) -> tuple[float, float]:
    at = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=300).run()
    for name, value in params.items():
        at.query_params[name] = value
    if page != "home":
        at.switch_page(f"app_pages/{page}.py")
    at.run()  # imports and the list of settings are paid for once a server
    cache_data.clear()
    cache_resource.clear()
    first = _cpu(at)
    again = statistics.median(_cpu(at) for _ in range(7))
    assert not at.exception
    return first, again


def _cpu(at: AppTest) -> float:
    began = time.process_time()
    at.run()
    return (time.process_time() - began) * 1000


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
