"""1,970 real tenders over 9,454 codes: CPU seconds (cold and cached), accuracy by language and division, leakage.

python -m tests.benchmarks classify [--retrievers bm25,dense,hybrid] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core import pipeline
from core.records import Run
from core.settings import load_settings
from core.store.runs import Store
from tests.real_data import REAL_DATA

TARGETS = {
    ("bm25", "title_description", "cached"): 60,
    ("dense", "title", "cold queries"): 120,
    ("dense", "title", "cached"): 20,
    ("hybrid", "title", "cold queries"): 120,
    ("hybrid", "title", "cached"): 20,
}


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="classify")
    parser.add_argument("--retrievers", default="bm25,dense,hybrid")
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--keep", type=Path, default=None)
    chosen = parser.parse_args(argv)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    folder = chosen.keep or Path(tempfile.mkdtemp(prefix="classify-"))
    try:
        for retriever in chosen.retrievers.split(","):
            _measure(folder, retriever, chosen.limit)
    finally:
        if chosen.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


def _measure(folder: Path, retriever: str, limit: int | None) -> None:
    text = "title_description" if retriever in ("bm25", "tfidf") else "title"
    if text == "title":
        # the catalogue's vectors are made first, so that the second run encodes the queries alone
        seconds, _ = _timed_run(folder, retriever, text, 1)
        print(f"{retriever:7} catalogue encoded: {seconds:6.1f} CPU s")
    first = "cold queries" if text == "title" else "cold"
    for state in (first, "cached"):
        seconds, run = _timed_run(folder, retriever, text, limit)
        target = TARGETS.get((retriever, text, state))
        print(
            f"{retriever:7} {text}, {state}: {seconds:6.1f} CPU s" + (f" (target {target})" if target else "")
        )
    _report(run, Store(folder / "runs.db"))


def _timed_run(folder: Path, retriever: str, text: str, limit: int | None) -> tuple[float, Run]:
    before = _cpu()
    settings = load_settings(
        {
            "classifier_type": "ted_cpv",
            "cpv_catalog": str(REAL_DATA / "cpv" / "cpv_2008_en_de.csv"),
            "cpv_queries": str(REAL_DATA / "ted_notices" / "dev.csv"),
            "retriever": retriever,
            "cpv_query_text": text,
            "limit": limit,
            "cache_dir": str(folder / "cache"),
            "output_dir": str(folder / "outputs"),
        }
    )
    run = pipeline.run(settings, store=Store(folder / "runs.db"))
    return _cpu() - before, run


def _cpu() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _report(run: Run, store: Store) -> None:
    headline = run.summary["headline"]
    for name in ("exact_top1_match", "hit_at_k", "hierarchical_f1_top1"):
        print(f"  {name}: {_shown(headline[name])}")
    for table, how_many in (("by_language", 8), ("by_division", 8)):
        for row in store.attribution(run.id, table)[:how_many]:
            label = f" {row['label'][:40]}" if row.get("label") else ""
            shown = f"{row['accuracy']:.3f} [{row['accuracy_low']:.3f}, {row['accuracy_high']:.3f}]"
            print(f"  {table} {row['group']}{label}: accuracy {shown} n={row['n']}")
    leakage = run.summary["leakage"]
    print(f"  leaking queries: {leakage['n_leaking']} {leakage['counts_by_kind']}")
    print(f"  accuracy without them: {_shown(leakage['headline_without_leaking']['exact_top1_match'])}")


def _shown(figure: dict[str, Any]) -> str:
    return f"{figure['mean']:.3f} [{figure['low']:.3f}, {figure['high']:.3f}]"


if __name__ == "__main__":
    raise SystemExit(main([]))
