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
}


def run_label(run: Mapping[str, Any]) -> str:
    """A run's name with the end of its id: unique, stable, and what stands in the address."""
    return f"{run['name']} ({str(run['id']).rsplit('-', 1)[-1]})"


def follow_address(key: str) -> str | None:
    """Let the address decide a bound widget's value: after a click on a link the browser still holds the value
    that was shown before. Call before the widget; returns what the address asks for."""
    asked = st.query_params.get(key)
    if asked and asked != st.session_state.get(key):
        st.session_state[key] = asked
    return asked


def run_picker() -> None:
    """The run all pages speak of, chosen in the sidebar and kept in the address. Called by the frame only.

    A link may name a run by id, label or name. What no run answers to is said, never silently replaced.
    """
    offered = {run_label(each): each["id"] for each in runs.choices()}
    if not offered:
        return
    asked = st.query_params.get("run") or st.session_state.get("run")
    found = runs.resolve(asked) if asked and asked not in offered else None
    st.session_state["unknown_run"] = asked if asked and asked not in offered and found is None else None
    label = run_label(found) if found else asked if asked in offered else None
    if found:
        offered.setdefault(run_label(found), found["id"])
    if label and label != st.session_state.get("run"):
        st.session_state["run"] = label
    elif label is None and st.session_state.get("run"):
        st.session_state["run"] = None
    with st.sidebar:
        picked = st.selectbox(
            "Run", list(offered), index=None, key="run", bind="query-params", placeholder="Newest run"
        )
    st.session_state["run_id"] = offered[picked] if picked else next(iter(offered.values()))


def chosen_run() -> runs.Version:
    """The chosen run, or the newest. Says what is wrong and stops where there is none."""
    unknown = st.session_state.get("unknown_run")
    if unknown:
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
    return version


def link_to(
    page: str, label: str, run: Mapping[str, Any] | None = None, icon: str = "", **params: Any
) -> None:
    """A link inside the dashboard that carries the run and further parameters in its address. `icon` is the name
    of a Material symbol."""
    query = {"run": run_label(run)} if run else {}
    query.update({name: value for name, value in params.items() if value not in (None, "", [], ())})
    st.page_link(
        PAGES[page],
        label=f":blue[{escaped(label)}]",
        icon=f":material/{icon}:" if icon else "",
        query_params=query,
    )
