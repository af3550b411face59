"""Which run the pages speak of, and links from page to page; all of it stands in the address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard.queries import runs
from dashboard.widgets.states import no_runs
from dashboard.widgets.text import escaped, quote

PAGES = {
    "home": "app_pages/home.py",
    "run": "app_pages/run.py",
    "verdicts": "app_pages/verdicts.py",
    "case": "app_pages/case.py",
    "new": "app_pages/new.py",
    "data": "app_pages/data.py",
    **{
        name: f"app_pages/{name}.py"
        for name in "compare trends sweep causes pareto classes calibration judge reference".split()
    },
}


def run_label(run: Mapping[str, Any]) -> str:
    """A run's name with the end of its id: unique, stable, and what stands in the address."""
    return f"{run['name']} ({str(run['id']).rsplit('-', 1)[-1]})"


# The run and the case are plain query parameters and not bound widgets: a bound widget takes its old value back
# to the address when a link leads to the same page (seen in Chromium with 1.67), and `st.switch_page` refuses them.


def run_picker() -> None:
    """The run all pages speak of, chosen in the sidebar and kept in the address. Called by the frame only.

    A link names a run by its id; its label or name will do. What no run answers to is said, never silently
    replaced. Without a choice pages speak of the newest run.
    """
    offered = {each["id"]: run_label(each) for each in runs.choices()}
    if not offered:
        return
    state, asked = st.session_state, st.query_params.get("run")
    found: Mapping[str, Any] | None = None
    if asked:
        found = {"id": asked} if asked in offered else runs.resolve(asked)
        if found is not None and found["id"] != state.get("run_written"):
            state["run_chosen"] = found["id"]
    state["unknown_run"] = asked if asked and found is None else None
    current = found["id"] if found else state.get("run_chosen")
    if current and current not in offered:
        again = runs.resolve(current)
        offered, current = ({again["id"]: run_label(again), **offered}, current) if again else (offered, None)
    shown = current if current != state.get("run_written") else None
    if state.get("run_picker") != shown:
        state["run_picker"] = shown
    with st.sidebar:
        st.selectbox(
            "Run", list(offered), index=None, key="run_picker", format_func=lambda each: offered.get(each, each),
            placeholder="Newest run", on_change=_run_picked,
        )  # fmt: skip
    state["run_id"] = current or next(iter(offered))


def _run_picked() -> None:
    picked = st.session_state["run_picker"]
    st.session_state["run_chosen"], st.session_state["run_written"] = picked, None
    if picked:
        st.query_params["run"] = picked
    else:
        st.query_params.pop("run", None)


def chosen_run(*, titled: bool = False) -> runs.Version:
    """The chosen run, or the newest. Says what is wrong and stops where there is none."""
    unknown = st.session_state.get("unknown_run")
    if unknown:
        if not titled:
            st.title("Unknown run")
        st.warning(
            "It may have been deleted, or the link belongs to another store. Choose a run in the sidebar.",
            title="No run answers to this link",
        )
        quote(unknown)
        st.stop()
    run_id = st.session_state.get("run_id")
    version = runs.version(run_id) if run_id else None
    if version is None:
        no_runs()
        st.stop()
    if run_id and st.query_params.get("run") != run_id:
        # what is shown stands in the address, so that a link reopens it tomorrow
        st.query_params["run"] = run_id
        st.session_state["run_written"] = run_id if run_id != st.session_state.get("run_chosen") else None
    return version


def link_to(
    page: str, label: str, run: Mapping[str, Any] | None = None, icon: str = "", **params: Any
) -> None:
    """A link inside the dashboard that carries the run and further parameters in its address. `icon` is the name
    of a Material symbol."""
    query = {"run": run["id"]} if run else {}
    query.update({name: value for name, value in params.items() if value not in (None, "", [], ())})
    st.page_link(
        PAGES[page],
        label=f":blue[{escaped(label)}]",
        icon=f":material/{icon}:" if icon else "",
        query_params=query,
    )
