"""The parts of the classes page: accuracy by level, what is taken for what, the code tree with its errors."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from core.records import Run
from dashboard import widgets, wording
from dashboard.charts import confidence, estimates
from dashboard.queries import classes
from dashboard.queries.runs import Version

MATRIX = 14  # classes on each side of the matrix
LISTED = 25
BRANCHES = 12
LISTED_NODES = 60  # lines below one branch
NOTHING = "(no answer)"
BROADER = "(none or broader)"  # at a level below the first a code above it has no class either


def sentence(run: Run) -> str:
    """How often the code is right, and how often at least its branch is."""
    found = run.summary.get("classes") or {}
    levels = found.get("by_level") or []
    scored = run.summary.get("classifier") or {}
    exact = next(
        (each for each in run.aggregates if each.metric == "exact_top1_match" and not each.group_by), None
    )
    text = (
        f"The first code is right in {wording.rate(exact.mean)} of {wording.plural(exact.n_scored, 'query', 'queries')} {wording.interval(exact.low, exact.high)}"
        if exact and exact.mean is not None
        else f"{wording.plural(found.get('n_scored', 0), 'query', 'queries')} were judged"
    )
    if levels:
        text += f"; its {level(levels[0]['name'])} in {wording.rate(levels[0]['accuracy'])} {wording.interval(levels[0]['low'], levels[0]['high'])}"
    note = (scored.get("input_contract") or {}).get("note")
    return f"{text}." + (f" Levels: {note}." if note else "")


def level(name: str) -> str:
    return name.replace("_", " ")


def by_level(run: Run) -> None:
    """Accuracy at each level of the code tree."""
    levels = (run.summary.get("classes") or {}).get("by_level") or []
    if not levels:
        return
    frame = pd.DataFrame(
        [
            {
                "title": f"{level(each['name']).capitalize()} (n = {each['n']})", "mean": each["accuracy"], "low": each["low"], "high": each["high"],
                "shown": wording.rate(each["accuracy"]),
                "detail": f"{wording.rate(each['accuracy'])} {wording.interval(each['low'], each['high'])}; macro F1 {wording.plain(each['macro_f1'])}",
            }
            for each in levels
        ]
    )  # fmt: skip
    finding = f"Right at the {level(levels[0]['name'])} in {wording.rate(levels[0]['accuracy'])}, at the {level(levels[-1]['name'])} in {wording.rate(levels[-1]['accuracy'])}"
    note = "accuracy and 95 % interval by level of the code tree"
    widgets.chart(estimates.estimates, frame, finding, note, key="levels")


def choose_level(run: Run) -> str:
    """The level of the matrix, in the address."""
    names = [each["name"] for each in (run.summary.get("classes") or {}).get("by_level") or []]
    offered = [*names, "code"]
    chosen = st.segmented_control(
        "Level",
        offered,
        key="level",
        bind="query-params",
        format_func=lambda name: level(name).capitalize(),
        label_visibility="collapsed",
        default=offered[0],
        required=True,
    )
    return chosen or offered[0]


@st.fragment
def matrix(version: Version, run: Run, chosen: str) -> None:
    """What is taken for what at one level; a cell lists its cases."""
    levels = (run.summary.get("classes") or {}).get("by_level") or []
    level_number = next((int(each["level"]) for each in levels if each["name"] == chosen), None)
    table = classes.table(version, f"confusion_{chosen}")
    if table.empty:
        st.caption("No query has a right code at this level.")
        return
    nothing = NOTHING if level_number in (None, 1) else BROADER
    table = table.assign(predicted=table["predicted"].fillna(""))
    counted = table.groupby("gold")["n"].sum().sort_values(ascending=False)
    kept = list(counted.index[:MATRIX])
    shown = table[table["gold"].isin(kept) & (table["predicted"].isin(kept) | (table["predicted"] == ""))]
    frame = _cells(shown, nothing)
    wrong = table[~table["correct"].astype(bool)]
    finding = "Nothing was taken for anything else"
    if len(wrong):
        top = wrong.loc[wrong["n"].idxmax()]
        finding = f"Most often wrong: {wording.shortened(top['gold_label'] or top['gold'], 40)} taken for {wording.shortened(top['predicted_label'] or top['predicted'] or nothing, 40)} ({top['n']} times)"
    total = int(table["n"].sum())
    note = f"n = {wording.count(total)}; the {wording.plural(len(kept), 'most frequent class', 'most frequent classes')}, {wording.count(int(shown['n'].sum()))} of the answers; choose a cell"
    marked = widgets.chart(
        confidence.confusion, frame, finding, note, key=f"confusion_{chosen}", on_select="rerun"
    )
    picked = marked.get("cell") or []
    if picked:
        names = {row["label_gold"]: row["gold_code"] for row in frame.to_dict("records")} | {
            row["label_predicted"]: row["predicted_code"] for row in frame.to_dict("records")
        }
        _cases(version, level_number, names.get(picked[0]["gold"], ""), names.get(picked[0]["predicted"], ""))
    part = st.expander(
        "The most frequent mistakes", on_change="rerun", key=f"mistakes_{chosen}", expanded=False
    )
    if part.open:
        with part:
            for row in wrong.sort_values("n", ascending=False).head(LISTED).to_dict("records"):
                st.markdown(
                    widgets.escaped(
                        f"{row['n']} of {row['support']}: {_name(row['gold'], row['gold_label'])} taken for {_name(row['predicted'], row['predicted_label']) or nothing}"
                    )
                )


def _cells(shown: pd.DataFrame, nothing: str) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for row in shown.to_dict("records"):
        gold, predicted = (
            _name(row["gold"], row["gold_label"], 30),
            _name(row["predicted"], row["predicted_label"], 30) or nothing,
        )
        rows.append(
            {
                "gold": gold, "predicted": predicted, "n": row["n"], "correct": bool(row["correct"]), "look": "PASS" if row["correct"] else "FAIL",
                "detail": f"{row['n']} of {row['support']} {gold} → {predicted}", "gold_code": row["gold"], "predicted_code": row["predicted"],
                "label_gold": gold, "label_predicted": predicted,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def _name(code: str, label: str, limit: int = 80) -> str:
    return wording.shortened(f"{code} {label}".strip(), limit) if code else ""


def _cases(version: Version, level_number: int | None, gold: str, predicted: str) -> None:
    found = classes.cell(version, level_number, gold, predicted)
    st.markdown(f"{wording.plural(len(found), 'case')} in this cell.")
    for row in found.head(LISTED).to_dict("records"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            widgets.verdict_badge(row["verdict"])
            widgets.link_to(
                "case",
                wording.shortened(row["query"], 120) or row["case_id"],
                {"id": version.run_id},
                case=row["case_id"],
            )
            st.caption(f"{row['gold']} → {row['predicted'] or NOTHING}", width="content")


def tree(version: Version) -> None:
    """Branch by branch from the top, by the parents of the code list: how many cases, how many wrong, how many of them
    outside the branch; open a branch to see below it."""
    table = classes.table(version, "class_tree")
    if table.empty:
        st.caption("No right code stands in the code list.")
        return
    search = (
        st.text_input("Search classes", key="class_find", bind="query-params", type="search")
        .strip()
        .casefold()
    )
    rows = table.assign(parent=table["parent"].fillna("")).to_dict("records")
    below: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        below.setdefault(row["parent"], []).append(row)
    shown = below.get("", [])
    if search:
        shown = [row for row in rows if search in _name(row["node"], row["label"]).casefold()]
    for row in shown[:BRANCHES]:
        part = st.expander(widgets.escaped(_branch(row)), key=f"branch_{row['node']}", on_change="rerun")
        if part.open:
            with part:
                _below(below, row["node"])
    if len(shown) > BRANCHES:
        st.caption(f"{wording.count(len(shown) - BRANCHES)} more; search for them.")


def _below(below: dict[str, list[dict[str, Any]]], node: str) -> None:
    """Everything below a node as a nested list; of many siblings those with most errors."""
    lines: list[str] = []
    _lines(below, node, 0, lines)
    if not lines:
        st.caption("No right code stands below it.")
        return
    st.markdown("\n".join(lines[:LISTED_NODES]))
    if len(lines) > LISTED_NODES:
        st.caption(f"{wording.count(len(lines) - LISTED_NODES)} more below; search for them.")


def _lines(below: dict[str, list[dict[str, Any]]], node: str, depth: int, lines: list[str]) -> None:
    for row in below.get(node, []):
        lines.append(f"{'  ' * depth}- {widgets.escaped(_branch(row))}")
        _lines(below, row["node"], depth + 1, lines)


def _branch(row: dict[str, Any]) -> str:
    """`45 Construction work · 12 of 30 wrong, 5 of them in another branch`."""
    text = f"{_name(row['node'], row['label'], 60)} · {wording.count(row['wrong'])} of {wording.count(row['n'])} wrong"
    return text + (f", {wording.count(row['left'])} of them in another branch" if row["left"] else "")


def per_class(version: Version) -> None:
    """Every class with precision, recall and F1."""
    table = classes.table(version, "per_class")
    if table.empty:
        st.caption("No class was judged.")
        return
    shares = {name: st.column_config.NumberColumn(format="percent") for name in ("precision", "recall", "f1")}
    st.dataframe(
        table.head(2_000), hide_index=True, column_config=shares, alt="Precision, recall and F1 of each class"
    )


def groups(version: Version, name: str, title: str) -> None:
    """Accuracy by language or by division, with intervals."""
    table = classes.table(version, name)
    if table.empty or len(table) < 2:
        return
    top = table.head(15)
    labels = top["label"] if "label" in top else [""] * len(top)
    frame = pd.DataFrame(
        [
            {
                "title": f"{_name(row['group'], label, 34)} (n = {row['n']})", "mean": row["accuracy"], "low": row["accuracy_low"], "high": row["accuracy_high"],
                "shown": wording.rate(row["accuracy"]), "detail": f"{wording.rate(row['accuracy'])} right, {wording.rate(row['hit_at_k'])} in the list",
            }
            for row, label in zip(top.to_dict("records"), labels, strict=True)
        ]
    )  # fmt: skip
    note = f"first code right, 95 % interval; the {len(top)} largest of {len(table)}"
    widgets.chart(estimates.estimates, frame, title, note, key=name)


def leakage(run: Run) -> None:
    """Whether the answer was given away, and the headline without such queries."""
    found = run.summary.get("leakage") or {}
    n = found.get("n_leaking")
    if n is None:
        return
    if not n:
        st.success(
            "No query gives its answer away, as far as word-for-word and near-duplicate checks can tell."
        )
        return
    st.warning(
        f"In {wording.plural(n, 'query', 'queries')} the answer may have been given away.", title="Leakage"
    )
    meaning = found.get("meaning") or {}
    widgets.facts(
        {
            f"{wording.count(count)}": str(meaning.get(kind, kind))
            for kind, count in (found.get("counts_by_kind") or {}).items()
            if count
        }
    )
    for name, title in (("headline_all", "With them"), ("headline_without_leaking", "Without them")):
        head = (found.get(name) or {}).get("exact_top1_match")
        if head:
            st.caption(
                f"{title}: {wording.rate(head['mean'])} {widgets.escaped(wording.interval(head['low'], head['high']))} right, n = {wording.count(head['n'])}"
            )
