"""The head of the compare page: which runs, what it comes to, whether it may be said, and each metric."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from core.records import Run
from dashboard import widgets, wording
from dashboard.charts import differences
from dashboard.queries import comparisons, runs, source
from dashboard.queries.comparisons import Comparison, MetricDifference
from dashboard.queries.runs import Version
from dashboard.widgets import choices

MOST_METRICS = 8
CHANGE_WORDS = {"better": "Better.", "worse": "Worse.", "unclear": "Inconclusive", "none": "No difference."}


def choose(candidate: Version) -> tuple[Version, Version] | None:
    """Baseline and candidate with a way to swap them; None where there is no baseline yet."""
    labels = {each["id"]: widgets.run_label(each) for each in runs.choices()}
    named = comparisons.baseline_names()
    labels = {
        run_id: f"{label} · baseline {named[run_id]}" if run_id in named else label
        for run_id, label in labels.items()
    }
    here = candidate.run_id
    labels.setdefault(here, here)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        baseline = choices.chosen_option(
            "baseline", "Baseline", labels, comparisons.suggested_baseline(candidate), find=choices.resolved_run,
            help_text="What the candidate is held against",
        )  # fmt: skip
        st.button(
            "Swap", icon=":material/swap_horiz:", on_click=widgets.guarded(_swap), args=(baseline, here), key="swap",
            disabled=baseline is None, help="The baseline becomes the candidate",
        )  # fmt: skip
        if st.session_state.get("candidate_picker") != here:
            st.session_state["candidate_picker"] = here
        st.selectbox(
            "Candidate", list(labels), key="candidate_picker", format_func=lambda each: labels.get(each, each),
            on_change=_candidate_picked, help="The run all pages speak of",
        )  # fmt: skip
    version = runs.version(baseline) if baseline else None
    if version is None:
        if not st.query_params.get("baseline"):
            st.info(
                "Choose the run to compare with above.", title="There is no other run of this question set"
            )
        return None
    if version.run_id == here:
        st.info("Choose another run as baseline or as candidate.", title="This is one and the same run")
        return None
    return version, candidate


def _swap(baseline: str, candidate: str) -> None:
    choices.set_param("baseline", candidate)
    choices.choose_run(baseline)


def _candidate_picked() -> None:
    choices.choose_run(st.session_state["candidate_picker"])


def sentence(found: Comparison) -> str:
    """The first line: both pass rates, the difference with its interval, and whether the set can show one."""
    metric = found.pass_rate
    if not found.comparable:
        return f"These two runs cannot be compared: {found.problems[0].message}."
    if metric is None or metric.delta is None:
        return "No question was judged in both runs, so nothing can be said about a difference."
    text = (
        f"Candidate {wording.rate(metric.mean_b)}, baseline {wording.rate(metric.mean_a)} pass on the same "
        f"{wording.plural(metric.n, 'question')}: {wording.points(metric.delta)}"
    )
    if metric.interval is not None:
        text += (
            f", 95 % interval {wording.signed(metric.interval.low)} to {wording.signed(metric.interval.high)}"
        )
    return f"{text}. {conclusion(metric)}"


def conclusion(metric: MetricDifference) -> str:
    """Better, worse or inconclusive, and what this set could have shown."""
    word = CHANGE_WORDS[metric.change]
    if metric.change != "unclear":
        return word
    if metric.detectable is None:
        return f"{word}: this suite is too small to show any difference."
    return (
        f"{word}; this suite can detect differences of about {wording.points(metric.detectable).lstrip('+')}."
    )


def warnings(found: Comparison) -> None:
    """What forbids the comparison, and what a reader must know."""
    refused = [each for each in found.problems if each.severity == "refused"]
    labels = [each for each in found.problems if each.severity != "refused"]
    if refused:
        st.error(
            "\n".join(f"- {widgets.escaped(each.message)}" for each in refused)
            + "\n\nThe cases are still listed; no metric is tested.",
            title="Not comparable",
        )
    if labels:
        st.warning(
            "\n".join(f"- {widgets.escaped(_label(each.message, each.a, each.b))}" for each in labels),
            title="Keep in mind",
        )
    errors = found.errors
    if errors.n_a or errors.n_b:
        st.caption(
            f"Errors count as missing: {wording.count(errors.n_a)} in the baseline, {wording.count(errors.n_b)} in the candidate. "
            f"At worst and at best they move the difference to {wording.points(errors.low)} and {wording.points(errors.high)}."
        )


def _label(message: str, a: str, b: str) -> str:
    return f"{message} ({a[:20]} → {b[:20]})" if a and b and a != b and len(a) < 40 else message


def settings(found: Comparison) -> None:
    """What was changed between the two runs."""
    changed = [each for each in found.factors if not each.entailed_by]
    entailed = [each for each in found.factors if each.entailed_by]
    if not found.factors:
        st.markdown("No design choice differs: the same settings, asked again.")
    else:
        kind = (
            "One design choice differs"
            if len(changed) == 1
            else f"{len(changed)} design choices differ, so no single one can be credited"
        )
        st.markdown(f"{kind}:")
        widgets.facts(
            {
                wording.title(each.name): f"{wording.setting(each.a, 120)} → {wording.setting(each.b, 120)}"
                for each in [*changed, *entailed]
            }
        )
    others = [each for each in found.settings if each.name not in {factor.name for factor in found.factors}]
    if others:
        part = st.expander(
            f"{wording.plural(len(others), 'further setting')} that differ",
            on_change="rerun",
            key="other_settings",
        )
        if part.open:
            with part:
                widgets.facts(
                    {
                        each.name: f"{wording.setting(each.a, 120)} → {wording.setting(each.b, 120)}"
                        for each in others
                    }
                )


def metrics(found: Comparison) -> None:
    """Every metric: shares as a chart of improvements, all of them in a table."""
    known = [each for each in found.metrics if each.delta is not None]
    if not known:
        return
    st.header("Metrics")
    drawn = [each for each in known if each.kind in wording.FRACTION_KINDS and each.direction]
    drawn = sorted(
        drawn,
        key=lambda each: (
            each.metric != "pass_rate",
            each.change in ("unclear", "none"),
            -abs(each.delta or 0),
        ),
    )
    drawn = sorted(drawn[:MOST_METRICS], key=lambda each: each.improvement or 0)
    if drawn:
        frame = pd.DataFrame([_drawn(each) for each in drawn])
        finding = _finding(known)
        note = f"candidate − baseline, signed so that right is better; 95 % interval of each; the sentence above is corrected for looking at {len(known)}"
        widgets.chart(differences.differences, frame, finding, note, key="differences")
    part = st.expander(f"All {len(known)} metrics", on_change="rerun", key="all_differences")
    if part.open:
        with part:
            st.dataframe(
                pd.DataFrame([_row(each) for each in known]),
                hide_index=True,
                alt="Every metric in both runs with its difference",
            )


def _finding(known: list[MetricDifference]) -> str:
    worse = [each for each in known if each.change == "worse"]
    better = [each for each in known if each.change == "better"]
    if not worse and not better:
        return f"None of {wording.plural(len(known), 'metric')} changed beyond chance"
    parts = [
        f"{wording.count(len(some))} {word}"
        for some, word in ((worse, "got worse"), (better, "got better"))
        if some
    ]
    return f"{wording.listed(parts)} of {wording.plural(len(known), 'metric')}"


def _drawn(each: MetricDifference) -> dict[str, Any]:
    ends = (
        (None, None)
        if each.interval is None
        else sorted((each.interval.low * each.direction, each.interval.high * each.direction))
    )
    return {
        "title": each.title,
        "delta": each.improvement,
        "low": ends[0],
        "high": ends[1],
        "change": each.change,
        "detail": f"{wording.rate(each.mean_a)} → {wording.rate(each.mean_b)} on {wording.plural(each.n, 'question')}; {each.change}",
    }


def _row(each: MetricDifference) -> dict[str, Any]:
    fraction = each.kind in wording.FRACTION_KINDS
    interval = wording.MISSING
    if each.interval is not None:
        show = wording.signed if fraction else wording.signed_plain
        interval = f"{show(each.interval.low)} to {show(each.interval.high)}"
    return {
        "metric": each.title,
        "baseline": wording.value(each.mean_a, each.kind),
        "candidate": wording.value(each.mean_b, each.kind),
        "difference": wording.points(each.delta) if fraction else wording.signed_plain(each.delta),
        "interval": interval,
        "change": {"better": "● better", "worse": "✕ worse"}.get(each.change, each.change),
        "p, corrected": "" if each.p_holm is None else f"{each.p_holm:.3f}",
        "questions": each.n,
        "up / same / down": f"{each.win} / {each.tie} / {each.loss}",
        "only in baseline / candidate": f"{each.n_only_a} / {each.n_only_b}",
        "published name": each.metric,
        "note": each.note,
    }


@st.fragment
def export(found: Comparison) -> None:
    """One self-contained HTML file for people without the app."""
    st.download_button(
        "Download this comparison as HTML", data=lambda: comparisons.html([found]).encode(), mime="text/html",
        file_name=f"{found.b.name}-against-{found.a.name}.html", icon=":material/download:", on_click="ignore",
    )  # fmt: skip


def pin(run: Run) -> None:
    """Where baselines are managed."""
    if not source.review_mode():
        widgets.link_to("trends", "Pin one of them as a baseline", {"id": run.id}, icon="push_pin")
