"""Further choices that stand in the address beside the run: another run, a sweep, a suite; and empty pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from dashboard.queries import runs, source
from dashboard.widgets.navigation import link_to
from dashboard.widgets.text import quote


def choose_run(run_id: str) -> None:
    """Make a run the one all pages speak of, as if it had been picked in the sidebar. For callbacks."""
    st.session_state["run_chosen"], st.session_state["run_written"] = run_id, None
    st.query_params["run"] = run_id


def set_param(name: str, value: str | None) -> None:
    """Write a choice to the address and keep it for the session. For callbacks."""
    st.session_state[f"kept_{name}"] = value
    if value:
        st.query_params[name] = value
    else:
        st.query_params.pop(name, None)


def chosen_option(
    name: str,
    label: str,
    offered: Mapping[str, str],
    default: str | None,
    *,
    find: Callable[[str], str | None] | None = None,
    help_text: str | None = None,
) -> str | None:
    """A selectbox whose value stands in the address under `name` as the key of `offered` (key → unique label).

    `find` gives the key an unknown value of the address stands for. What nothing answers to is said, never silently
    replaced; then the result is None.
    """
    asked = st.query_params.get(name)
    known = asked if asked in offered or not asked or find is None else find(asked)
    unknown = bool(asked) and known not in offered
    kept = st.session_state.get(f"kept_{name}")
    value = None if unknown else known or (kept if kept in offered else default)
    key = f"{name}_picker"
    if st.session_state.get(key) != value:
        st.session_state[key] = value

    def picked() -> None:
        set_param(name, st.session_state[key])

    st.selectbox(
        label, list(offered), index=None, key=key, format_func=lambda each: offered.get(each, each), on_change=picked, help=help_text
    )  # fmt: skip
    if unknown:
        st.warning(
            "It may have been deleted, or the link belongs to another store. Choose one above.",
            title="Nothing answers to this link",
        )
        quote(str(asked))
        return None
    if value and asked != value:
        st.query_params[name] = value
    return value


def resolved_run(reference: str) -> str | None:
    """The id of the run a link means."""
    found = runs.resolve(reference)
    return str(found["id"]) if found else None


def nothing_here(
    title: str, text: str, command: str, *, page: str = "new", label: str = "Start a run"
) -> None:
    """What would be on this page, and the button and the command that fill it."""
    st.info(text, title=title)
    if not source.review_mode():
        with st.container(horizontal=True, vertical_alignment="center"):
            link_to(page, label, icon="add_circle" if page == "new" else "")
    st.caption("In a terminal:")
    st.code(command, language="bash", wrap_lines=True)


def chosen_many(name: str, label: str, offered: Mapping[str, str]) -> list[str]:
    """Buttons of which several can be pressed; the keys of `offered` (key → label, which may hold a count) stand in
    the address under `name`. A bound widget would write the label, and with it the count."""
    asked = [value for value in st.query_params.get_all(name) if value in offered]
    key = f"{name}_pills"
    if st.session_state.get(key) != asked:
        st.session_state[key] = asked

    def picked() -> None:
        st.query_params[name] = st.session_state[key]

    pressed: list[str] = st.pills(
        label, list(offered), selection_mode="multi", key=key, label_visibility="collapsed",
        format_func=lambda each: offered.get(each, each), on_change=picked,
    )  # fmt: skip
    return list(pressed)
