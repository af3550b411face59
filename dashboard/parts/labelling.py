"""People label answers, blind to the verdict and by keyboard; then the run's verdicts are held against them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard import jobs, widgets, wording
from dashboard.charts import palette
from dashboard.parts import case as case_parts
from dashboard.parts import evidence
from dashboard.queries import case, labelling, source
from dashboard.queries.labelling import Held
from dashboard.queries.runs import Version

KEYS = (("PASS", "P"), ("WEAK", "W"), ("FAIL", "F"))
MOST_LISTED = 25


def sheet(version: Version) -> None:
    """The next answer nobody has labelled, without its verdict, and the keys to label it with."""
    if source.review_mode():
        st.info("This dashboard only shows runs.", title="Labels cannot be given here")
        return
    every = labelling.queue(version)
    done = {each["case_id"] for each in labelling.given(version.run_id)}
    skipped = st.session_state.setdefault(f"skipped_{version.run_id}", [])
    waiting = [each for each in every["case_id"] if each not in done and each not in skipped]
    n_done = sum(each in done for each in every["case_id"])
    st.progress(
        n_done / max(len(every), 1),
        text=f"{wording.count(n_done)} of {wording.plural(len(every), 'answer')} labelled; the order is random, so that any number of them is a fair sample",
    )
    with st.grid(2, min_column_width=220):
        st.text_input("Your name", key="labeller", persist_state="session", help="Stands beside each label")
        st.text_input("Why (optional)", key="label_reason", help="Kept with the next label")
    if not waiting:
        again = f" {wording.plural(len(skipped), 'skipped answer')} left." if skipped else ""
        st.success(f"No answer waits for a label.{again}")
        if skipped:
            st.button(
                "Show the skipped ones again", on_click=widgets.guarded(_unskip), args=(version.run_id,)
            )
        _take_back(version)
        return
    case_id = waiting[0]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for verdict, key in KEYS:
            st.button(
                f"{palette.look(verdict).mark} {palette.look(verdict).word}", key=f"label_{verdict}", shortcut=key,
                on_click=widgets.guarded(_label), args=(version.run_id, case_id, verdict),
            )  # fmt: skip
        st.button(
            "Skip",
            key="label_skip",
            shortcut="S",
            on_click=widgets.guarded(_skip),
            args=(version.run_id, case_id),
        )
        _take_back(version)
    found = case.details(version, case_id)
    if found is None:
        st.warning("The run has no such case any more. Skip it.")
        return
    blind = replace(found, result=None, verdicts=())
    st.header("Question")
    widgets.quote(found.case.query or case_id, height=300)
    left, right = st.columns(2, gap="large")
    with left:
        case_parts.answer(blind)
    with right:
        case_parts.gold(blind)
    if st.toggle("Show what was retrieved", key="label_passages"):
        evidence.passages(blind)


def _take_back(version: Version) -> None:
    mine = [
        each
        for each in labelling.given(version.run_id)
        if each["author"] == (st.session_state.get("labeller") or "").strip()
    ]
    if mine:
        st.button(
            "Take back the last", key="label_undo", shortcut="U", icon=":material/undo:",
            on_click=widgets.guarded(jobs.take_label_back), args=(mine[-1]["id"],),
        )  # fmt: skip


def _label(run_id: str, case_id: str, verdict: str) -> None:
    state = st.session_state
    jobs.label(
        run_id, case_id, labelling.SUBJECT, verdict,
        author=(state.get("labeller") or "").strip(), reason=(state.get("label_reason") or "").strip(),
    )  # fmt: skip
    state["label_reason"] = ""


def _skip(run_id: str, case_id: str) -> None:
    st.session_state[f"skipped_{run_id}"].append(case_id)


def _unskip(run_id: str) -> None:
    st.session_state[f"skipped_{run_id}"] = []


def agreement(version: Version) -> None:
    """How far the verdicts agree with people, what the pass rate is once corrected, and where they differ."""
    found = labelling.held(version)
    if found.pairs.empty:
        st.info(
            "Label some answers without seeing the verdict; how far the verdicts agree with you stands here then.",
            title="Nobody has labelled these answers",
        )
        return
    st.markdown(widgets.escaped(_sentence(found)))
    if found.agreement is not None:
        widgets.facts(_figures(found))
        if found.agreement.reasons:
            st.caption(
                widgets.escaped(
                    "Not enough to trust the verdicts by: " + "; ".join(found.agreement.reasons) + "."
                )
            )
    differing = found.pairs[found.pairs["human"] != found.pairs["verdict"]]
    if len(differing):
        st.subheader("Where people say otherwise")
    for row in differing.head(MOST_LISTED).to_dict("records"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            widgets.verdict_badge(row["human"], " by a person")
            widgets.verdict_badge(row["verdict"], " by the run")
            with st.container(gap=None):
                widgets.link_to(
                    "case", wording.shortened(row["query"], 120) or row["case_id"], {"id": version.run_id}, case=row["case_id"],
                )  # fmt: skip
    _download(version)


@st.fragment
def _download(version: Version) -> None:
    st.download_button(
        "Download labels and verdicts as CSV", data=lambda: labelling.export(version).encode(), mime="text/csv",
        file_name=f"labels-{version.run_id}.csv", icon=":material/download:", on_click="ignore",
    )  # fmt: skip
    st.caption("`plumbline judge agreement` reads this file.")


def _sentence(found: Held) -> str:
    report = found.agreement
    if report is None:
        return (
            f"{wording.plural(len(found.pairs), 'answer')} labelled; neither people nor the run passed one."
        )
    low, high = (report.raw.interval.low, report.raw.interval.high) if report.raw.interval else (None, None)
    text = f"People and the verdicts agree on {wording.rate(report.raw.value)} {wording.interval(low, high)} of {wording.plural(report.n, 'labelled answer')}"
    if report.kappa is None:
        return f"{text}."
    return f"{text}; kappa {_kappa(report.kappa, report.kappa_interval)}."


def _kappa(value: float | None, interval: Any) -> str:
    if value is None:
        return wording.MISSING
    bounds = f" [{_two(interval.low)}, {_two(interval.high)}]" if interval else ", no interval"
    return f"{_two(value)}{bounds}"


def _two(number: float) -> str:
    return f"{number:.2f}".replace("-", wording.MINUS)


def _figures(found: Held) -> dict[str, str]:
    report = found.agreement
    assert report is not None  # asked only where there is one

    def share(rate: Any, of: str) -> str:
        if rate.value is None:
            return f"no {of} among the labels"
        return f"{wording.rate(rate.value)} {wording.interval(rate.interval.low, rate.interval.high)} of {wording.plural(rate.n, of, of)}"

    figures = {
        "Passes it passes too": share(report.sensitivity, "passed by people"),
        "Failures it notices": share(report.specificity, "not passed by people"),
        "Kappa": _kappa(report.kappa, report.kappa_interval),
        "AC1": _kappa(report.ac1, report.ac1_interval),
    }
    rate = found.rate
    if rate is not None and rate.value is not None:
        figures["Pass rate, corrected"] = (
            f"{wording.rate(rate.value)} {wording.interval(rate.low, rate.high)}".strip()
            if rate.method != "uncorrected"
            else f"not yet: {rate.note}"
        )
    return figures


def on_case(version: Version, case_id: str) -> None:
    """What people said about one case, with author, reason and undo; and the way to say something."""
    given = labelling.given(version.run_id, case_id)
    changeable = not source.review_mode()
    if not given and not changeable:
        return
    st.header("What people say")
    for each in given:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            widgets.verdict_badge(each["value"], f" says {each['author'] or 'somebody'}")
            if each["reason"]:
                with st.container(gap=None):
                    widgets.quote(each["reason"])
            st.caption(
                wording.ago(each["created_at"]), help=wording.date(each["created_at"]), width="content"
            )
            if changeable:
                st.button(
                    "Take back", key=f"take_back_{each['id']}", on_click=widgets.guarded(jobs.take_label_back), args=(each["id"],)
                )  # fmt: skip
    if not changeable:
        return
    with (
        st.expander("Say what the verdict should be", key="label_form_open"),
        st.form("label_form", border=False),
    ):
        with st.grid(3, min_column_width=180):
            st.segmented_control(
                "Verdict",
                [verdict for verdict, _ in KEYS],
                key="case_label",
                format_func=palette.verdict_label,
            )
            st.text_input("Your name", key="case_labeller")
            st.text_input("Why", key="case_reason")
        st.form_submit_button("Keep", on_click=widgets.guarded(_label_case), args=(version.run_id, case_id))
        st.caption("The run's own verdict stays as it is; this stands beside it.")


def _label_case(run_id: str, case_id: str) -> None:
    state = st.session_state
    if not state.get("case_label"):
        raise ValueError("choose Pass, Weak or Fail first")
    jobs.label(
        run_id, case_id, labelling.SUBJECT, state["case_label"],
        author=(state.get("case_labeller") or "").strip(), reason=(state.get("case_reason") or "").strip(),
    )  # fmt: skip
