"""What pages ask with and answer with: run picker, empty and failed states, badges, quoted text."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import wording
from dashboard.charts import palette
from dashboard.queries import runs, source

PAGES = {
    "home": "app_pages/home.py",
    "run": "app_pages/run.py",
    "verdicts": "app_pages/verdicts.py",
    "case": "app_pages/case.py",
    "new": "app_pages/new.py",
    "data": "app_pages/data.py",
}
SHOWN_CHARACTERS = 20_000
# readable on both backgrounds; the underline tells marked text without colour
_MARKS = {
    "evidence": "background:rgba(37,99,235,.22);text-decoration:underline;text-decoration-thickness:2px",
    "supported": "background:rgba(0,128,94,.20);text-decoration:underline",
    "contradicted": "background:rgba(200,66,30,.22);text-decoration:underline wavy",
    "not_enough_info": "background:rgba(184,116,0,.20);text-decoration:underline dotted",
}


# --- which run ------------------------------------------------------------------------------------------------


def run_label(run: Mapping[str, Any]) -> str:
    """A run's name with the end of its id: unique, stable, and what stands in the address."""
    return f"{run['name']} ({str(run['id']).rsplit('-', 1)[-1]})"


def run_picker() -> None:
    """The run all pages speak of, chosen in the sidebar and kept in the address. Called by the frame only.

    A link may name a run by id, label or name. What no run answers to is said, never silently replaced.
    """
    offered = {run_label(each): each["id"] for each in runs.choices()}
    if not offered:
        return
    asked = st.query_params.get("run")
    if asked and asked not in offered:
        found = runs.resolve(asked)
        if found is None:
            st.session_state["unknown_run"] = asked
        else:
            offered.setdefault(run_label(found), found["id"])
            st.session_state["run"] = run_label(found)
    elif asked:
        st.session_state.pop("unknown_run", None)
    chosen = st.session_state.get("run")
    if chosen and chosen not in offered and (found := runs.resolve(chosen)):
        offered[run_label(found)] = found["id"]
    with st.sidebar:
        picked = st.selectbox(
            "Run", list(offered), index=None, key="run", bind="query-params", placeholder="Newest run"
        )
    if picked is not None:
        st.session_state.pop("unknown_run", None)
    st.session_state["run_id"] = offered.get(picked) if picked else next(iter(offered.values()))
    st.session_state["run_is_newest"] = picked is None


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


def link_to(page: str, label: str, run: Mapping[str, Any] | None = None, **params: Any) -> None:
    """A link inside the dashboard that carries the run and further parameters in its address."""
    query = {"run": run_label(run)} if run else {}
    query.update({name: value for name, value in params.items() if value not in (None, "", [], ())})
    st.page_link(PAGES[page], label=escaped(label), query_params=query)


# --- states ---------------------------------------------------------------------------------------------------


def no_runs() -> None:
    """Nothing is stored yet: say what would be here, and how to fill it."""
    st.info(
        "Runs appear here with their verdicts, scores and intervals, one row each. "
        + (
            "This dashboard only shows; runs are made with `plumbline run`."
            if source.review_mode()
            else "Compute the demo on the home page, or start a run of your own under **New run**."
        ),
        title="No runs yet",
    )
    if not source.review_mode():
        link_to("home", "Go to the home page")


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


# --- verdicts and numbers -------------------------------------------------------------------------------------


def verdict_badge(verdict: str | None, note: str = "") -> None:
    shown = palette.look(verdict)
    st.badge(f"{shown.mark} {shown.word}{note}", color=shown.badge)  # type: ignore[arg-type]


def repeat_strip(verdicts: Sequence[str]) -> str:
    """The marks of the repeats in order: "●●✕"."""
    return "".join(palette.look(verdict).mark for verdict in verdicts)


def verdict_cards(counts: Mapping[str, int], run: Mapping[str, Any]) -> None:
    """One card a verdict, each a link to the cases behind it."""
    total = sum(counts.values())
    with st.grid(4, min_column_width=150):
        for verdict in palette.ORDER:
            number = counts.get(verdict, 0)
            with st.container(border=True, gap="xsmall"):
                verdict_badge(verdict)
                st.metric(
                    palette.look(verdict).word,
                    wording.count(number),
                    label_visibility="collapsed",
                    help=None,
                )
                if number:
                    link_to(
                        "verdicts",
                        f"{wording.rate(number / total)} · show",
                        run,
                        verdict=palette.verdict_label(verdict),
                    )
                else:
                    st.caption("none")


# --- text of others -------------------------------------------------------------------------------------------


def escaped(text: str) -> str:
    """Untrusted text for a place that reads Markdown (labels, tooltips): shown as it is."""
    kept = "".join("\\" + c if c in "\\`*_{}[]()#+-.!|<>~$:&@=^\"'/" else c for c in text)
    return kept.replace("\n", " ")


def quote(text: str, marks: Sequence[tuple[int, int, str]] = (), height: int | None = None) -> None:
    """Untrusted text, shown as text and never as Markdown or HTML, with its line breaks.

    `marks` are (start, end, kind) ranges to be marked; kind is evidence or a claim label. Long text is cut at
    a stated length, so that one cell of a megabyte does not stop a page.
    """
    shown = text[:SHOWN_CHARACTERS]
    parts: list[str] = []
    at = 0
    for start, end, kind in sorted(marks):
        start, end = max(start, at), min(end, len(shown))
        if start >= end:
            continue
        parts.append(html.escape(shown[at:start]))
        parts.append(
            f'<mark style="color:inherit;{_MARKS.get(kind, _MARKS["evidence"])}">{html.escape(shown[start:end])}</mark>'
        )
        at = end
    parts.append(html.escape(shown[at:]))
    scroll = f"max-height:{height}px;overflow-y:auto;" if height else ""
    st.html(
        f'<div dir="auto" style="white-space:pre-wrap;overflow-wrap:anywhere;{scroll}">{"".join(parts)}</div>'
    )
    if len(text) > SHOWN_CHARACTERS:
        st.caption(
            f"The first {wording.count(SHOWN_CHARACTERS)} of {wording.count(len(text))} characters; the export holds all of them."
        )


def facts(pairs: Mapping[str, str]) -> None:
    """Names and values in two columns, values as they are."""
    lines = "".join(
        f'<tr><td style="padding:.15rem 1rem .15rem 0;opacity:.75;vertical-align:top;white-space:nowrap">{html.escape(name)}</td>'
        f'<td style="padding:.15rem 0;overflow-wrap:anywhere">{html.escape(value)}</td></tr>'
        for name, value in pairs.items()
    )
    st.html(f'<table style="border:0;border-collapse:collapse;font-size:.875rem">{lines}</table>')
