"""Runs: the list, one run with its aggregates, verdicts by group, documents and parsing reports."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.records import Aggregate, Run
from dashboard.queries import source

LISTED = 500  # runs offered in the picker; older ones open through a link or the list on the home page


@dataclass(frozen=True, slots=True)
class Version:
    """What a cached value belongs to: a run of a store as it was after its last change."""

    store: str
    run_id: str
    updated_at: float


_LIST = """SELECT id, key, name, kind, suite, status, created_at, sealed_at, n_cases, repeats, verdicts, sweep_id,
    parent_id, archived_at, updated_at
    FROM runs WHERE deleted_at IS NULL"""


def count(sweeps: bool = True) -> int:
    """How many runs there are, with or without those of sweeps."""
    alone = "" if sweeps else " AND sweep_id IS NULL"
    found = source.first(f"SELECT count(*) AS n FROM runs WHERE deleted_at IS NULL{alone}")
    return int(found["n"]) if found else 0


def page(limit: int, offset: int = 0, search: str = "", sweeps: bool = True) -> list[dict[str, Any]]:
    """Runs, newest first, with or without those of sweeps; `verdicts` as a dict: cases by verdict (the worst of their
    repeats), so far."""
    where, params = "" if sweeps else " AND sweep_id IS NULL", []
    if search.strip():
        where += " AND (name LIKE ? ESCAPE '!' OR suite LIKE ? ESCAPE '!' OR id LIKE ? ESCAPE '!')"
        params = [like(search)] * 3
    sql = f"{_LIST}{where} ORDER BY created_at DESC, key DESC LIMIT ? OFFSET ?"
    with source.opened() as store:
        if store is None:
            return []
        found = store.query(sql, [*params, limit, offset])
    for row in found:
        simple = row["status"] == "sealed" and row["repeats"] == 1
        of = Version(str(source.store_path()), row["id"], row["updated_at"])
        row["verdicts"] = json.loads(row["verdicts"]) if simple else verdicts(of)
    return found


def choices() -> list[dict[str, Any]]:
    """id and name of the newest runs, newest first, for the picker."""
    return source.rows(
        "SELECT id, name FROM runs WHERE deleted_at IS NULL ORDER BY created_at DESC, key DESC LIMIT ?",
        [LISTED],
    )


def resolve(reference: str) -> dict[str, Any] | None:
    """The run a link means by its id, by the end of its id in brackets ("name (1f3a9c)"), or by its name."""
    ending = reference.rsplit("(", 1)[-1].rstrip(")") if reference.endswith(")") else ""
    return source.first(
        "SELECT id, name FROM runs WHERE deleted_at IS NULL AND (id = ?1 OR name = ?1 OR "
        "(?2 <> '' AND substr(id, -length(?2)) = ?2 AND name || ' (' || ?2 || ')' = ?1)) "
        "ORDER BY id = ?1 DESC, created_at DESC LIMIT 1",
        [reference, ending],
    )


def version(run_id: str) -> Version | None:
    """The key of everything cached about a run; None for an unknown run."""
    found = source.first("SELECT updated_at FROM runs WHERE id = ? AND deleted_at IS NULL", [run_id])
    return Version(str(source.store_path()), run_id, found["updated_at"]) if found else None


@source.cached
def run(of: Version) -> Run:
    """The run with its summary and aggregates."""
    with source.opened() as store:
        assert store is not None  # a version comes from a store
        return store.run(of.run_id)


@source.cached
def key_of(of: Version) -> int:
    found = source.first("SELECT key FROM runs WHERE id = ?", [of.run_id])
    return int(found["key"]) if found else -1


@source.cached
def verdicts(of: Version) -> dict[str, int]:
    """Cases by verdict, counted from the rows (a case with repeats counts by its worst)."""
    found = source.rows(
        "SELECT worst, count(*) AS n FROM (SELECT max(CASE verdict WHEN 'ERROR' THEN 3 WHEN 'FAIL' THEN 2 "
        "WHEN 'WEAK' THEN 1 ELSE 0 END) AS worst FROM results WHERE run_key = ? GROUP BY case_key) GROUP BY worst",
        [key_of(of)],
    )
    return {("PASS", "WEAK", "FAIL", "ERROR")[row["worst"]]: row["n"] for row in found}


@source.cached
def progress(of: Version) -> dict[str, Any]:
    """How much of a run is there: n_outputs, n_results, n_unchecked (cases with a check nobody could make),
    cost_usd (of the answers whose price is known, None where there is none), n_unpriced (answers of a model
    without a known price), latency_ms (median)."""
    key = key_of(of)
    outputs = source.first(
        "SELECT count(*) AS n_outputs, sum(cost_usd) AS cost_usd, sum(cost_usd IS NULL) AS n_without, "
        "sum(latency_ms IS NOT NULL) AS n_timed FROM outputs WHERE run_key = ?",
        [key],
    )
    results = source.first(
        "SELECT count(*) AS n_results, count(DISTINCT CASE WHEN n_unchecked > 0 THEN case_key END) AS n_unchecked "
        "FROM results WHERE run_key = ?",
        [key],
    )
    found = {**(outputs or {}), **(results or {}), "n_unpriced": 0}
    if found.get("n_without"):
        unpriced = source.first(
            "SELECT count(*) AS n FROM outputs WHERE run_key = ? AND cost_usd IS NULL "
            "AND json_extract(body_json(body), '$.usage') IS NOT NULL",
            [key],
        )
        found["n_unpriced"] = unpriced["n"] if unpriced else 0
    median = source.first(
        "SELECT latency_ms FROM outputs WHERE run_key = ? AND latency_ms IS NOT NULL ORDER BY latency_ms "
        "LIMIT 1 OFFSET ?",
        [key, int(found.get("n_timed") or 0) // 2],
    )
    return {**found, "latency_ms": median["latency_ms"] if median else None}


@source.cached
def by_group(of: Version, column: str = "question_type") -> pd.DataFrame:
    """Results by group and verdict: group, verdict, n."""
    if column not in {"question_type", "test", "evaluator", "label", "primary_reason"}:
        raise ValueError(f"not a column to group by: {column}")
    found = source.rows(
        f'SELECT {column} AS "group", verdict, count(*) AS n FROM results WHERE run_key = ? GROUP BY 1, 2',
        [key_of(of)],
    )
    return pd.DataFrame(found, columns=["group", "verdict", "n"]).fillna({"group": ""})


def overall(of: Version) -> list[Aggregate]:
    """The run's aggregates over all its cases, in the order core wrote them."""
    return [each for each in run(of).aggregates if not each.group_by]


@source.cached
def parsing_reports(of: Version) -> pd.DataFrame:
    """One row a file: doc_path, status, n_pages, n_characters, n_empty_pages, n_sections, n_tables, encrypted,
    image_only, seconds, problems (joined)."""
    with source.opened() as store:
        reports = store.parsing_reports(of.run_id) if store is not None else []
    frame = pd.DataFrame([report.model_dump() for report in reports])
    if not frame.empty:
        frame["problems"] = frame["problems"].map("; ".join)
    return frame


def like(text: str) -> str:
    """A contains-pattern that takes the user's text literally (ESCAPE '!')."""
    for mark in ("!", "%", "_"):
        text = text.replace(mark, "!" + mark)
    return f"%{text.strip()}%"
