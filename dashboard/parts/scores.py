"""The scores of a run as people read them: estimate, interval, what the mean is over, and what it rests on."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from core.records import Aggregate, Run
from dashboard import widgets, wording
from dashboard.charts import estimates, verdicts
from dashboard.queries import descriptions, runs
from dashboard.queries.runs import Version

PASS_RATE = "pass_rate"
MOST_SHOWN = 8
MOST_GROUPS = 12
NOT_GIVEN = "(not given)"


def pass_rate(run: Run) -> dict[str, Any] | None:
    """The share of cases that pass with its interval, where core wrote one."""
    found = next((each for each in run.aggregates if each.metric == PASS_RATE and not each.group_by), None)
    return found.model_dump() if found else None


def overview(run: Run, link: dict[str, str]) -> None:
    """Headline scores as dots with intervals and chips; all others on request."""
    known = descriptions.metrics()
    every = [each for each in run.aggregates if not each.group_by]
    if not every:
        st.info(
            "Means and intervals are computed when a run is complete."
            if run.status != "sealed"
            else "This run was sealed without scores.",
            title="No scores yet",
        )
        return
    chosen = headline(every, known)
    fractions = [
        each for each in chosen if _kind(each, known) in wording.FRACTION_KINDS and each.mean is not None
    ]
    if fractions:
        frame = pd.DataFrame([_row(each, known) for each in fractions])
        low = min(fractions, key=lambda each: each.mean or 0.0)
        finding = f"Lowest: {_title(low, known)} at {wording.rate(low.mean)}"
        widgets.chart(
            estimates.estimates, frame, finding, f"mean and 95 % interval, n ≤ {run.n_cases}", key="estimates"
        )
    for each in chosen:
        chips(each, known, link)
    rest = st.expander(f"All {len(every)} scores", on_change="rerun", key="all_scores")
    if rest.open:
        with rest:
            table(every, known)


def headline(every: list[Aggregate], known: dict[str, dict[str, Any]]) -> list[Aggregate]:
    """The scores marked as headline, else the first ones that are shares."""
    marked = [each for each in every if known.get(each.metric, {}).get("headline") and each.n_scored]
    chosen = marked or [
        each for each in every if each.n_scored and _kind(each, known) in wording.FRACTION_KINDS
    ]
    return sorted(chosen, key=lambda each: each.metric != PASS_RATE)[:MOST_SHOWN]


def chips(each: Aggregate, known: dict[str, dict[str, Any]], link: dict[str, str]) -> None:
    """One line a score: value, interval, and what the mean is over; each count opens the rows behind it."""
    kind = _kind(each, known)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f"**{widgets.escaped(_title(each, known))}** {wording.value(each.mean, kind)} "
            f"{widgets.escaped(wording.interval(each.low, each.high, kind)) or ':gray[no interval]'}",
            help=_about(each, known),
            width="content",
        )
        for state, number in (
            ("scored", each.n_scored),
            ("not applicable", each.n_not_applicable),
            ("error", each.n_error),
        ):
            word = {"error": "error" if number == 1 else "errors"}.get(state, state)
            if number:
                widgets.link_to(
                    "verdicts", f"{wording.count(number)} {word}", link, metric=each.metric, state=state
                )


def table(every: list[Aggregate], known: dict[str, dict[str, Any]]) -> None:
    """All aggregates in one table that can be sorted, searched and exported."""
    frame = pd.DataFrame(
        [
            {
                "score": _title(each, known),
                "mean": wording.value(each.mean, _kind(each, known)),
                "interval": wording.interval(each.low, each.high, _kind(each, known)) or wording.MISSING,
                "scored": each.n_scored,
                "not applicable": each.n_not_applicable,
                "error": each.n_error,
                "note": each.note,
                "published name": each.metric,
            }
            for each in every
        ]
    )
    st.dataframe(frame, hide_index=True, alt="All scores with interval and counts")


def by_group(run: Run, version: Version) -> None:
    """Verdicts by the test of an audit, else by question type, the group with the lowest pass rate first; nothing
    where there is one group only."""
    column, noun = ("test", "test") if run.kind == "audit" else ("question_type", "question type")
    groups = runs.by_group(version, column).replace({"group": {"": NOT_GIVEN}})
    judged = groups[groups["verdict"] != "ERROR"]
    rates = (
        judged.assign(passed=judged["n"] * (judged["verdict"] == "PASS"))
        .groupby("group")[["passed", "n"]]
        .sum()
    )
    shares = (rates["passed"] / rates["n"]).to_dict()
    ordered = sorted(shares, key=lambda group: (shares[group], group))
    if len(ordered) < 2:
        return
    st.header("Where it fails")
    shown = ordered[:MOST_GROUPS]
    place = {group: position for position, group in enumerate(shown)}
    frame = groups[groups["group"].isin(shown)].sort_values(
        "group", key=lambda column: column.map(place), kind="stable"
    )
    total = int(frame["n"].sum())
    frame = frame.assign(group=frame["group"].map(wording.title))
    finding = f"{wording.title(ordered[0])}: {wording.rate(shares[ordered[0]])} pass, the lowest of {wording.plural(len(ordered), noun)}"
    note = f"verdicts by {noun}, n = {wording.count(total)}"
    if len(ordered) > len(shown):
        note += f"; the {len(shown)} weakest of {len(ordered)} groups"
    widgets.chart(verdicts.verdicts_by_group, frame, finding, note, key="groups")


def trust(run: Run, progress: dict[str, Any]) -> None:
    """What the figures rest on: coverage, what the set can detect, digests, versions, settings."""
    summary = run.summary
    if isinstance(summary.get("detectable"), str):
        st.markdown(widgets.escaped(summary["detectable"]))
    for notice in summary.get("notices", [])[:10]:
        st.warning(widgets.escaped(str(notice)))
    widgets.facts(
        {
            "Answers stored": f"{wording.count(progress['n_outputs'] or 0)} of {wording.count(run.n_cases * run.repeats)}",
            "Asked": f"{wording.plural(run.repeats, 'time')} each, seed {run.seed}",
            "Median answer": wording.duration(progress["latency_ms"]),
            "Cost": wording.cost(progress["cost_usd"], progress["n_unpriced"]),
            **_judging(summary.get("judge") or {}),
        }
    )
    details = st.expander("Digests, versions and settings", on_change="rerun", key="provenance")
    if details.open:
        with details:
            digests = {
                f"digest: {name}": value[:16]
                for name, value in {"question set": run.suite_digest, **run.digests}.items()
            }
            versions = {f"version: {name}": value for name, value in run.versions.items()}
            origin = {
                "run": run.id,
                "git": run.git_revision or wording.MISSING,
                "folder": run.folder or wording.MISSING,
            }
            widgets.facts({**origin, **digests, **versions})
            st.json(
                {name: value for name, value in run.settings.items() if value not in (None, "", [], {})},
                expanded=True,
            )


def _judging(told: dict[str, Any]) -> dict[str, str]:
    usage = told.get("usage") or {}
    return {"Judging": wording.money(usage.get("cost_usd"))} if usage.get("calls") else {}


def _kind(each: Aggregate, known: dict[str, dict[str, Any]]) -> str:
    return str(
        known.get(each.metric, {}).get("kind") or ("binary" if each.metric == PASS_RATE else "unbounded")
    )


def _title(each: Aggregate, known: dict[str, dict[str, Any]]) -> str:
    title = str(known.get(each.metric, {}).get("title") or wording.title(each.metric))
    return f"{title} ({each.estimate})" if each.estimate else title


def _row(each: Aggregate, known: dict[str, dict[str, Any]]) -> dict[str, Any]:
    kind = _kind(each, known)
    shown = wording.value(each.mean, kind)
    return {
        "title": _title(each, known),
        "mean": each.mean,
        "low": each.low,
        "high": each.high,
        "shown": shown,
        "detail": f"{shown} {wording.interval(each.low, each.high, kind)} · {wording.denominator(each.n_scored, each.n_not_applicable, each.n_error)}",
    }


def _about(each: Aggregate, known: dict[str, dict[str, Any]]) -> str:
    info = known.get(each.metric, {})
    parts = [
        f"`{each.metric}`",
        info.get("formula", ""),
        f"Empty case: {info['empty']}" if info.get("empty") else "",
        f"Interval: {each.method}" if each.method else "",
        each.note,
    ]
    return "\n\n".join(widgets.escaped(part) if not part.startswith("`") else part for part in parts if part)
