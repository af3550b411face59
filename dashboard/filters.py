"""The filters of the verdicts page. Their state is the address; each count is a filter and ignores its own."""

from __future__ import annotations

import streamlit as st

from dashboard import wording
from dashboard.charts import palette
from dashboard.queries import cases, descriptions
from dashboard.queries.runs import Version
from dashboard.reasons import LABELS, reason

WORDS = {palette.look(verdict).word: verdict for verdict in palette.ORDER}
KEYS = ("verdict", "type", "why", "label", "find", "flaky", "unchecked", "metric", "state", "sort")


def ask(version: Version, repeats: int) -> tuple[cases.Filters, str]:
    """Draw the filters; what is wanted, and the sort order."""
    wanted = _read()
    _counts(version, wanted, repeats)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Search question, answer or id", key="find", bind="query-params", type="search", width=280
        )
        _facet(version, wanted, "type", "question_type", "Question type", multiple=True)
        _facet(version, wanted, "why", "primary_reason", "Reason")
        _facet(version, wanted, "label", "label", "Answer label")
        _score(version)
        orders = [each for each in cases.SORTS if "score" not in each or st.session_state.get("metric")]
        st.selectbox(
            "Sort",
            orders,
            key="sort",
            bind="query-params",
            width=170,
            format_func=lambda each: "needs attention first" if each == "attention" else each,
        )
    return _read(), st.session_state.get("sort") or "attention"


def clear_button() -> None:
    st.button("Clear all filters", on_click=_clear, icon=":material/filter_alt_off:")


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
        state=state.get("state") or "",
    )


def _counts(version: Version, wanted: cases.Filters, repeats: int) -> None:
    """A button for each count: it switches its filter on and off."""
    counts = cases.verdict_counts(version, wanted)
    special = cases.special_counts(version, wanted)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for word, verdict in WORDS.items():
            number = counts.get(verdict, 0)
            st.button(
                f"{palette.look(verdict).mark} {word} {wording.count(number)}", key=f"only_{verdict}",
                type="primary" if verdict in wanted.verdicts else "secondary",
                disabled=not number and verdict not in wanted.verdicts, on_click=_toggle, args=(word,),
            )  # fmt: skip
        if repeats > 1:
            st.toggle(
                f"Flaky {wording.count(special['flaky'])}",
                key="flaky",
                bind="query-params",
                help="Cases whose repeats have different verdicts",
            )
        if special["unchecked"] or wanted.unchecked:
            st.toggle(
                f"Unchecked {wording.count(special['unchecked'])}",
                key="unchecked",
                bind="query-params",
                help="Cases with a check that could not be made",
            )
        st.multiselect(
            "Verdict", list(WORDS), key="verdict", bind="query-params", placeholder="all", width=260
        )


def _facet(
    version: Version, wanted: cases.Filters, key: str, field: str, title: str, multiple: bool = False
) -> None:
    values = cases.facet(version, wanted, field)
    chosen = st.session_state.get(key) or st.query_params.get_all(key)
    values = {
        **values,
        **{each: 0 for each in ([chosen] if isinstance(chosen, str) else chosen) if each not in values},
    }
    if len(values) < 2 and not chosen:
        return
    words = {"primary_reason": reason, "label": lambda name: LABELS.get(name, wording.title(name))}.get(field)
    if multiple:
        st.multiselect(title, list(values), key=key, bind="query-params", placeholder="all", width=240)
        return
    st.selectbox(
        title,
        list(values),
        index=None,
        key=key,
        bind="query-params",
        placeholder="all",
        width=240,
        help=None if words is None else "\n".join(f"- `{name}`: {words(name)}" for name in values if name),
    )


def _score(version: Version) -> None:
    known = descriptions.metrics()
    names = cases.metric_names(version)
    if not names:
        return
    # headline scores first; the published names are what the address holds
    names.sort(key=lambda name: not known.get(name, {}).get("headline"))
    st.selectbox(
        "Score",
        names,
        index=None,
        key="metric",
        bind="query-params",
        placeholder="none",
        width=220,
        help="Shows this score, sorts by it, and tells what became of it on each case",
    )
    if st.session_state.get("metric"):
        st.selectbox(
            "The score is",
            cases.STATES,
            index=None,
            key="state",
            bind="query-params",
            placeholder="any",
            width=150,
        )


def _toggle(word: str) -> None:
    chosen = list(st.session_state.get("verdict") or [])
    st.session_state["verdict"] = [each for each in WORDS if (each in chosen) != (each == word)]


def _clear() -> None:
    for key in KEYS:
        if key in st.session_state:
            st.session_state[key] = {
                "verdict": [],
                "type": [],
                "find": "",
                "flaky": False,
                "unchecked": False,
                "sort": "attention",
            }.get(key)
