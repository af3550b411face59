"""What the home page says about each question set: its newest run, its gate, what changed since its baseline."""

from __future__ import annotations

import json
from typing import Any

from dashboard.queries import runs, source
from dashboard.queries.runs import Version

RANK = "CASE verdict WHEN 'ERROR' THEN 3 WHEN 'FAIL' THEN 2 WHEN 'WEAK' THEN 1 ELSE 0 END"


def suites(limit: int = 12) -> list[dict[str, Any]]:
    """Question sets, the one with the newest sealed run first: suite, n_runs, run_id, name, created_at, verdicts (a
    dict), errors, gate (verdict of its newest gate, "" for none), other (the newest pinned baseline, else the run
    before; None where there is none), regressed and fixed against it, passing (pass rate with low and high, None where
    core gave none), cost_usd (None where nothing is known). Runs of sweeps are left out: they stand under their sweep."""
    found = source.rows(
        "SELECT suite, count(*) AS n_runs, max(created_at) AS newest FROM runs WHERE deleted_at IS NULL AND archived_at IS NULL "
        "AND status = 'sealed' AND sweep_id IS NULL GROUP BY suite ORDER BY newest DESC LIMIT ?",
        [limit],
    )
    return [{**row, **about} for row in found if (about := _newest(row["suite"]))]


def _newest(suite: str) -> dict[str, Any]:
    listed = source.rows(
        "SELECT id, name, created_at, verdicts, repeats, updated_at FROM runs WHERE suite = ? AND deleted_at IS NULL AND "
        "archived_at IS NULL AND status = 'sealed' AND sweep_id IS NULL ORDER BY created_at DESC, key DESC LIMIT 2",
        [suite],
    )
    if not listed:
        return {}
    newest = listed[0]
    of = _version(newest)
    pinned = source.first(
        "SELECT r.id, r.name, r.updated_at, b.name AS baseline FROM baselines b JOIN runs r ON r.key = b.run_key "
        "WHERE r.suite = ? AND r.deleted_at IS NULL ORDER BY b.pinned_at DESC LIMIT 1",
        [suite],
    )
    other = pinned if pinned and pinned["id"] != newest["id"] else listed[1] if len(listed) > 1 else None
    changed = changes(_version(other), of) if other else {"regressed": 0, "fixed": 0}
    gate = source.first(
        "SELECT g.verdict FROM gates g WHERE g.run_key = ? ORDER BY g.key DESC LIMIT 1", [runs.key_of(of)]
    )
    counts = json.loads(newest["verdicts"]) if newest["repeats"] == 1 else runs.verdicts(of)
    rate = next((each for each in runs.overall(of) if each.metric == "pass_rate"), None)
    return {
        "run_id": newest["id"], "name": newest["name"], "created_at": newest["created_at"], "verdicts": counts,
        "errors": counts.get("ERROR", 0), "gate": gate["verdict"] if gate else "", "other": other, **changed,
        "passing": rate, "cost_usd": runs.progress(of)["cost_usd"],
    }  # fmt: skip


@source.cached
def changes(before: Version, after: Version) -> dict[str, int]:
    """Cases of the same content in both runs whose worst verdict got worse (regressed) or better (fixed); errors of
    either run are no change of quality."""
    worst = f"SELECT case_key, max({RANK}) AS rank FROM results WHERE run_key = ? GROUP BY case_key"
    found = source.first(
        "SELECT coalesce(sum(b.rank > a.rank), 0) AS regressed, coalesce(sum(b.rank < a.rank), 0) AS fixed "
        f"FROM ({worst}) a JOIN ({worst}) b USING (case_key) WHERE a.rank < 3 AND b.rank < 3",
        [runs.key_of(before), runs.key_of(after)],
    )
    return found or {"regressed": 0, "fixed": 0}


def _version(run: dict[str, Any]) -> Version:
    return Version(str(source.store_path()), run["id"], run["updated_at"])
