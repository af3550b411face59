"""The filters of the verdicts page. Their state is the address; each count is a filter and ignores its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st

from dashboard import widgets, wording
from dashboard.charts import palette
from dashboard.queries import cases, descriptions
from dashboard.queries.runs import Version
from dashboard.reasons import LABELS, reason

WORDS = {palette.look(verdict).word: verdict for verdict in palette.ORDER}
EMPTY: dict[str, Any] = {
    "verdict": [], "type": [], "why": None, "label": None, "find": "", "flaky": False, "unchecked": False,
    "metric": None, "state": None, "sort": "trouble first",
}  # fmt: skip


def ask(version: Version, repeats: int) -> tuple[cases.Filters, str]:
    """Draw the filters; what is wanted, and the sort order."""
    _take_only_the_link()
    above = st.container()  # the counts stand above the filters they depend on
    with st.grid(6, min_column_width=150, vertical_alignment="bottom"):
        st.text_input(
            "Search", key="find", bind="query-params", type="search", help="In question, answer and id"
        )
        _many("Verdict", "verdict", WORDS)
        _many("Question type", "type", cases.facet(version, cases.Filters(), "question_type"))
        _one("Reason", "why", cases.facet(version, cases.Filters(), "primary_reason"), reason)
        _one(
            "Answer label",
            "label",
            cases.facet(version, cases.Filters(), "label"),
            lambda name: LABELS.get(name, name),
        )
        _score(version)
        if st.session_state.get("metric"):
            _one("The score is", "state", cases.STATES)
        _sort()
    with above:
        _counts(version, _read(), repeats)
    return _read(), st.session_state.get("sort") or "trouble first"


def clear_button() -> None:
    st.button("Clear all filters", on_click=_clear, icon=":material/filter_alt_off:")


def _take_only_the_link() -> None:
    """A link that names filters means just these: what was chosen on an earlier visit is put aside. Coming back
    by the menu, without filters in the address, finds them as they were."""
    if st.session_state.get("entered") and any(key in st.query_params for key in EMPTY):
        for key, value in EMPTY.items():
            if key not in st.query_params and key in st.session_state:
                st.session_state[key] = value


def _read() -> cases.Filters:
    state = st.session_state
    return cases.Filters(
        verdicts=tuple(WORDS[word] for word in state.get("verdict") or () if word in WORDS),
        types=tuple(state.get("type") or ()),
        reason=state.get("why") or "",
        label=state.get("label") or "",
        search=state.get("find") or "",
        flaky=bool(state.get("flaky")),
        unchecked=bool(state.get("unchecked")),
        metric=state.get("metric") or "",
        state=(state.get("state") or "") if state.get("metric") else "",
    )


def _counts(version: Version, wanted: cases.Filters, repeats: int) -> None:
    """A button for each count: it switches its filter on and off."""
    counts = cases.verdict_counts(version, wanted)
    with st.container(horizontal=True, vertical_alignment="center"):
        for word, verdict in WORDS.items():
            number = counts.get(verdict, 0)
            chosen = verdict in wanted.verdicts
            st.button(
                f"{palette.look(verdict).mark} {word} {wording.count(number)}",
                key=f"only_{verdict}",
                type="primary" if chosen else "secondary",
                disabled=not number and not chosen,
                on_click=_toggle,
                args=(word,),
            )
        special = cases.special_counts(version, wanted)
        if repeats > 1:
            st.toggle(
                f"Flaky {wording.count(special['flaky'])}", key="flaky", bind="query-params",
                help="Cases whose repeats have different verdicts",
            )  # fmt: skip
        if st.query_params.get("unchecked") or special["unchecked"] or wanted.unchecked:
            st.toggle(
                f"Unchecked {wording.count(special['unchecked'])}", key="unchecked", bind="query-params",
                help="Cases with a check that could not be made",
            )  # fmt: skip


def _many(title: str, key: str, options: Iterable[str]) -> None:
    """Any of several values. What a link asks for and the run does not have is said."""
    offered = [each for each in options if each]
    _say_unknown(title, key, offered)
    if len(offered) > 1:
        st.multiselect(title, offered, key=key, bind="query-params", placeholder="all")


def _one(title: str, key: str, options: Iterable[str], words: Callable[[str], str] | None = None) -> None:
    """One value or all. The published names are the options and stand in the address; help says them in words."""
    offered = [each for each in options if each]
    _say_unknown(title, key, offered)
    if not offered:
        return
    said = "\n".join(f"- `{name}`: {words(name)}" for name in offered[:30]) if words else None
    st.selectbox(title, offered, index=None, key=key, bind="query-params", placeholder="all", help=said)


def _say_unknown(title: str, key: str, offered: list[str]) -> None:
    for asked in st.query_params.get_all(key):
        if asked and asked not in offered:
            st.caption(f":orange[{title}: this run has no {widgets.escaped(repr(asked))}]")


def _score(version: Version) -> None:
    known = descriptions.metrics()
    names = cases.metric_names(version)
    names.sort(key=lambda name: not known.get(name, {}).get("headline"))
    _one("Score", "metric", names)


def _sort() -> None:
    orders = [each for each in cases.SORTS if "score" not in each or st.session_state.get("metric")]
    if st.session_state.get("sort") not in (None, *orders):
        st.session_state["sort"] = "trouble first"
    _say_unknown("Sort", "sort", orders)
    st.selectbox("Sort", orders, key="sort", bind="query-params")


def _toggle(word: str) -> None:
    chosen = list(st.session_state.get("verdict") or [])
    st.session_state["verdict"] = [each for each in WORDS if (each in chosen) != (each == word)]


def _clear() -> None:
    for key, value in EMPTY.items():
        if key in st.session_state:
            st.session_state[key] = value
