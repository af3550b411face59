"""A suite over time, its gates, its flaky cases and its baselines, as `core.store.trends` finds them."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import streamlit as st

from core.store.trends import FEWEST, FlakyCase, Series, Trend, flaky_cases, suites, trend
from dashboard.queries import source

__all__ = ["FEWEST", "FlakyCase", "Series", "Trend"]  # what parts and pages name


def suite_counts() -> dict[str, int]:
    """Suites with sealed runs, newest first → how many."""
    with source.opened() as store:
        return {suite: n for suite, n, _ in suites(store)} if store is not None else {}


def state(suite: str) -> tuple[str, int, float]:
    """What a cached trend of a suite belongs to: the store, the runs of the suite, their last change."""
    found = source.first(
        "SELECT count(*) AS n, coalesce(max(updated_at), 0) AS changed FROM runs WHERE suite = ?", [suite]
    )
    return (
        str(source.store_path()),
        int(found["n"]) if found else 0,
        float(found["changed"]) if found else 0.0,
    )


def of(suite: str) -> Trend:
    """The newest sealed runs of a suite with every headline series."""
    return _trend(suite, state(suite))


@st.cache_resource(max_entries=16, show_spinner="Reading the runs of this suite…")
def _trend(suite: str, version: tuple[str, int, float]) -> Trend:
    with source.opened() as store:
        assert store is not None  # a suite comes from a store
        return trend(store, suite)


def flaky(suite: str) -> list[FlakyCase]:
    """Cases that cannot make up their mind, most changes first."""
    return _flaky(suite, state(suite))


@st.cache_resource(max_entries=16, show_spinner="Looking for cases that change from run to run…")
def _flaky(suite: str, version: tuple[str, int, float]) -> list[FlakyCase]:
    with source.opened() as store:
        return flaky_cases(store, suite) if store is not None else []


def frame(found: Trend, series: Series) -> pd.DataFrame:
    """One row a run that has a value: place (0 is the oldest), run_id, name, created_at, value, low, high, n, n_error,
    comparable, level (mean of its stretch between change points), settings (what changed before it, joined), gate."""
    changed = {each.run_id: "; ".join(each.changes) for each in found.annotations}
    level = None
    starts = {change.index: change for change in series.changes}
    if series.changes:
        level = series.changes[0].before
    rows = []
    for place, point in enumerate(series.points):
        if place in starts:
            level = starts[place].after
        rows.append(
            {
                "place": place, "run_id": point.run_id, "name": point.run_name, "created_at": point.created_at,
                "value": point.value, "low": point.low, "high": point.high, "n": point.n_scored, "n_error": point.n_error,
                "comparable": point.comparable, "level": level, "settings": changed.get(point.run_id, ""),
                "gate": found.gates.get(point.run_id, ""),
            }
        )  # fmt: skip
    table = pd.DataFrame(rows)
    return table[table["value"].notna()].reset_index(drop=True) if len(table) else table


def noise_floor(series: Series) -> float | None:
    """Differences between two runs below this mean nothing: 2·√2 standard deviations between runs of an unchanged
    system (see `core.store.trends`); None where nobody knows."""
    return None if series.noise is None else 2 * math.sqrt(2) * series.noise


def gates(suite: str) -> list[dict[str, Any]]:
    """Gate decisions of a suite, newest first: run_id, run_name, baseline_id, baseline_name, decided_at, verdict,
    report."""
    with source.opened() as store:
        if store is None:
            return []
        names = {row["id"]: row["name"] for row in store.query("SELECT id, name FROM runs", [])}
        return [
            {
                "run_id": gate.run_id, "run_name": names.get(gate.run_id, gate.run_id), "baseline_id": gate.baseline_id,
                "baseline_name": names.get(gate.baseline_id or "", ""), "decided_at": gate.decided_at, "verdict": gate.verdict,
                "report": gate.report,
            }
            for gate in store.gates(suite=suite)
        ]  # fmt: skip


def baselines(suite: str) -> list[dict[str, Any]]:
    """Pinned runs of a suite, by name: name, run_id, run_name, pinned_at."""
    return source.rows(
        "SELECT b.name, r.id AS run_id, r.name AS run_name, b.pinned_at FROM baselines b JOIN runs r ON r.key = b.run_key "
        "WHERE r.suite = ? ORDER BY b.name",
        [suite],
    )


def sealed_runs(suite: str, limit: int = 200) -> list[dict[str, Any]]:
    """Sealed runs of a suite that may be pinned, newest first: id, name."""
    return source.rows(
        "SELECT id, name FROM runs WHERE suite = ? AND status = 'sealed' AND deleted_at IS NULL ORDER BY created_at DESC, key DESC LIMIT ?",
        [suite, limit],
    )
