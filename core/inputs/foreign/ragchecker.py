"""RAGChecker inputs and outputs (`results` with query, gt_answer, response, retrieved_context, claims, metrics)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import Problem
from core.inputs.foreign.imported import (
    KIND,
    Imported,
    digest_of,
    hits_of,
    objects,
    raise_problems,
    read_json,
    scores_of,
    unique_ids,
)
from core.records import Case, Output

CHECKS = (
    "response_claims",
    "gt_answer_claims",
    "answer2response",
    "response2answer",
    "retrieved2response",
    "retrieved2answer",
)


def sniff(path: Path) -> bool:
    if path.suffix != ".json" or not path.is_file():
        return False
    data = read_json(path)
    entries = data.get("results") if isinstance(data, dict) else None
    return (
        isinstance(entries, list)
        and bool(entries)
        and isinstance(entries[0], dict)
        and {"query", "response", "gt_answer"} <= set(entries[0])
    )


def load(path: Path, mapping: Mapping[str, Any]) -> list[Imported]:
    """One case a result; its metrics are `foreign_scores`, its claims and their checks stay in `raw`, the metrics
    of the whole run (in percent, as the tool prints them) in the notices."""
    data = read_json(path)
    problems: list[Problem] = []
    entries = objects(path, data.get("results") if isinstance(data, dict) else data, "results", problems)
    for index, entry in entries:
        for key in ("query", "response"):
            if not isinstance(entry.get(key), str):
                problems.append(Problem(f"results[{index}]", f"{key} must be a text"))
    raise_problems(path, problems)
    ids = unique_ids([str(entry.get("query_id", index)) for index, entry in entries])
    cases, outputs = [], []
    for order, ((_, entry), case_id) in enumerate(zip(entries, ids, strict=True)):
        gold = entry.get("gt_answer")
        cases.append(
            Case(
                id=case_id,
                query=entry["query"],
                order=order,
                gold_answer=gold if isinstance(gold, str) else None,
            )
        )
        contexts = entry.get("retrieved_context")
        raw: dict[str, Any] = {key: entry[key] for key in CHECKS if entry.get(key) is not None}
        if isinstance(entry.get("metrics"), dict):
            raw["foreign_scores"] = scores_of(entry["metrics"])
        hits = hits_of(contexts if isinstance(contexts, list) else [])
        outputs.append(Output(case_id=case_id, text=entry["response"], hits=hits, raw=raw))
    notices = []
    overall = data.get("metrics") if isinstance(data, dict) else None
    if isinstance(overall, dict):
        flat = {
            f"{group}.{name}": value
            for group, values in overall.items()
            if isinstance(values, dict)
            for name, value in values.items()
        }
        notices.append(
            "RAGChecker's own figures: " + ", ".join(f"{name} {value}" for name, value in flat.items())
        )
    return [
        Imported(
            path.stem,
            KIND,
            path.stem,
            tuple(cases),
            tuple(outputs),
            notices=tuple(notices),
            digest=digest_of([path]),
        )
    ]
