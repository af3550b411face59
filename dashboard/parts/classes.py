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
NOTHING = "(no answer)"


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
    )
    return chosen or offered[0]


@st.fragment
def matrix(version: Version, chosen: str) -> None:
    """What is taken for what at one level; a cell lists its cases."""
    table = classes.table(version, f"confusion_{chosen}")
    if table.empty:
        st.caption("No query has a right code at this level.")
        return
    table = table.assign(predicted=table["predicted"].fillna(""))
    counted = table.groupby("gold")["n"].sum().sort_values(ascending=False)
    kept = list(counted.index[:MATRIX])
    shown = table[table["gold"].isin(kept) & (table["predicted"].isin(kept) | (table["predicted"] == ""))]
    frame = _cells(shown)
    wrong = table[~table["correct"].astype(bool)]
    finding = "Nothing was taken for anything else"
    if len(wrong):
        top = wrong.loc[wrong["n"].idxmax()]
        finding = f"Most often wrong: {wording.shortened(top['gold_label'] or top['gold'], 40)} taken for {wording.shortened(top['predicted_label'] or top['predicted'] or NOTHING, 40)} ({top['n']} times)"
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
        _cases(version, names.get(picked[0]["gold"], ""), names.get(picked[0]["predicted"], ""))
    part = st.expander(
        "The most frequent mistakes", on_change="rerun", key=f"mistakes_{chosen}", expanded=False
    )
    if part.open:
        with part:
            for row in wrong.sort_values("n", ascending=False).head(LISTED).to_dict("records"):
                st.markdown(
                    widgets.escaped(
                        f"{row['n']} of {row['support']}: {_name(row['gold'], row['gold_label'])} taken for {_name(row['predicted'], row['predicted_label'])}"
                    )
                )


def _cells(shown: pd.DataFrame) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for row in shown.to_dict("records"):
        gold, predicted = (
            _name(row["gold"], row["gold_label"], 30),
            _name(row["predicted"], row["predicted_label"], 30),
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
    return wording.shortened(f"{code} {label}", limit) if code else NOTHING


def _cases(version: Version, gold: str, predicted: str) -> None:
    found = classes.cell(version, gold, predicted)
    if found.empty:
        st.caption("The cases of this cell cannot be listed at this level; choose the level Code.")
        return
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


def tree(version: Version, run: Run) -> None:
    """Branch by branch from the top: how many cases, how many wrong; open a branch to see below it."""
    names = [each["name"] for each in (run.summary.get("classes") or {}).get("by_level") or []]
    if not names:
        return
    search = (
        st.text_input("Search classes", key="class_find", bind="query-params", type="search")
        .strip()
        .casefold()
    )
    rows = _branches(classes.table(version, f"confusion_{names[0]}"))
    below = _branches(classes.table(version, f"confusion_{names[1]}")) if len(names) > 1 else pd.DataFrame()
    shown = [
        row
        for row in rows.to_dict("records")
        if not search or search in _name(row["gold"], row["label"]).casefold()
    ]
    for row in shown[:BRANCHES]:
        part = st.expander(
            widgets.escaped(f"{_name(row['gold'], row['label'], 60)} · {row['wrong']} of {row['n']} wrong"),
            key=f"branch_{row['gold']}",
            on_change="rerun",
        )
        if part.open and len(below):
            with part:
                for child in below[below["gold"].str.startswith(row["gold"])].to_dict("records"):
                    st.markdown(
                        widgets.escaped(
                            f"{_name(child['gold'], child['label'])}: {child['wrong']} of {child['n']} wrong"
                        )
                    )
    if len(shown) > BRANCHES:
        st.caption(f"{wording.count(len(shown) - BRANCHES)} more; search for them.")


def _branches(table: pd.DataFrame) -> pd.DataFrame:
    if table.empty:
        return pd.DataFrame(columns=["gold", "label", "n", "wrong"])
    table = table.assign(wrong=table["n"].where(~table["correct"].astype(bool), 0))
    found = table.groupby("gold", as_index=False).agg(
        label=("gold_label", "first"), n=("n", "sum"), wrong=("wrong", "sum")
    )
    return found.sort_values(["wrong", "gold"], ascending=[False, True])


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
