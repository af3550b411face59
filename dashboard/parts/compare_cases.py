"""The cases of a comparison: counts that filter, the matrix of runs, the scatter, and why one case changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import widgets, wording
from dashboard.charts import differences, palette
from dashboard.parts import compare_why
from dashboard.queries import comparisons, descriptions, runs
from dashboard.queries.comparisons import Comparison, Pair
from dashboard.queries.runs import Version
from dashboard.widgets import choices

CHANGE_WORDS = {
    "regressed": "Regressed",
    "fixed": "Fixed",
    "flipped": "Flipping",
    "error": "Error",
    "changed": "Question changed",
    "only_in_baseline": "Only in baseline",
    "only_in_candidate": "Only in candidate",
    "same": "Same",
}
CHANGE_MARKS = {"regressed": "✕", "fixed": "●", "flipped": "▲", "error": "◆"}
SAME = 1e-9
POINTS = 2_000


def word(change: str) -> str:
    return f"{CHANGE_MARKS.get(change, '○')} {CHANGE_WORDS[change]}"


def ask(found: Comparison, a: Version, b: Version) -> tuple[comparisons.Wanted, str | None]:
    """Filters, whose counts are the buttons, and the metric whose difference is shown."""
    kinds = comparisons.question_types(a, b)
    above = st.container()
    with st.grid(4, min_column_width=170, vertical_alignment="bottom"):
        search = st.text_input(
            "Search", key="compare_find", bind="query-params", type="search", help="In question and id"
        )
        chosen_kinds: list[str] = []
        if len(kinds) > 1:
            chosen_kinds = st.multiselect(
                "Question type", list(kinds), key="compare_type", bind="query-params",
                format_func=wording.title,
            )  # fmt: skip
        metric = _metric(found)
    others = comparisons.Wanted((), tuple(chosen_kinds), search or "")
    counts = comparisons.counts(a, b, others)
    with above:
        offered = {
            change: f"{word(change)} {wording.count(n)}"
            for change, n in counts.items()
            if n or change in ("regressed", "fixed")
        }
        picked = choices.chosen_many("change", "Changes", offered)
    return comparisons.Wanted(tuple(picked), others.types, others.search), metric


def _metric(found: Comparison) -> str | None:
    known = descriptions.metrics()
    offered = {each.metric: each.title for each in found.metrics if each.metric != "pass_rate"}
    if not offered:
        return None
    moved = {each.metric: (-(each.win + each.loss), -each.n) for each in found.metrics}
    headline = sorted(
        (name for name in offered if known.get(name, {}).get("headline")), key=lambda name: moved[name]
    )
    chosen = st.selectbox(
        "Score", list(offered), index=None, key="compare_score", bind="query-params",
        format_func=lambda name: offered[name], placeholder=offered[(headline or list(offered))[0]],
        help="Its difference stands beside each case and in the scatter",
    )  # fmt: skip
    return chosen or (headline or list(offered))[0]


def further_runs(a: Version, b: Version) -> list[tuple[str, Comparison]]:
    """Up to eight more runs as columns: (label, comparison with the baseline)."""
    labels = {
        each["id"]: widgets.run_label(each)
        for each in runs.choices()
        if each["id"] not in (a.run_id, b.run_id)
    }
    if not labels:
        return []
    names = {label: run_id for run_id, label in labels.items()}
    chosen = st.multiselect(
        "Further runs as columns", list(names), key="also", bind="query-params",
        max_selections=comparisons.MOST_RUNS - 2, placeholder="up to eight",
    )  # fmt: skip
    versions = [(name, runs.version(names[name])) for name in chosen]
    return [(name, comparisons.comparison(a, version)) for name, version in versions if version is not None]


@st.fragment
def matrix(
    found: Comparison,
    a: Version,
    b: Version,
    wanted: comparisons.Wanted,
    metric: str | None,
    more: Sequence[tuple[str, Comparison]],
) -> None:
    """Rows are cases, columns are runs; a row opens why it changed. Arrow keys walk through the matches."""
    pairs = comparisons.chosen(a, b, wanted)
    if not pairs:
        st.info("Take a filter away to see more cases.", title="No case matches")
        return
    pages = -(-len(pairs) // comparisons.PAGE_SIZE)
    number = st.pagination(pages, key="compare_page", bind="query-params") if pages > 1 else 1
    shown = pairs[(number - 1) * comparisons.PAGE_SIZE : number * comparisons.PAGE_SIZE]
    open_case = st.query_params.get("case")
    rows = _rows(shown, a, b, metric, more)
    key = f"matrix_{hash((wanted, number, metric, a, b, len(more))) & 0xFFFFFF:x}"
    event = st.dataframe(
        rows, hide_index=True, key=key, on_select="rerun", selection_mode="single-row", column_config=_columns(more),
        height=35 * (len(rows) + 1) + 3, alt="Cases with their verdicts in each run; choose a row to see why it changed",
    )  # fmt: skip
    picked = event["selection"]["rows"]
    marker = (key, tuple(picked))
    if picked and picked[0] < len(shown) and st.session_state.get("matrix_seen") != marker:
        open_case = shown[picked[0]].id
        st.query_params["case"] = open_case
    st.session_state["matrix_seen"] = marker
    first = (number - 1) * comparisons.PAGE_SIZE + 1
    st.caption(
        f"{wording.count(first)}–{wording.count(first + len(shown) - 1)} of {wording.plural(len(pairs), 'case')}. Choose a row to see why it changed."
    )
    _drawer(found, a, b, pairs, open_case)


def _rows(
    pairs: Sequence[Pair], a: Version, b: Version, metric: str | None, more: Sequence[tuple[str, Comparison]]
) -> pd.DataFrame:
    before = comparisons.scores(a, metric, tuple(p.a.case_id for p in pairs if p.a)) if metric else {}
    after = comparisons.scores(b, metric, tuple(p.b.case_id for p in pairs if p.b)) if metric else {}
    kind = descriptions.metrics().get(metric or "", {}).get("kind", "unbounded")
    others = [(label, comparisons.by_case(each)) for label, each in more]
    rows = []
    for pair in pairs:
        left, right = (
            before.get(pair.a.case_id if pair.a else ""),
            after.get(pair.b.case_id if pair.b else ""),
        )
        row: dict[str, Any] = {
            "change": word(comparisons.change_of(pair)),
            "question": wording.shortened(pair.query, 120) or pair.id,
            "baseline": _chips(pair.a),
            "candidate": _chips(pair.b),
        }
        for label, known in others:
            match = known.get(pair.a.case_id) if pair.a else None
            row[label] = _chips(match.b if match else None)
        if metric:
            row["difference"] = _delta(left, right, kind)
        rows.append(row)
    return pd.DataFrame(rows)


def _chips(side: Any) -> list[str]:
    if side is None:
        return [palette.verdict_label(None)]
    strip = widgets.repeat_strip(side.verdicts) if len(side.verdicts) > 1 else ""
    return [palette.verdict_label(side.verdict), *([strip] if strip else [])]


def _delta(left: float | None, right: float | None, kind: str) -> str:
    if left is None or right is None:
        return wording.MISSING
    if abs(right - left) < SAME:
        return "±0"
    return (
        wording.signed(right - left) if kind in wording.FRACTION_KINDS else wording.signed_plain(right - left)
    )


def _columns(more: Sequence[tuple[str, Comparison]]) -> Mapping[str, Any]:
    looks = [*palette.ORDER, None]
    options = [palette.verdict_label(verdict) for verdict in looks]
    colors = [palette.look(verdict).badge for verdict in looks]
    chips = st.column_config.MultiselectColumn(options=options, color=colors, width=105)
    return {
        "change": st.column_config.TextColumn(width=115),
        "question": st.column_config.TextColumn(width=330),
        "difference": st.column_config.TextColumn(width=80, help="candidate − baseline of the chosen score, in points for shares"),
        **dict.fromkeys(("baseline", "candidate", *(label for label, _ in more)), chips),
    }  # fmt: skip


def _drawer(found: Comparison, a: Version, b: Version, pairs: Sequence[Pair], case_id: str | None) -> None:
    """Why the open case changed, with the way to the one before and after among the matches."""
    ids = [pair.id for pair in pairs]
    at = ids.index(case_id) if case_id in ids else None
    steps = {
        "previous": (at or 0) - 1 if at else None,
        "next": 0 if at is None else at + 1 if at + 1 < len(ids) else None,
    }
    with st.container(horizontal=True, vertical_alignment="center"):
        for name, shortcut in (("previous", "Left"), ("next", "Right")):
            target = steps[name]
            st.button(
                name.capitalize(), key=f"case_{name}", shortcut=shortcut, disabled=target is None,
                icon=f":material/arrow_{'back' if name == 'previous' else 'forward'}:",
                on_click=widgets.guarded(_open), args=(ids[target] if target is not None else "",),
            )  # fmt: skip
        if at is not None:
            st.caption(f"{wording.count(at + 1)} of {wording.count(len(ids))}", width="content")
            st.button(
                "Close",
                key="case_close",
                icon=":material/close:",
                on_click=widgets.guarded(_open),
                args=("",),
            )
    if not case_id:
        return
    pair = next((each for each in found.pairs if each.id == case_id), None)
    if pair is None:
        st.warning("It may belong to other runs; choose a row above.", title="Neither run has such a case")
        widgets.quote(case_id)
        return
    compare_why.drawer(a, b, pair)


def _open(case_id: str) -> None:
    choices.set_param("case", case_id or None)


def scatter(found: Comparison, a: Version, b: Version, metric: str) -> None:
    """Each case by its score in both runs; of very many cases only when it is asked for."""
    part = st.expander(
        "Each case in both runs", expanded=len(found.pairs) <= POINTS, on_change="rerun", key="scatter_open"
    )
    if part.open:
        with part:
            _scatter(found, a, b, metric)


@st.fragment
def _scatter(found: Comparison, a: Version, b: Version, metric: str) -> None:
    """The scatter; an area that is marked lists its cases."""
    info = descriptions.metrics().get(metric, {})
    kind, direction = info.get("kind", "unbounded"), info.get("direction", 0)
    title = info.get("title") or wording.title(metric)
    frame = comparisons.score_pairs(found, a, b, metric)
    if frame.empty:
        st.caption(f"No case has {widgets.escaped(title)} in both runs.")
        return
    places = _places(frame, direction)
    n = len(frame)
    moved = int((frame["a"] != frame["b"]).sum())
    finding = f"{title} moved in {wording.count(moved)} of {wording.plural(n, 'case')}"
    note = f"n = {wording.count(n)}; a larger mark holds more cases; mark an area to list them"
    if len(places) > POINTS:
        places = places.sort_values("n", ascending=False).head(POINTS)
        note += f"; the {wording.count(POINTS)} fullest places are drawn"
    marked = widgets.chart(
        differences.two_runs,
        places,
        finding,
        note,
        "baseline",
        "candidate",
        bounded=kind in wording.FRACTION_KINDS,
        key="two_runs",
        on_select="rerun",
    )
    area = marked.get("area") or {}
    if not area:
        return
    inside = frame[_within(frame["a"], area.get("a")) & _within(frame["b"], area.get("b"))]
    st.markdown(f"{wording.plural(len(inside), 'case')} in the marked area.")
    for row in inside.head(comparisons.PAGE_SIZE).to_dict("records"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge(word(row["change"]), color="gray")
            widgets.link_to(
                "case",
                wording.shortened(row["query"], 120) or row["case_id"],
                {"id": b.run_id},
                case=row["case_id"],
            )
            st.caption(f"{wording.value(row['a'], kind)} → {wording.value(row['b'], kind)}", width="content")
    if len(inside) > comparisons.PAGE_SIZE:
        st.caption(f"The first {comparisons.PAGE_SIZE} are listed; mark a smaller area to see the others.")


def _places(frame: pd.DataFrame, direction: int) -> pd.DataFrame:
    """Cases at one place as one mark: a, b, n, change, detail (their questions)."""
    places = frame.assign(a=frame["a"].round(3), b=frame["b"].round(3)).groupby(["a", "b"], as_index=False).agg(
        n=("case_id", "size"), question=("query", "first")
    )  # fmt: skip
    better = (places["b"] - places["a"]) * (direction or 1)
    places["change"] = [("better" if d > SAME else "worse" if d < -SAME else "none") for d in better]
    places["detail"] = [
        wording.shortened(question, 80) + (f" and {wording.count(n - 1)} more" if n > 1 else "")
        for question, n in zip(places["question"], places["n"], strict=True)
    ]
    return places.drop(columns="question")


def _within(values: pd.Series, bounds: Any) -> pd.Series:
    if not bounds:
        return pd.Series(True, index=values.index)
    return values.between(min(bounds), max(bounds))
