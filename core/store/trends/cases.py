"""Single cases over time: the history of one, and the list of those that cannot make up their mind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.statistics.intervals import wilson
from core.store.packing import sql_text
from core.store.runs import Store

LOOK_BACK = 20  # runs


@dataclass(frozen=True, slots=True)
class CasePoint:
    """One case in one run: verdicts of its repeats in order. `same_question` is False where the question or its
    gold answer was another one then; `score` is the mean of the metric that was asked for, None without."""

    run_id: str
    run_name: str
    created_at: str
    verdicts: tuple[str, ...]
    reason: str
    score: float | None
    same_question: bool


@dataclass(frozen=True, slots=True)
class FlakyCase:
    """A case whose verdict is not settled. `flips` counts changes between PASS and not PASS from run to run,
    `split_runs` the runs whose repeats disagreed; `low`/`high` bound the pass rate (Wilson)."""

    case_id: str
    query: str
    passes: int
    n: int
    low: float
    high: float
    flips: int
    split_runs: int
    newest: str


def case_history(
    store: Store, case_id: str, *, suite: str | None = None, metric: str = ""
) -> list[CasePoint]:
    """A case in every run that has it, oldest first."""
    found = store.rows(
        "SELECT runs.id, runs.name, runs.created_at, c.content, r.verdict, r.primary_reason, score(r.layout, r.scores, ?) "
        "FROM runs CROSS JOIN cases c CROSS JOIN results r ON r.run_key = runs.key AND r.case_key = c.key "
        "WHERE c.id = ? AND runs.deleted_at IS NULL AND (? IS NULL OR runs.suite = ?) "
        "ORDER BY runs.created_at, runs.key, r.repeat",
        (metric, sql_text(case_id), suite, suite),
    )
    runs: dict[str, list[tuple[object, ...]]] = {}
    for row in found:
        runs.setdefault(row[0], []).append(row)
    newest = found[-1][3] if found else b""
    points = []
    for rows in runs.values():
        first = rows[0]
        scores = [float(row[6]) for row in rows if row[6] is not None]  # type: ignore[arg-type]
        points.append(
            CasePoint(
                run_id=str(first[0]),
                run_name=str(first[1]),
                created_at=str(first[2]),
                verdicts=tuple(str(row[4]) for row in rows),
                reason=next((str(row[5]) for row in rows if row[5] not in (None, "ok")), ""),
                score=sum(scores) / len(scores) if scores else None,
                same_question=first[3] == newest,
            )
        )
    return points


def flaky_cases(store: Store, suite: str, *, runs: int = LOOK_BACK, limit: int = 200) -> list[FlakyCase]:
    """Cases of the newest sealed runs whose repeats disagree, or that changed between PASS and not PASS at least
    twice; most changes first. ERROR counts as neither."""
    keys = [
        row[0]
        for row in store.rows(
            "SELECT key FROM runs WHERE suite = ? AND status = 'sealed' AND deleted_at IS NULL AND archived_at IS NULL "
            "ORDER BY created_at DESC, key DESC LIMIT ?",
            (suite, runs),
        )
    ]
    if not keys:
        return []
    rows = store.rows(
        "SELECT run_key, case_key, verdict = 'PASS' FROM results "
        f"WHERE run_key IN ({', '.join('?' * len(keys))}) AND verdict <> 'ERROR'",
        keys,
    )
    if not rows:
        return []
    cases, passes, n = _counted(np.array(rows, dtype=np.int64), keys[::-1])
    split = ((passes > 0) & (passes < n)).sum(axis=1)
    flips, newest = _flips(passes == n, n > 0)
    places = np.flatnonzero((split > 0) | (flips >= 2))
    order = places[np.lexsort((cases[places], -(flips + split)[places]))][:limit]
    return [
        _flaky(
            store,
            int(cases[i]),
            int(passes[i].sum()),
            int(n[i].sum()),
            int(flips[i]),
            int(split[i]),
            bool(newest[i]),
        )
        for i in order
    ]


def _counted(rows: Any, keys: list[int]) -> tuple[Any, Any, Any]:
    """(case keys, passes, answers that were judged) by case and run, the runs in the order of `keys`."""
    cases, at = np.unique(rows[:, 1], return_inverse=True)
    place = {key: i for i, key in enumerate(keys)}
    columns = np.array([place[key] for key in rows[:, 0].tolist()])
    shape, flat = (len(cases), len(keys)), at * len(keys) + columns
    n = np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape)
    passes = np.bincount(flat, weights=rows[:, 2], minlength=shape[0] * shape[1]).reshape(shape).astype(int)
    return cases, passes, n


def _flips(settled: Any, present: Any) -> tuple[Any, Any]:
    """Changes from run to run over the runs that have the case, and whether it passed in the newest of them."""
    flips = np.zeros(len(settled), dtype=int)
    last, seen = np.zeros(len(settled), dtype=bool), np.zeros(len(settled), dtype=bool)
    for run in range(settled.shape[1]):
        here = present[:, run]
        flips += here & seen & (settled[:, run] != last)
        last = np.where(here, settled[:, run], last)
        seen |= here
    return flips, last


def _flaky(
    store: Store, case_key: int, passes: int, n: int, flips: int, split: int, passed: bool
) -> FlakyCase:
    row = store.one("SELECT id, query FROM cases WHERE key = ?", (case_key,))
    interval = wilson(passes, n)
    return FlakyCase(
        case_id=str(row[0]) if row else "",
        query=str(row[1]) if row else "",
        passes=passes,
        n=n,
        low=interval.low if interval else 0.0,
        high=interval.high if interval else 1.0,
        flips=flips,
        split_runs=split,
        newest="PASS" if passed else "not PASS",
    )
