"""Cases that must pass, each judged against its own history (statistics.md 4.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import Problem, nearest
from core.records import Run
from core.statistics.repeats import predictive_tail
from core.store.compare.loading import Table
from core.store.packing import sql_text
from core.store.runs import Store

CHANCE = 0.01  # a failure less likely than this under the case's own history is a regression


@dataclass(frozen=True, slots=True)
class Critical:
    """A case that must pass: `passes` of `n` in this run, `past_passes` of `past_n` in earlier runs of the suite
    with the same content. `verdict` is PASS | WEAK | FAIL | ERROR."""

    case_id: str
    verdict: str
    passes: int
    n: int
    past_passes: int
    past_n: int
    chance: float | None
    why: str


def unknown_cases(table: Table, wanted: Sequence[str]) -> list[Problem]:
    """A problem for each name the run has no case for."""
    known = list(table.place)
    return [
        Problem("must_pass", f"the run has no case '{name}'{nearest(name, known)}")
        for name in wanted
        if name not in table.place
    ]


def judge_critical(store: Store, table: Table, wanted: Sequence[str]) -> list[Critical]:
    """Judge the cases of a policy, all of which the run has."""
    return [_judge(store, table, name) for name in dict.fromkeys(wanted)]


def _judge(store: Store, table: Table, case_id: str) -> Critical:
    side = table.sides.get(case_id)
    past_passes, past_n = history(store, table.run, case_id)
    if side is None or not side.n:
        return Critical(
            case_id, "ERROR", 0, 0, past_passes, past_n, None, "it has no answer that can be judged"
        )
    passes, n = side.passes, side.n
    past = f"passed {past_passes} of {past_n} times before" if past_n else "has no history"
    if passes == n:
        return Critical(case_id, "PASS", passes, n, past_passes, past_n, None, f"passed; {past}")
    chance = predictive_tail(past_passes, past_n, passes, n) if past_n else None
    stable = past_passes == past_n
    if (stable and passes * 2 < n) or (chance is not None and chance < CHANCE):
        verdict, why = "FAIL", f"passed {passes} of {n}; {past}"
    else:
        verdict = "WEAK"
        why = f"passed {passes} of {n}; {past}, so this may be chance: run it again with --repeats 5"
    return Critical(case_id, verdict, passes, n, past_passes, past_n, chance, why)


def history(store: Store, run: Run, case_id: str) -> tuple[int, int]:
    """(passes, answers that were judged) of a case in sealed runs made before this one that asked the same
    question under the same id."""
    row = store.one(
        "SELECT coalesce(sum(r.verdict = 'PASS'), 0), count(*) FROM runs CROSS JOIN cases c "
        "CROSS JOIN results r ON r.run_key = runs.key AND r.case_key = c.key "
        "WHERE c.id = ?1 AND c.content IN (SELECT c2.content FROM cases c2 CROSS JOIN run_cases rc "
        "ON rc.case_key = c2.key WHERE c2.id = ?1 AND rc.run_key = ?4) AND r.verdict <> 'ERROR' "
        "AND runs.status = 'sealed' AND runs.deleted_at IS NULL AND runs.kind = ?2 "
        "AND (runs.created_at, runs.key) < (?3, ?4)",
        (sql_text(case_id), run.kind, run.created_at, store.run_key(run.id)),
    )
    return (int(row[0]), int(row[1])) if row else (0, 0)
