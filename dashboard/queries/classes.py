"""Classes of a classification run: the tables core kept with it, and the cases behind one cell."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dashboard.queries import source
from dashboard.queries.runs import Version


@source.cached
def table(of: Version, name: str) -> pd.DataFrame:
    """A table kept with the run (per_class, confusion_<level>, by_language, by_division, leakage_report)."""
    with source.opened() as store:
        return pd.DataFrame(store.attribution(of.run_id, name) if store is not None else [])


@source.cached
def predictions(of: Version) -> pd.DataFrame:
    """case_id, query, gold (first gold code), predicted (first candidate, "" for none), verdict of each first
    answer, in file order."""
    with source.opened() as store:
        if store is None:
            return pd.DataFrame()
        outputs = {output.case_id: output for output in store.iter_outputs(of.run_id) if output.repeat == 0}
        verdicts = {
            row["case_id"]: row["verdict"]
            for row in store.query(
                "SELECT case_id, verdict FROM case_results WHERE run_id = ? AND repeat = 0", [of.run_id]
            )
        }
        rows: list[dict[str, Any]] = []
        for case in store.cases(of.run_id):
            output = outputs.get(case.id)
            hits = sorted(output.hits, key=lambda hit: hit.rank) if output else []
            rows.append(
                {
                    "case_id": case.id, "query": case.query, "gold": case.gold_codes[0] if case.gold_codes else "",
                    "predicted": hits[0].id if hits else "", "verdict": verdicts.get(case.id),
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def cell(of: Version, gold: str, predicted: str) -> pd.DataFrame:
    """The cases of one cell of a confusion matrix: codes at or below the two nodes (a node of a level is the beginning
    of its codes)."""
    found = predictions(of)
    if found.empty:
        return found
    wanted = found["gold"].str.startswith(gold)
    wanted &= found["predicted"].str.startswith(predicted) if predicted else found["predicted"] == ""
    return found[wanted]
