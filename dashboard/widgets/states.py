"""What a page says when there is nothing, not yet everything, or something broke."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

import streamlit as st

from dashboard import wording
from dashboard.queries import source
from dashboard.widgets.text import quote


def no_runs() -> None:
    """Nothing is stored yet: say what would be here, and how to fill it."""
    st.title("No runs yet")
    st.info(
        "Runs appear here with their verdicts, scores and intervals, one row each. "
        + (
            "This dashboard only shows; runs are made with `plumbline run`."
            if source.review_mode()
            else "Compute the demo on the home page, or start a run of your own under **New run**."
        )
    )
    if not source.review_mode():
        st.page_link("app_pages/home.py", label="Go to the home page")


def guarded(callback: Callable[..., None]) -> Callable[..., None]:
    """A callback whose failure is said on the page that is drawn next. Callbacks run before the page, where its
    own guard does not reach."""

    @functools.wraps(callback)
    def safe(*args: Any) -> None:
        try:
            callback(*args)
        except Exception as error:
            logging.getLogger("plumbline.dashboard").exception("button %s", callback.__name__)
            st.session_state["callback_error"] = f"{type(error).__name__}: {error}"

    return safe


def failed_callback() -> None:
    """Say what a button could not do, once."""
    text = st.session_state.pop("callback_error", None)
    if text:
        st.error(
            "Nothing was lost. Try again; if it comes back, keep the text below for the report.",
            title="That could not be done",
        )
        quote(text)


def failed(error: Exception) -> None:
    """A page could not be drawn: what happened, whether anything was lost, what to do."""
    st.error(
        "Nothing is lost: pages only read the store. Reload the page; if it comes back, run "
        "`plumbline store check` and keep the text below for the report.",
        title="This page could not be drawn",
    )
    quote(f"{type(error).__name__}: {error}")


def unfinished(status: str, done: int, total: int) -> None:
    """A run that is not sealed: what is missing and why."""
    if status == "sealed":
        return
    share = f"{wording.count(done)} of {wording.count(total)} answers are stored"
    text = {
        "running": f"The run is under way: {share}. Figures on this page cover those.",
        "cancelling": f"The run is being stopped: {share}.",
        "cancelled": f"The run was stopped: {share}. Nothing of them is lost; resume it on the page New run.",
        "failed": f"The run ended early: {share}. Nothing of them is lost; resume it on the page New run.",
    }.get(status, f"{wording.status_word(status)}: {share}.")
    st.info(text, title=wording.status_word(status))
