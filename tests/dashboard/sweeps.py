"""A real, small sweep and a real, small classification run, made through the public commands of core."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from click.testing import CliRunner

from core.cli import cli

ROOT = Path(__file__).resolve().parents[2]
CODES = {
    "45000000": "Construction work", "45200000": "Civil engineering work", "45210000": "Building construction work",
    "72000000": "IT services", "72200000": "Software services", "72210000": "Packaged software programming",
    "33000000": "Medical equipment", "33100000": "Medical devices", "33140000": "Medical consumables",
}  # fmt: skip


def sweep(folder: Path) -> Path:
    """Eight configurations over the bundled demo; the path of their store."""
    store = folder / "plumbline.db"
    done = CliRunner().invoke(
        cli,
        [
            "sweep", "--docs", str(ROOT / "data/demo/documents"), "--questions", str(ROOT / "data/demo/questions.json"),
            "--factor", "retriever=tfidf,bm25", "--factor", "top_k=2,5", "--factor", "abstain_on_weak_evidence=true,false", "--jobs", "1",
            "--store-path", str(store), "--output-dir", str(folder / "out"), "--cache-dir", str(folder / "cache"), "--run-name", "small sweep", "--quiet",
        ],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    return store


def single(folder: Path) -> Path:
    """One run over the bundled demo; the path of its store."""
    store = folder / "plumbline.db"
    done = CliRunner().invoke(
        cli,
        [
            "run", "--docs", str(ROOT / "data/demo/documents"), "--questions", str(ROOT / "data/demo/questions.json"), "--top-k", "2",
            "--store-path", str(store), "--output-dir", str(folder / "out"), "--cache-dir", str(folder / "cache"), "--run-name", "alone", "--quiet",
        ],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    return store


def classifier(folder: Path) -> Path:
    """A code list of nine codes and twelve queries, ranked by bm25; the path of the store."""
    store, catalog, queries = folder / "plumbline.db", folder / "codes.csv", folder / "queries.json"
    with catalog.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["code", "label"])
        writer.writerows(CODES.items())
    asked = [
        {"id": f"t{number}", "query": f"{label} for the town {number}", "expected_cpv": code}
        for number, (code, label) in enumerate([*CODES.items(), *list(CODES.items())[:3]])
    ]
    asked[0]["query"] = "Software for the hospital"
    queries.write_text(json.dumps(asked), encoding="utf-8")
    done = CliRunner().invoke(
        cli,
        [
            "run", "--classifier-type", "ted_cpv", "--cpv-catalog", str(catalog), "--cpv-queries", str(queries), "--store-path", str(store),
            "--output-dir", str(folder / "out"), "--cache-dir", str(folder / "cache"), "--run-name", "tenders",
        ],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    return store
