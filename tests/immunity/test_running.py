"""Running (immunity C): equal runs give equal bytes, whatever the process and however many at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from core.store.export import export
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
