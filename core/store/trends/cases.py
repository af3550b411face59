"""Single cases over time: the history of one, and the list of those that cannot make up their mind."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

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
    order = {key: place for place, key in enumerate(reversed(keys))}
    seen: dict[int, dict[int, list[bool]]] = {}
    for run_key, case_key, passed in store.rows(
        "SELECT run_key, case_key, verdict = 'PASS' FROM results "
        f"WHERE run_key IN ({', '.join('?' * len(keys))}) AND verdict <> 'ERROR'",
        keys,
    ):
        seen.setdefault(case_key, {}).setdefault(order[run_key], []).append(bool(passed))
    found = []
    for case_key, by_run in seen.items():
        history = [by_run[place] for place in sorted(by_run)]
        split = sum(len(set(outcomes)) > 1 for outcomes in history)
        settled = [all(outcomes) for outcomes in history]
        flips = sum(a != b for a, b in itertools.pairwise(settled))
        if split or flips >= 2:
            found.append((flips + split, case_key, history, flips, split))
    found.sort(key=lambda entry: (-entry[0], entry[1]))
    return [_flaky(store, *entry[1:]) for entry in found[:limit]]


def _flaky(store: Store, case_key: int, history: list[list[bool]], flips: int, split: int) -> FlakyCase:
    row = store.one("SELECT id, query FROM cases WHERE key = ?", (case_key,))
    outcomes = [outcome for each in history for outcome in each]
    interval = wilson(sum(outcomes), len(outcomes))
    return FlakyCase(
        case_id=str(row[0]) if row else "",
        query=str(row[1]) if row else "",
        passes=sum(outcomes),
        n=len(outcomes),
        low=interval.low if interval else 0.0,
        high=interval.high if interval else 1.0,
        flips=flips,
        split_runs=split,
        newest="PASS" if all(history[-1]) else "not PASS",
    )
