"""Pages per CPU second, cold and cached time of parsing the 19 statutes, beside bare pypdf; and how the time
grows with the length of a text.

`python -m tests.benchmarks parsing [--workers N]`
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from core.inputs.documents import load_documents
from core.inputs.page_text import join_pages
from core.inputs.structure import structure
from tests.real_data import REAL_DATA

FOLDER = REAL_DATA / "ulm_examination_regulations_de" / "pdf"


def cpu() -> float:
    """User and system seconds of this process and of its ended children."""
    mine, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return mine.ru_utime + mine.ru_stime + children.ru_utime + children.ru_stime


def timed(job: Callable[[], Any]) -> tuple[float, float, Any]:
    """(CPU seconds, wall seconds, result)."""
    spent, begun = cpu(), time.perf_counter()
    result = job()
    return cpu() - spent, time.perf_counter() - begun, result


def bare_pypdf(files: Sequence[Path]) -> int:
    import logging

    import pypdf

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)

    pages = 0
    for file in files:
        for page in pypdf.PdfReader(file).pages:
            page.extract_text()
            pages += 1
    return pages


def scaling() -> None:
    body = "(1) Dies ist ein Satz, der den Inhalt der Vorschrift in vielen Wor-\nten beschreibt.\n"
    seconds = []
    for times in (2_000, 4_000, 8_000):
        text = "\n".join(f"§ {number} Titel\n{body}" for number in range(times))

        def parse(raw: str = text) -> None:
            joined, starts = join_pages([raw])
            structure(joined, starts)

        seconds.append(min(timed(parse)[0] for _ in range(3)))
    growth = ", ".join(f"{after / before:.2f}x" for before, after in pairwise(seconds))
    print(f"doubling the text twice: {seconds[0]:.2f} s CPU, then {growth} (linear is 2.00x)")


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="parsing", description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(argv)
    scaling()
    if not FOLDER.is_dir():
        print(f"the statutes are not beside the repository ({FOLDER})")
        return 2
    files = [*sorted(FOLDER.glob("IN__*.pdf")), *FOLDER.glob("2013-03-12*.pdf")]
    bare, wall, pages = timed(lambda: bare_pypdf(files))
    print(f"{len(files)} files, {pages} pages")
    print(f"bare pypdf          {bare:6.2f} s CPU {wall:6.2f} s wall  {pages / bare:6.1f} pages/CPU s")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("cold", "cached"):
            used, wall, (documents, _) = timed(
                lambda: load_documents(
                    [str(file) for file in files], cache_dir=Path(folder), workers=options.workers
                )
            )
            print(
                f"load_documents {name:6}{used:6.2f} s CPU {wall:6.2f} s wall  {pages / used:6.1f} pages/CPU s"
            )
    print(
        f"{sum(len(document.text) for document in documents):,} characters, "
        f"{sum(len(document.sections) for document in documents)} sections"
    )
    return 0
