"""Two runs side by side, and up to ten: what `core.store.compare` finds, paged for the screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from core.errors import StoreError
from core.store.compare import (
    CaseDifference,
    Comparison,
    MetricDifference,
    Pair,
    case_difference,
    compare_runs,
)
from core.store.compare.page import compare_page
from dashboard.queries import source
from dashboard.queries.cases import DERIVED
from dashboard.queries.runs import Version, key_of

__all__ = ["CaseDifference", "Comparison", "MetricDifference", "Pair"]  # what parts and pages name
PAGE_SIZE = 25
MOST_RUNS = 10
# what a reader filters by, in the order of attention; "error" and "changed" are the two kinds of not comparable
CHANGES = (
    "regressed",
    "fixed",
    "flipped",
    "error",
    "changed",
    "only_in_baseline",
    "only_in_candidate",
    "same",
)
_CHANGE_OF = {
    "broken": "regressed",
    "fixed": "fixed",
    "flaky": "flipped",
    "only_in_a": "only_in_baseline",
    "only_in_b": "only_in_candidate",
    "unchanged": "same",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which cases of a comparison; an empty field wants everything. `search` looks in id and question."""

    changes: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    search: str = ""


# a comparison of 10,000 cases is shared and never changed; a copy at every click would cost more than reading it
@st.cache_resource(max_entries=24, show_spinner="Comparing the two runs case by case…")
def comparison(a: Version, b: Version) -> Comparison:
    """The baseline `a` against the candidate `b`."""
    with source.opened() as store:
        assert store is not None  # versions come from a store
        return compare_runs(store, a.run_id, b.run_id)


def change_of(pair: Pair) -> str:
    """regressed | fixed | flipped | error | changed | only_in_baseline | only_in_candidate | same."""
    if pair.status == "not_comparable":
        return "error" if pair.note.startswith("ERROR") else "changed"
    return _CHANGE_OF[pair.status]


@st.cache_resource(max_entries=24, show_spinner=False)
def _listed(a: Version, b: Version) -> tuple[list[Pair], pd.DataFrame]:
    """The pairs, what needs attention first, then in file order; and a row each with change, type and text."""
    place = {change: number for number, change in enumerate(CHANGES)}
    pairs = sorted(comparison(a, b).pairs, key=lambda pair: (place[change_of(pair)], pair.position))
    rows = [(change_of(pair), pair.question_type, f"{pair.query}\n{pair.id}".casefold()) for pair in pairs]
    frame = pd.DataFrame(rows, columns=["change", "type", "text"])
    return pairs, frame.astype({"change": "category", "type": "category"})


def _matching(frame: pd.DataFrame, wanted: Wanted) -> pd.Series:
    found = pd.Series(True, index=frame.index)
    if wanted.changes:
        found &= frame["change"].isin(wanted.changes)
    if wanted.types:
        found &= frame["type"].isin(wanted.types)
    if text := wanted.search.strip().casefold():
        found &= frame["text"].str.contains(text, regex=False)
    return found


def counts(a: Version, b: Version, wanted: Wanted = Wanted()) -> dict[str, int]:
    """Cases by change under the other filters: a count never depends on its own filter."""
    _, frame = _listed(a, b)
    matching = frame["change"][_matching(frame, Wanted((), wanted.types, wanted.search))].value_counts()
    return {change: int(matching.get(change, 0)) for change in CHANGES}


def question_types(a: Version, b: Version) -> dict[str, int]:
    """Cases by question type, most frequent first."""
    kinds = _listed(a, b)[1]["type"].value_counts()
    return {str(kind): int(n) for kind, n in kinds.items() if kind}


def chosen(a: Version, b: Version, wanted: Wanted) -> list[Pair]:
    """The pairs that match, what needs attention first, then in file order."""
    pairs, frame = _listed(a, b)
    return [pairs[place] for place in _matching(frame, wanted).to_numpy().nonzero()[0]]


def by_case(found: Comparison) -> dict[str, Pair]:
    """Pairs by the baseline's case id, for the further columns of a matrix."""
    return {pair.a.case_id: pair for pair in found.pairs if pair.a is not None}


@source.cached
def scores(of: Version, metric: str, case_ids: tuple[str, ...] = ()) -> dict[str, float]:
    """Case id → score of one metric, averaged over the repeats; cases without one are left out. All cases, or
    those that are named."""
    value = DERIVED.get(metric, "score(r.layout, r.scores, ?)")
    params: list[Any] = [] if metric in DERIVED else [metric]
    where = ""
    if case_ids:
        where = f" AND c.id IN ({', '.join('?' * len(case_ids))})"
    found = source.rows(
        f"SELECT c.id, avg({value}) AS score FROM results r JOIN cases c ON c.key = r.case_key "
        f"WHERE r.run_key = ?{where} GROUP BY c.key",
        [*params, key_of(of), *case_ids],
    )
    return {row["id"]: row["score"] for row in found if row["score"] is not None}


def score_pairs(found: Comparison, a: Version, b: Version, metric: str) -> pd.DataFrame:
    """Cases scored in both runs: case_id, query, change, a, b."""
    left, right = scores(a, metric), scores(b, metric)
    rows = [
        (pair.id, pair.query, change_of(pair), left[pair.a.case_id], right[pair.b.case_id])
        for pair in found.pairs
        if pair.a and pair.b and pair.a.case_id in left and pair.b.case_id in right
    ]
    return pd.DataFrame(rows, columns=["case_id", "query", "change", "a", "b"])


@source.cached
def difference(a: Version, b: Version, case_a: str, case_b: str, repeat: int = 0) -> CaseDifference | None:
    """What changed in one case; None where one of the runs has no such case any more."""
    with source.opened() as store:
        if store is None:
            return None
        try:
            return case_difference(store, a.run_id, b.run_id, case_a, case_b, repeat=repeat)
        except StoreError:
            return None


def html(comparisons: Sequence[Comparison]) -> str:
    """The comparison as one self-contained HTML file."""
    with source.opened() as store:
        assert store is not None
        return compare_page(store, comparisons)


def suggested_baseline(of: Version) -> str | None:
    """The run a candidate is best held against: the pinned baseline of its suite, else the run of the same suite
    and kind sealed before it, else after it; None where it is alone."""
    here = source.first("SELECT key, suite, kind, created_at FROM runs WHERE id = ?", [of.run_id])
    if here is None:
        return None
    params = [here["suite"], here["kind"], of.run_id]
    pinned = source.first(
        "SELECT r.id FROM baselines b JOIN runs r ON r.key = b.run_key WHERE r.suite = ? AND r.kind = ? AND r.id <> ? "
        "AND r.deleted_at IS NULL ORDER BY b.pinned_at DESC LIMIT 1",
        params,
    )
    other = pinned or source.first(
        "SELECT id FROM runs WHERE suite = ? AND kind = ? AND id <> ? AND status = 'sealed' AND deleted_at IS NULL "
        "ORDER BY created_at > ?, CASE WHEN created_at > ? THEN created_at END, created_at DESC, key DESC LIMIT 1",
        [*params, here["created_at"], here["created_at"]],
    )
    return str(other["id"]) if other else None


def baseline_names() -> dict[str, str]:
    """Run id → the names it is pinned under as a baseline."""
    found = source.rows(
        "SELECT r.id, group_concat(b.name, ', ') AS names FROM baselines b JOIN runs r ON r.key = b.run_key GROUP BY r.key"
    )
    return {row["id"]: row["names"] for row in found}
