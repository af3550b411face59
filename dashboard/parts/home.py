"""The parts of the home page: what needs a look, the question sets, the sweeps, all runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard import widgets, wording
from dashboard.queries import runs, sweeps

PAGE = 15
MOST_NAMED = 3


def attention(found: Sequence[dict[str, Any]], n_jobs: int) -> str:
    """What needs somebody today, in one sentence."""
    troubled = [(each["suite"], trouble) for each in found if (trouble := _trouble(each))]
    sets = wording.plural(len(found), "question set")
    text = f"No gate failed, nothing regressed and nothing broke in {sets}."
    if troubled:
        named = [f"{suite} ({trouble})" for suite, trouble in troubled[:MOST_NAMED]]
        more = len(troubled) - len(named)
        named += [f"{wording.count(more)} more"] if more else []
        needs = "needs" if len(troubled) == 1 else "need"
        text = f"{wording.count(len(troubled))} of {sets} {needs} a look: {wording.listed(named)}."
    return f"{text} {wording.plural(n_jobs, 'run')} under way." if n_jobs else text


def _trouble(each: dict[str, Any]) -> str:
    gate = ["gate failed"] if each["gate"] == "FAIL" else []
    lost = [f"{wording.count(each['regressed'])} regressed"] if each["regressed"] else []
    broken = [wording.plural(each["errors"], "error")] if each["errors"] else []
    return ", ".join([*gate, *lost, *broken])


def newest(row: dict[str, Any]) -> str:
    """The newest run in a sentence."""
    told = wording.run_sentence(row["verdicts"], None, row["n_cases"], row["status"], row["repeats"])
    return f"{wording.plural(runs.count(), 'run')} in the store. The newest, {row['name']}, {wording.ago(row['created_at'])}: {told}"


def suites(found: Sequence[dict[str, Any]]) -> None:
    """Each question set with its newest run, its gate, and what changed since its baseline."""
    st.header("Question sets")
    with st.grid(2, min_column_width=300):
        for each in found:
            _suite(each)


def _suite(each: dict[str, Any]) -> None:
    run = {"id": each["run_id"]}
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            widgets.link_to("trends", each["suite"], suite=each["suite"], icon="trending_up")
            st.caption(
                wording.ago(each["created_at"]), help=wording.date(each["created_at"]), width="content"
            )
        st.markdown(widgets.escaped(_standing(each)))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if each["gate"]:
                widgets.verdict_badge(each["gate"], ": gate")
            widgets.link_to("run", each["name"], run)
            if each["other"]:
                widgets.link_to("compare", _since(each), run, baseline=each["other"]["id"])


def _standing(each: dict[str, Any]) -> str:
    rate, text = each["passing"], wording.verdict_counts(each["verdicts"])
    if rate is not None and rate.mean is not None:
        text = f"{wording.rate(rate.mean)} pass {wording.interval(rate.low, rate.high)} · {text}"
    return f"{text} · {wording.money(each['cost_usd'])}" if each["cost_usd"] else text


def _since(each: dict[str, Any]) -> str:
    name = each["other"].get("baseline") or each["other"]["name"]
    parts = [f"{wording.count(each[what])} {what}" for what in ("regressed", "fixed") if each[what]] or [
        "no verdict changed"
    ]
    return f"{wording.listed(parts)} since {wording.shortened(name, 40)}"


def sweeps_list(limit: int = 5) -> None:
    """The newest sweeps; their runs stand there and not in the list of runs."""
    found = sweeps.listed(limit)
    if not found:
        return
    st.header("Sweeps")
    for each in found:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            widgets.link_to("sweep", each["name"], sweep=each["id"])
            done = (
                "" if each["n_sealed"] == each["n_runs"] else f", {wording.count(each['n_sealed'])} complete"
            )
            st.caption(
                widgets.escaped(
                    f"{wording.plural(each['n_runs'], 'configuration')}{done} · {each['suite']} · {wording.ago(each['created_at'])}"
                ),
                width="content",
            )


def runs_list() -> None:
    """All runs, newest first, in pages."""
    st.header("Runs")
    search = st.text_input(
        "Search runs by name, question set or id", key="q", bind="query-params", type="search"
    )
    total = runs.count(sweeps=False)
    pages = max(1, -(-total // PAGE))
    number = st.pagination(pages, key="page", bind="query-params") if pages > 1 and not search else 1
    shown = runs.page(PAGE, (number - 1) * PAGE, search, sweeps=bool(search))
    if not shown and search:
        st.info("Clear the search to see all runs.", title="No run has this in its name, question set or id")
    elif not shown:
        st.caption("All runs belong to sweeps; the search finds them.")
    for row in shown:
        with st.container(border=True):
            about, verdicts, when = st.columns([3, 4, 2], vertical_alignment="center")
            with about, st.container(gap="xsmall"):
                widgets.link_to("run", row["name"], row)
                st.caption(widgets.escaped(f"{row['suite']} · {wording.title(row['kind'])}"))
            verdicts.text(wording.verdict_counts(row["verdicts"]))
            with when:
                state = "" if row["status"] == "sealed" else f"{wording.status_word(row['status'])} · "
                st.caption(f"{state}{wording.ago(row['created_at'])}", help=wording.date(row["created_at"]))
