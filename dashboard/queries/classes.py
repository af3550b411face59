"""Classes of a classification run: the tables core kept with it, and the cases behind one cell."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dashboard.queries import source
from dashboard.queries.runs import Version


@source.cached
def table(of: Version, name: str) -> pd.DataFrame:
    """A table kept with the run (per_class, class_tree, class_paths, confusion_<level>, by_language, by_division, leakage_report)."""
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


def cell(of: Version, level: int | None, gold: str, predicted: str) -> pd.DataFrame:
    """The cases of one cell of a confusion matrix: at a level of the tree (from 1) those whose codes lie at or below
    the two nodes, without one those of the two codes. `predicted` "" stands for a code with no such node, or none.
    """
    found = predictions(of)
    if found.empty or level is None:
        return found[(found["gold"] == gold) & (found["predicted"] == predicted)] if len(found) else found
    paths = table(of, "class_paths")
    nodes = {row["code"]: row["nodes"][level - 1] for row in paths.to_dict("records")}

    def node(code: str) -> str:
        return nodes.get(code) or ""

    return found[(found["gold"].map(node) == gold) & (found["predicted"].map(node) == predicted)]
