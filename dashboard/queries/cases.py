"""Cases of a run: filtered, counted, sorted and paged in SQL; one row a case, its repeats together."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from dashboard.queries import source
from dashboard.queries.runs import Version, key_of, like

PAGE_SIZE = 25
SEVERITY = ("PASS", "WEAK", "FAIL", "ERROR")
_SEVERITY = "CASE r.verdict WHEN 'ERROR' THEN 3 WHEN 'FAIL' THEN 2 WHEN 'WEAK' THEN 1 ELSE 0 END"
_WORST = f"max({_SEVERITY})"
# what needs attention comes first: FAIL, ERROR, WEAK, PASS
_ATTENTION = f"CASE {_WORST} WHEN 2 THEN 0 WHEN 3 THEN 1 WHEN 1 THEN 2 ELSE 3 END"
# scores that are not stored with a result because its verdict says them: SQL for the value
DERIVED = {"pass_rate": "CASE r.verdict WHEN 'ERROR' THEN NULL WHEN 'PASS' THEN 1.0 ELSE 0.0 END"}
ERROR_REASONS = ("judge_error", "system_error", "evaluator_error", "error")
STATES = ("scored", "not applicable", "error")
SORTS = {
    "trouble first": f"{_ATTENTION}, rc.position",
    "file order": "rc.position",
    "lowest score": "score IS NULL, score, rc.position",
    "highest score": "score IS NULL, score DESC, rc.position",
    "slowest": "latency_ms IS NULL, latency_ms DESC, rc.position",
    "dearest": "cost_usd IS NULL, cost_usd DESC, rc.position",
}


@dataclass(frozen=True, slots=True)
class Filters:
    """What is wanted of a run's cases; an empty field wants everything.

    `verdicts` are worst verdicts over the repeats. `state` says what became of `metric` on a case: scored | not
    applicable | error. `search` looks in id, question and the first 4,000 characters of the answer.
    """

    verdicts: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    reason: str = ""
    label: str = ""
    search: str = ""
    flaky: bool = False
    unchecked: bool = False
    metric: str = ""
    state: str = ""


@source.cached
def page(of: Version, wanted: Filters, sort: str, number: int, size: int = PAGE_SIZE) -> pd.DataFrame:
    """One page of cases: case_id, position, query, question_type, verdict (worst), verdicts (one a repeat, in
    order), repeats, flaky, label, primary_reason and failure ("" where none; of the worst repeat), n_unchecked, latency_ms and cost_usd (means over the
    repeats), score (mean of `wanted.metric`). `number` counts from 1."""
    inner, params = _grouped(of, wanted)
    sql = (
        f"SELECT g.*, c.id AS case_id, c.query, c.test FROM ({inner} ORDER BY {SORTS[sort]} LIMIT ? OFFSET ?) g "
        "JOIN cases c ON c.key = g.case_key"
    )
    with source.opened() as store:
        found = store.query(sql, [*params, size, max(number - 1, 0) * size]) if store is not None else []
        strips = _strips(store, key_of(of), [row["case_key"] for row in found if row["repeats"] > 1])
    for row in found:
        row["verdict"] = SEVERITY[row["worst"]]
        row["verdicts"] = strips.get(row["case_key"], [row["verdict"]])
    columns = (
        "case_id position query question_type test verdict verdicts repeats flaky label primary_reason failure "
        "n_unchecked latency_ms cost_usd score"
    )
    frame = pd.DataFrame(found, columns=columns.split()).astype(object)
    return frame.where(frame.notna(), None)


@source.cached
def count(of: Version, wanted: Filters) -> int:
    """Number of cases that match."""
    inner, params = _grouped(of, wanted)
    found = source.first(f"SELECT count(*) AS n FROM ({inner})", params)
    return int(found["n"]) if found else 0


@source.cached
def verdict_counts(of: Version, wanted: Filters) -> dict[str, int]:
    """Cases by worst verdict under the other filters: a count never depends on its own filter."""
    inner, params = _grouped(of, replace(wanted, verdicts=()))
    found = source.rows(f"SELECT worst, count(*) AS n FROM ({inner}) GROUP BY worst", params)
    return {SEVERITY[row["worst"]]: row["n"] for row in found}


@source.cached
def facet(of: Version, wanted: Filters, field: str) -> dict[str, int]:
    """Cases by question_type, primary_reason or label under the other filters, most frequent first."""
    others = {
        "question_type": replace(wanted, types=()),
        "primary_reason": replace(wanted, reason=""),
        "label": replace(wanted, label=""),
    }[field]
    inner, params = _grouped(of, others)
    found = source.rows(
        f"SELECT {field} AS value, count(*) AS n FROM ({inner}) GROUP BY 1 ORDER BY 2 DESC, 1", params
    )
    return {row["value"]: row["n"] for row in found if row["value"]}


@source.cached
def special_counts(of: Version, wanted: Filters) -> dict[str, int]:
    """Cases that are flaky, and cases with a check nobody could make, under the other filters."""
    inner, params = _grouped(of, replace(wanted, flaky=False, unchecked=False))
    found = source.first(
        f"SELECT sum(flaky) AS flaky, sum(n_unchecked > 0) AS unchecked FROM ({inner})", params
    )
    return {name: int(n or 0) for name, n in (found or {}).items()}


@source.cached
def metric_names(of: Version) -> list[str]:
    """Names of the scores the run's results carry, in the order core wrote them."""
    found = source.rows(
        "SELECT names FROM layouts WHERE key IN (SELECT DISTINCT layout FROM results WHERE run_key = ?)",
        [key_of(of)],
    )
    names: dict[str, None] = {}
    for row in found:
        names.update(dict.fromkeys(json.loads(row["names"])))
    return [*DERIVED, *names]


