"""Pages of a run's documents as pictures, drawn by a process of their own where pypdfium2 is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec

from dashboard.queries import case, runs, source
from dashboard.queries.descriptions import environment
from dashboard.queries.runs import Version

WAIT_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Picture:
    """`png` is empty where the page could not be drawn; then `problem` says why."""

    png: bytes
    problem: str = ""


def available() -> bool:
    """Whether pages can be drawn here."""
    return find_spec("pypdfium2") is not None


@source.cached
def page(of: Version, doc_path: str, number: int, quote: str) -> Picture:
    """Page `number` (from 1) of a document as the run read it, with the quote marked."""
    document = case.document(of, doc_path)
    settings = runs.run(of).settings
    if document is None:
        return Picture(b"", "The run keeps no such document.")
    request = {
        "docs": settings.get("docs") or [],
        "root": settings.get("docs_root"),
        "doc_path": doc_path,
        "digest": document.digest,
        "page": number,
        "quote": quote,
    }
    try:
        done = subprocess.run(
            [sys.executable, "-m", "core.inputs.page_picture"],
            input=json.dumps(request).encode(), capture_output=True, env=environment(),
            timeout=WAIT_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Picture(b"", f"Drawing the page took longer than {WAIT_SECONDS} seconds.")
    if done.returncode == 0:
        return Picture(done.stdout)
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return Picture(b"", f"{said[-1]}." if said else "The page could not be drawn.")
