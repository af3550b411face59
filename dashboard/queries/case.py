"""One case of a run, with everything its verdict rests on, and the same case in other runs."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from core.corpus import Document
from core.errors import StoreError
from core.records import Case, Output, Result
from dashboard.queries import source
from dashboard.queries.runs import Version

HISTORY = 30


@dataclass(frozen=True, slots=True)
class Details:
    """`output` and `result` are None where the case was not asked or judged yet. `verdicts` has one a repeat."""

    case: Case
    repeat: int
    output: Output | None
    result: Result | None
    verdicts: tuple[str, ...]


@source.cached
def details(of: Version, case_id: str, repeat: int = 0) -> Details | None:
    """Everything about one case; None where the run has no such case."""
    with source.opened() as store:
        if store is None:
            return None
        try:
            case = store.case(of.run_id, case_id)
        except StoreError:
            return None
        strip = store.query(
            "SELECT verdict FROM case_results WHERE run_id = ? AND case_id = ? ORDER BY repeat",
            [of.run_id, case_id],
        )
        return Details(
            case,
            repeat,
            store.output(of.run_id, case_id, repeat),
            store.result(of.run_id, case_id, repeat),
            tuple(row["verdict"] for row in strip),
        )


@source.cached
def document(of: Version, doc_path: str) -> Document | None:
    """A document as the run read it; None where the run keeps none of this path."""
    with source.opened() as store:
        return store.document(of.run_id, doc_path) if store is not None else None


def history(case_id: str, suite: str) -> pd.DataFrame:
    """This case over the runs of its suite, oldest first: run_id, name, created_at, verdict (worst of the
    repeats), label."""
    # CROSS JOIN keeps the order: from the one case to its runs, not through all runs
    found = source.rows(
        """SELECT runs.id AS run_id, runs.name, runs.created_at, max(r.label) AS label,
            max(CASE r.verdict WHEN 'ERROR' THEN 3 WHEN 'FAIL' THEN 2 WHEN 'WEAK' THEN 1 ELSE 0 END) AS worst
        FROM cases c CROSS JOIN run_cases rc ON rc.case_key = c.key CROSS JOIN runs ON runs.key = rc.run_key
        CROSS JOIN results r ON r.run_key = rc.run_key AND r.case_key = rc.case_key
        WHERE c.id = ? AND runs.suite = ? AND runs.deleted_at IS NULL
        GROUP BY runs.key ORDER BY runs.created_at DESC LIMIT ?""",
        [case_id, suite, HISTORY],
    )
    for row in found:
        row["verdict"] = ("PASS", "WEAK", "FAIL", "ERROR")[row["worst"]]
    return pd.DataFrame(found[::-1], columns=["run_id", "name", "created_at", "verdict", "label"])