@source.cached
def neighbours(of: Version, case_id: str) -> dict[str, Any]:
    """Where a case stands in its run: position from 1, total, previous and next id, and the next one with
    trouble (`next_trouble`: FAIL, ERROR or WEAK, wrapping round). Empty for an unknown case."""
    key = key_of(of)
    here = source.first(
        "SELECT rc.position FROM run_cases rc JOIN cases c ON c.key = rc.case_key WHERE rc.run_key = ? AND c.id = ?",
        [key, case_id],
    )
    if here is None:
        return {}
    at = here["position"]
    base = "SELECT c.id FROM run_cases rc JOIN cases c ON c.key = rc.case_key WHERE rc.run_key = ?"
    trouble = " AND EXISTS (SELECT 1 FROM results r WHERE r.run_key = rc.run_key AND r.case_key = rc.case_key AND r.verdict <> 'PASS')"
    after = source.first(f"{base} AND rc.position > ? ORDER BY rc.position LIMIT 1", [key, at])
    before = source.first(f"{base} AND rc.position < ? ORDER BY rc.position DESC LIMIT 1", [key, at])
    hard = source.first(
        f"{base}{trouble} AND rc.position <> ? ORDER BY rc.position < ?, rc.position LIMIT 1", [key, at, at]
    )
    total = source.first("SELECT count(*) AS n FROM run_cases WHERE run_key = ?", [key])
    place = source.first("SELECT count(*) AS n FROM run_cases WHERE run_key = ? AND position <= ?", [key, at])
    return {
        "position": place["n"] if place else 1,
        "total": total["n"] if total else 0,
        "previous": before["id"] if before else None,
        "next": after["id"] if after else None,
        "next_trouble": hard["id"] if hard else None,
    }


def _strips(store: Any, run_key: int, case_keys: list[int]) -> dict[int, list[str]]:
    if store is None or not case_keys:
        return {}
    marks = ", ".join("?" * len(case_keys))
    strips: dict[int, list[str]] = {}
    for row in store.query(
        f"SELECT case_key, verdict FROM results WHERE run_key = ? AND case_key IN ({marks}) ORDER BY repeat",
        [run_key, *case_keys],
    ):
        strips.setdefault(row["case_key"], []).append(row["verdict"])
    return strips


