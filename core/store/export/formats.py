"""A run in one file for other programs: CSV, JSONL, parquet, Excel, JUnit, HTML, or its failing cases as a suite."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from core.errors import ConfigError, StoreError, nearest
from core.records import Run
from core.store.export import columns, published
from core.store.export.run_page import run_page
from core.store.export.suite import write_suite
from core.store.export.tabular import (
    write_csv,
    write_jsonl,
    write_parquet,
    write_text,
    write_xlsx,
    xml_text,
)
from core.store.runs import Store

_UNSTABLE_OUTPUT = {"latency_ms", "stages", "asked_at", "usage"}


@dataclass(frozen=True, slots=True)
class _Export:
    """What a writer is given; `target` is what the file it writes will be called."""

    store: Store
    run: Run
    listed: Sequence[published.Item]
    canonical: bool
    target: Path

    def columns(self) -> list[str]:
        return published.result_columns(self.run, self.listed)

    def rows(self) -> Iterator[list[Any]]:
        names = self.columns()
        return (published.row(self.run, item, names, canonical=self.canonical) for item in self.listed)


def export(
    store: Store, ref: str, form: str, out: str | Path | None = None, *, canonical: bool = False
) -> Path:
    """Write a run in one of FORMATS and return the file. `out` is a file or a folder (by default the working
    directory); an existing file is never written over. `canonical` leaves ids and times out, so that equal runs
    give equal bytes. Raises ConfigError for an unknown format."""
    if form not in FORMATS:
        raise ConfigError(f"unknown export format '{form}'{nearest(form, FORMATS)}")
    writer, ending = FORMATS[form]
    run = store.run(ref)
    target = Path(out) if out is not None else Path.cwd()
    if target.is_dir():
        target = target / f"{_safe(run.name)}{ending}"
    if target.exists():
        raise StoreError(f"{target} is already there; name another file with --out")
    staging = target.with_name(f".{target.name[:80]}.{uuid.uuid4().hex[:8]}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shown = published.timeless(run) if canonical else run
        writer(staging, _Export(store, shown, published.items(store, run.id), canonical, target))
        os.rename(staging, target)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error}") from error
    finally:
        staging.unlink(missing_ok=True)
    return target


def _safe(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name).strip("._")[:80] or "run"


def _csv(path: Path, export: _Export) -> None:
    write_csv(path, export.columns(), export.rows())


def _parquet(path: Path, export: _Export) -> None:
    write_parquet(path, export.columns(), list(export.rows()))


def _jsonl(path: Path, export: _Export) -> None:
    """One object a case and repeat with the whole records: case, output, result."""
    dropped = _UNSTABLE_OUTPUT if export.canonical else set()

    def lines() -> Iterator[dict[str, Any]]:
        for item in export.listed:
            yield {
                "case": item.case.model_dump(mode="json", fallback=repr),
                "output": item.output.model_dump(mode="json", exclude=dropped, fallback=repr)
                if item.output
                else None,
                "result": item.result.model_dump(mode="json", fallback=repr) if item.result else None,
            }

    write_jsonl(path, lines())


def _xlsx(path: Path, export: _Export) -> None:
    run, listed = export.run, export.listed
    chunks = published.chunk_columns(run, listed)
    figures = ["metric", "mean", "low", "high", "n_scored", "n_not_applicable", "n_error"]
    groups = ["group_by", "group", *figures]
    write_xlsx(
        path,
        {
            "results": (export.columns(), export.rows()),
            "retrieved": (
                chunks,
                (row for item in listed for row in published.chunk_rows(run, item, chunks)),
            ),
            "metrics": (groups, ([getattr(row, name) for name in groups] for row in run.aggregates)),
            "diagnostics": (
                columns.DIAGNOSTICS,
                (
                    published.row(run, item, columns.DIAGNOSTICS, canonical=export.canonical)
                    for item in listed
                ),
            ),
        },
        canonical=export.canonical,
    )


def _junit(path: Path, export: _Export) -> None:
    """One test case a case; FAIL is a failure, ERROR an error, a case without answer is skipped."""
    suite = ElementTree.Element("testsuite", name=xml_text(export.run.suite or export.run.name))
    counts = {"failure": 0, "error": 0, "skipped": 0}
    for item in export.listed:
        name = item.case.id + (f" [{item.repeat}]" if item.repeat else "")
        place = item.case.test or item.case.question_type or export.run.kind
        case = ElementTree.SubElement(suite, "testcase", classname=xml_text(place), name=xml_text(name))
        if item.output is not None and item.output.latency_ms is not None and not export.canonical:
            case.set("time", f"{item.output.latency_ms / 1000:.3f}")
        kind = _outcome(item)
        if kind:
            counts[kind] += 1
            said = _said(item)
            ElementTree.SubElement(case, kind, message=xml_text(said[:500])).text = xml_text(said)
        elif item.result is not None and item.result.verdict.value == "WEAK":
            ElementTree.SubElement(case, "system-out").text = xml_text(f"WEAK: {_said(item)}")
    suite.set("tests", str(len(export.listed)))
    for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(counts[kind]))
    text = ElementTree.tostring(suite, encoding="unicode")
    write_text(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n')


def _outcome(item: published.Item) -> str:
    if item.result is None:
        return "skipped"
    return {"FAIL": "failure", "ERROR": "error"}.get(item.result.verdict.value, "")


def _said(item: published.Item) -> str:
    if item.result is None:
        return "not answered"
    result, lines = item.result, list(item.result.reasons)
    if result.diagnosis is not None:
        lines.append(f"{result.diagnosis.primary_reason}: {result.diagnosis.explanation}")
    for failure in (result.failure, item.output.failure if item.output else None):
        if failure is not None:
            lines.append(f"{failure.where} failed ({failure.kind}): {failure.message}")
    answer = item.output.text if item.output else None
    return "\n".join([*lines, f"question: {item.case.query}", f"answer: {answer}"])


def _html(path: Path, export: _Export) -> None:
    write_text(path, run_page(export.store, export.run, canonical=export.canonical))


def _suite(path: Path, export: _Export) -> None:
    write_suite(path, export.target, export.run, export.listed)


FORMATS: dict[str, tuple[Callable[[Path, _Export], None], str]] = {
    "csv": (_csv, ".csv"),
    "jsonl": (_jsonl, ".jsonl"),
    "parquet": (_parquet, ".parquet"),
    "xlsx": (_xlsx, ".xlsx"),
    "junit": (_junit, ".junit.xml"),
    "suite": (_suite, ".suite.yaml"),
    "html": (_html, ".html"),
}
