"""Confidences of a run: what core summed up at the seal, or, for a run that carries none, summed up by core now."""

from __future__ import annotations

from typing import Any

import pandas as pd

from core.statistics.calibration_summary import calibration_summary, calibration_tables
from dashboard.queries import source
from dashboard.queries.runs import Version, key_of, run

NAMES = {"prediction_confidence": "stated confidence", "top1_score": "score of the first candidate"}


@source.cached
def summary(of: Version) -> dict[str, Any]:
    """`calibration_summary` of the run's stated confidences, or of its first scores where it states none; with
    `source`, what the numbers are. `n_scored` is 0 where there is nothing to calibrate."""
    stored = run(of).summary.get("calibration")
    if isinstance(stored, dict):
        for name in NAMES:
            if stored.get(name, {}).get("n_scored"):
                return {**stored[name], "source": NAMES[name]}
    found = pairs(of)
    rows = [(float(row["confidence"]), bool(row["right"])) for row in found]
    return {
        **calibration_summary(rows, ids=[row["case_id"] for row in found]),
        "source": NAMES["prediction_confidence"],
    }


@source.cached
def tables(of: Version) -> dict[str, pd.DataFrame]:
    """`reliability` and `risk_coverage` (see `core.statistics.calibration_summary`); stored with the run or made now."""
    with source.opened() as store:
        assert store is not None  # a version comes from a store
        stored = {name: store.attribution(of.run_id, name) for name in ("reliability", "risk_coverage")}
    if not stored["risk_coverage"]:
        stored = calibration_tables([(float(row["confidence"]), bool(row["right"])) for row in pairs(of)])
    return {name: pd.DataFrame(rows) for name, rows in stored.items()}


def pairs(of: Version) -> list[dict[str, Any]]:
    """case_id, confidence and right (the answer passed) of each first answer that has both; errors left out."""
    return source.rows(
        "SELECT c.id AS case_id, o.confidence, r.verdict = 'PASS' AS right FROM results r JOIN cases c ON c.key = r.case_key "
        "JOIN outputs o ON o.run_key = r.run_key AND o.case_key = r.case_key AND o.repeat = r.repeat "
        "WHERE r.run_key = ? AND r.repeat = 0 AND r.verdict <> 'ERROR' AND o.confidence IS NOT NULL ORDER BY c.key",
        [key_of(of)],
    )


@source.cached
def questions(of: Version, case_ids: tuple[str, ...]) -> dict[str, str]:
    """Case id → question."""
    marks = ", ".join("?" * len(case_ids))
    found = source.rows(
        f"SELECT c.id, c.query FROM run_cases rc JOIN cases c ON c.key = rc.case_key WHERE rc.run_key = ? AND c.id IN ({marks})",
        [key_of(of), *case_ids],
    )
    return {row["id"]: row["query"] for row in found}
