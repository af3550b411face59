"""A run or a case as a file for other programs and for people without the dashboard."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from core.records import Case
from core.store.export.formats import FORMATS, export
from core.store.export.suite import classification_query, question
from dashboard.queries import source

# format → (what it is good for, MIME type), in the order they are offered
OFFERED = {
    "html": ("One page for people without the dashboard", "text/html"),
    "xlsx": ("Excel", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "csv": ("CSV", "text/csv"),
    "jsonl": ("JSONL", "application/x-ndjson"),
    "junit": ("JUnit", "application/xml"),
}


def ending(form: str) -> str:
    return FORMATS[form][1]


def run_file(run_id: str, form: str) -> bytes:
    """A run in one of the formats."""
    with source.opened() as store, tempfile.TemporaryDirectory() as folder:
        assert store is not None  # a run comes from a store
        return export(store, run_id, form, Path(folder) / f"run{ending(form)}").read_bytes()


def questions(case: Case) -> bytes:
    """A case as a file of questions with one entry, as `--questions` or `--cpv-queries` read it."""
    entry = classification_query(case) if case.gold_codes else question(case)
    return json.dumps([entry], ensure_ascii=False, indent=2).encode()
