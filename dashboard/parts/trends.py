"""The parts of the trends page: one figure over runs, cost and time, gates, flaky cases, baselines."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import jobs, widgets, wording
from dashboard.charts import trends as charts
from dashboard.queries import source
from dashboard.queries import trends as queries
from dashboard.queries.trends import FEWEST, Series, Trend

COSTS = ("latency_p50", "latency_p95", "cost_usd")
AXES = {"duration": "format(datum.value, ',.4~r') + ' ms'", "money": "'$' + format(datum.value, '.3~r')"}
NOISE = {"A/A pairs": "from unchanged runs", "repeats": "from repeats within runs"}


def sentence(found: Trend) -> str:
    """Where the pass rate stands, whether its level changed, and how much of a difference is noise."""
    series = found.named("pass_rate") or found.named("verdict:PASS")
    n = len(found.run_ids)
    if series is None or not series.points or series.points[-1].value is None:
        return f"{wording.plural(n, 'run')} of this suite; the newest has no pass rate."
    newest = series.points[-1]
    text = f"{wording.rate(newest.value)} pass in the newest of {wording.plural(n, 'run')}"
    bounds = wording.interval(newest.low, newest.high)
    text += f", 95 % interval {bounds}. " if bounds else ". "
    if n < FEWEST:
        return text + f"{FEWEST} runs are needed before a change of level can be told from chance."
    if not series.changes:
        return text + "No change of level is shown."
    last = series.changes[-1]
    return (
        f"{text}The level changed at {series.points[last.index].run_name}: from {wording.rate(last.before)} to {wording.rate(last.after)} "
        f"({wording.points(last.after - last.before)}, p = {last.p:.2g})."
    )


def choose_series(found: Trend) -> Series | None:
    """The figure that is drawn, chosen by name in the address."""
    offered = [
        each
        for each in found.series
        if each.name not in COSTS and any(p.value is not None for p in each.points)
    ]
    if not offered:
        return None
    names = {each.title: each for each in offered}
    first = next((each for each in offered if each.name == "pass_rate"), offered[0])
    chosen = st.selectbox(
        "Figure", list(names), index=None, key="figure", bind="query-params", placeholder=first.title
    )
    return names.get(chosen or "", first)


def figure(found: Trend, series: Series, height: int = 240, gates_shown: bool = True) -> None:
    """One figure over the runs with its interval, levels, noise and what changed."""
    frame = queries.frame(found, series)
    if not gates_shown:
        frame = frame.assign(gate="")
    if frame.empty:
        st.caption(f"No run has {widgets.escaped(series.title)}.")
        return
    floor = queries.noise_floor(series)
    drawn = _drawn(frame, series, floor)
    finding = _finding(frame, series, floor)
    if len(frame) < 2:
        st.markdown(f"**{widgets.escaped(finding)}**", help=widgets.escaped(drawn["detail"].iloc[0]))
        return
    notes = [f"n = {wording.plural(len(frame), 'run')}"]
    if floor:
        notes.append(
            f"grey band: differences within it are noise ({NOISE.get(series.noise_source, series.noise_source)})"
        )
    if (drawn["marker"] != "").any():
        notes.append("dotted: something was changed")
    if (drawn["gate"] != "").any():
        notes.append("marks on top: gates")
    if not frame["comparable"].all():
        notes.append(f"{wording.plural(int((~frame['comparable']).sum()), 'run')} asked other questions")
    fraction = series.kind in wording.FRACTION_KINDS
    widgets.chart(
        charts.over_runs, drawn, finding, "; ".join(notes), percent=fraction, height=height,
        shown=AXES.get(series.kind, "format(datum.value, '~s')"),
        log=series.kind in ("duration", "money") and _decades(frame["value"]),
        key=f"trend_{series.name}",
    )  # fmt: skip


def _decades(values: pd.Series) -> bool:
    return bool(values.min() > 0 and values.max() / values.min() >= 10)


def _drawn(frame: pd.DataFrame, series: Series, floor: float | None) -> pd.DataFrame:
    doubled = frame["name"].duplicated(keep=False)
    run = [
        f"{name} ({run_id.rsplit('-', 1)[-1]})" if twice else name
        for name, run_id, twice in zip(frame["name"], frame["run_id"], doubled, strict=True)
    ]
    centre = frame["level"].iloc[-1] if pd.notna(frame["level"].iloc[-1]) else frame["value"].iloc[-1]
    band = (
        (None, None)
        if floor is None
        else _within_reach(centre - floor / 2, centre + floor / 2, frame, series)
    )
    detail = [_detail(row, series) for row in frame.to_dict("records")]
    return frame.assign(
        run=run,
        at=[wording.moment(text, n) for n, text in enumerate(frame["created_at"])],
        noise_low=band[0],
        noise_high=band[1],
        detail=detail,
        marker=[wording.shortened(wording.spelled(text), 200) for text in frame["settings"]],
    )


def _within_reach(low: float, high: float, frame: pd.DataFrame, series: Series) -> tuple[float, float]:
    """The band without what the figure cannot be: no share above 1, no time or price below 0, and nothing below the
    smallest value where the axis is logarithmic."""
    if series.kind in wording.FRACTION_KINDS:
        return max(low, 0.0), min(high, 1.0)
    if series.kind in ("duration", "money"):
        return max(low, float(frame["value"].min()) if _decades(frame["value"]) else 0.0), high
    return low, high


def _detail(row: Any, series: Series) -> str:
    parts = [
        f"{wording.value(row['value'], series.kind)} {wording.interval(row['low'], row['high'], series.kind)}".strip()
    ]
    if row["n"] is not None and pd.notna(row["n"]):
        parts.append(f"n = {wording.count(row['n'])}")
    parts.append(wording.date(row["created_at"]))
    if not row["comparable"]:
        parts.append("other questions than the newest")
    return " · ".join(parts)


def _finding(frame: pd.DataFrame, series: Series, floor: float | None) -> str:
    newest = wording.value(frame["value"].iloc[-1], series.kind)
    text = f"{series.title}: {newest} in the newest run"
    if len(frame) < 2:
        return text
    step = frame["value"].iloc[-1] - frame["value"].iloc[-2]
    shown = wording.signed_value(step, series.kind)
    if floor and step and abs(step) <= floor:
        return f"{text}, {shown} since the one before: within noise"
    return f"{text}, {shown if step else 'unchanged'} since the one before"


def costs(found: Trend) -> None:
    """Cost and latency over the runs."""
    shown = [
        series for name in COSTS if (series := found.named(name)) and any(p.value for p in series.points)
    ]
    if not shown:
        st.caption(
            "No run has measured times or prices; `latency_ms` and `cost_usd` of the answers would stand here."
        )
        return
    for series in shown:
        figure(found, series, height=110, gates_shown=False)
    if "cost_usd" not in {series.name for series in shown}:
        st.caption("No model with a price was called in these runs.")


def changes(found: Trend) -> None:
    """What was changed from run to run, newest first."""
    names = {point.run_id: point.run_name for series in found.series for point in series.points}
    if not found.annotations:
        st.caption("Nothing was changed between these runs: the same settings, inputs and code.")
        return
    for each in list(found.annotations)[::-1][:20]:
        with st.container(horizontal=True, vertical_alignment="top", gap="small"):
            widgets.link_to("run", names.get(each.run_id, each.run_id), {"id": each.run_id})
            st.caption(widgets.escaped(wording.shortened(wording.spelled("; ".join(each.changes)), 300)))


def gates(found: Trend) -> None:
    """The newest gate decisions, and how many false alarms would be expected by chance."""
    decided = queries.gates(found.suite)
    if not decided:
        st.info(
            "Each decision of `plumbline gate` stands here with its arithmetic.",
            title="No gate has decided on this suite yet",
        )
        st.code(
            "plumbline gate latest --baseline BASELINE --policy gate.yaml", language="bash", wrap_lines=True
        )
        return
    failed = sum(each["verdict"] == "FAIL" for each in decided)
    st.markdown(
        f"{wording.count(failed)} of {wording.plural(len(decided), 'gate')} failed. On an unchanged system the {wording.count(found.n_gates)} "
        f"gates of the runs shown would have raised about {found.expected_false_alarms:.1f} false alarms."
    )
    for each in decided[:10]:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            widgets.verdict_badge(each["verdict"])
            widgets.link_to("run", each["run_name"], {"id": each["run_id"]})
            if each["baseline_id"]:
                widgets.link_to(
                    "compare",
                    f"against {each['baseline_name']}",
                    {"id": each["run_id"]},
                    baseline=each["baseline_id"],
                )
            st.caption(
                wording.ago(each["decided_at"]), help=wording.date(each["decided_at"]), width="content"
            )


def flaky(found: Trend) -> None:
    """Cases whose verdict is not settled, each with the way to its history."""
    part = st.expander("Cases that cannot make up their mind", on_change="rerun", key="flaky_open")
    if not part.open:
        return
    with part:
        listed = queries.flaky(found.suite)
        if not listed:
            st.markdown(
                "None: no repeats disagree, and no case changed between passing and not passing more than once."
            )
            return
        st.markdown(
            f"{wording.plural(len(listed), 'case')}, most changes first. A case opens with its history over all runs."
        )
        newest = {"id": found.run_ids[-1]}
        for each in listed[:25]:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                widgets.link_to(
                    "case", wording.shortened(each.query, 120) or each.case_id, newest, case=each.case_id
                )
                st.caption(
                    f"passed {wording.count(each.passes)} of {wording.count(each.n)} {wording.interval(each.low, each.high)}; "
                    f"{wording.plural(each.flips, 'flip')}, {wording.plural(each.split_runs, 'run')} with disagreeing repeats",
                    width="content",
                )


def baselines(suite: str) -> None:
    """Named, pinned runs that others are held against; pinning and unpinning where that is allowed."""
    pinned = queries.baselines(suite)
    if not pinned:
        st.markdown(
            "No run of this suite is pinned. A baseline is a named run that gates and comparisons hold others against."
        )
    for each in pinned:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f":material/push_pin: **{widgets.escaped(each['name'])}**", width="content")
            widgets.link_to("run", each["run_name"], {"id": each["run_id"]})
            st.caption(f"pinned {wording.ago(each['pinned_at'])}", width="content")
            if not source.review_mode():
                st.button(
                    "Unpin", key=f"unpin_{each['name']}", on_click=widgets.guarded(jobs.unpin_baseline), args=(each["name"],),
                    help="The run itself stays",
                )  # fmt: skip
    if source.review_mode():
        return
    labels = {each["id"]: widgets.run_label(each) for each in queries.sealed_runs(suite)}
    with st.form("pin", border=True):
        with st.grid(2, min_column_width=220):
            st.selectbox(
                "Run to pin", list(labels), key="pin_run", format_func=lambda each: labels.get(each, each)
            )
            st.text_input("Name", key="pin_name", placeholder="release")
        st.toggle("Move the name if another run has it", key="pin_move")
        st.form_submit_button("Pin as baseline", icon=":material/push_pin:", on_click=widgets.guarded(_pin))


def _pin() -> None:
    state = st.session_state
    jobs.pin_baseline(
        (state.get("pin_name") or "").strip(), state["pin_run"], move=bool(state.get("pin_move"))
    )