def _grouped(of: Version, wanted: Filters) -> tuple[str, list[Any]]:
    """SELECT of one row a case that matches, and its parameters."""
    value, params = _value(wanted.metric)
    score = f"avg({value})"
    having, having_params = _having(wanted)
    where, where_params = "r.run_key = ?", [key_of(of)]
    joined = ""
    if wanted.search.strip():
        joined = " JOIN cases s ON s.key = r.case_key"
        where += (
            " AND (s.id LIKE ? ESCAPE '!' OR s.query LIKE ? ESCAPE '!' OR EXISTS (SELECT 1 FROM outputs a WHERE "
            "a.run_key = r.run_key AND a.case_key = r.case_key AND a.text LIKE ? ESCAPE '!'))"
        )
        where_params += [like(wanted.search)] * 3
    sql = f"""SELECT r.case_key, rc.position, {_WORST} AS worst, count(*) AS repeats,
        count(DISTINCT r.verdict) > 1 AS flaky, max(r.question_type) AS question_type, {_of_worst("label")} AS label,
        {_of_worst("primary_reason")} AS primary_reason, {_of_worst("failure")} AS failure, sum(r.n_unchecked) AS n_unchecked,
        avg(o.latency_ms) AS latency_ms, avg(o.cost_usd) AS cost_usd, {score} AS score
        FROM results r
        JOIN run_cases rc ON rc.run_key = r.run_key AND rc.case_key = r.case_key{joined}
        LEFT JOIN outputs o ON o.run_key = r.run_key AND o.case_key = r.case_key AND o.repeat = r.repeat
        WHERE {where} GROUP BY r.case_key{having}"""
    return sql, [*params, *where_params, *having_params]


def _of_worst(column: str) -> str:
    """SQL of a column's value on the repeat with the severest verdict; "" where it has none."""
    return f"substr(max({_SEVERITY} || coalesce(r.{column}, '')), 2)"


def _having(wanted: Filters) -> tuple[str, list[Any]]:
    conditions: list[str] = []
    params: list[Any] = []
    if wanted.verdicts:
        conditions.append(
            f"worst IN ({', '.join(str(SEVERITY.index(v)) for v in wanted.verdicts if v in SEVERITY)})"
        )
    if wanted.types:
        conditions.append(f"question_type IN ({', '.join('?' * len(wanted.types))})")
        params += wanted.types
    for column, value in (("primary_reason", wanted.reason), ("label", wanted.label)):
        if value:
            conditions.append(f"max(r.{column} = ?)")
            params.append(value)
    if wanted.flaky:
        conditions.append("count(DISTINCT r.verdict) > 1")
    if wanted.unchecked:
        conditions.append("sum(r.n_unchecked) > 0")
    if wanted.metric and wanted.state in STATES:
        value, named = _value(wanted.metric)
        # as core counts them: a case is scored when any repeat is, else an error when any repeat is one
        broken = f"coalesce(json_extract(body_json(r.body), ?) IN {ERROR_REASONS}, r.verdict = 'ERROR' OR r.failure IS NOT NULL)"
        reason = f'$.undefined."{wanted.metric}"'
        if wanted.state == "scored":
            conditions.append(f"count({value}) > 0")
            params += named
        else:
            conditions.append(f"count({value}) = 0 AND max({broken}) = {int(wanted.state == 'error')}")
            params += [*named, reason]
    return (f" HAVING {' AND '.join(conditions)}" if conditions else ""), params


def _value(metric: str) -> tuple[str, list[Any]]:
    """SQL of one score of a result, with its parameters."""
    if not metric:
        return "NULL", []
    return (DERIVED[metric], []) if metric in DERIVED else ("score(r.layout, r.scores, ?)", [metric])
