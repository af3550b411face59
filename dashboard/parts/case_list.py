"""A page of cases as a table, with the way into each case and the way out as CSV."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import widgets, wording
from dashboard.charts import palette
from dashboard.queries import cases, descriptions
from dashboard.queries.runs import Version
from dashboard.reasons import FAILURES, LABELS, reason

EXPORTED = 100_000
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def sentence(found: int, total: int, wanted: cases.Filters) -> str:
    """What the table below holds."""
    if wanted == cases.Filters():
        return f"{wording.plural(total, 'case')}, what needs attention first."
    return f"{wording.count(found)} of {wording.plural(total, 'case')} match the filters."


def table(frame: pd.DataFrame, run: Mapping[str, Any], wanted: cases.Filters) -> None:
    """One row a case. Opening acts on the id, never on the place in the table."""
    ids = frame["case_id"].tolist()
    verdicts = [palette.verdict_label(verdict) for verdict in frame["verdict"]]
    shown: dict[str, Any] = {
        "open": ["Open"] * len(frame),
        "verdict": [[label] for label in verdicts],
        "question": [
            wording.shortened(query, 160) or case_id
            for query, case_id in zip(frame["query"], ids, strict=True)
        ],
    }
    if (frame["repeats"] > 1).any():
        shown["repeats"] = [widgets.repeat_strip(each) for each in frame["verdicts"]]
        shown["flaky"] = ["flaky" if each else "" for each in frame["flaky"]]
    if wanted.metric:
        info = descriptions.metrics().get(wanted.metric, {})
        shown["score"] = [
            wording.value(each, info.get("kind", "bounded")) if each is not None else wording.MISSING
            for each in frame["score"]
        ]
    shown["why"] = [_why(row) for row in frame.to_dict("records")]
    if frame["question_type"].astype(bool).any():
        shown["type"] = frame["question_type"].tolist()
    if frame["latency_ms"].notna().any():
        shown["time"] = [wording.duration(each) for each in frame["latency_ms"]]
    if any(frame["cost_usd"]):
        shown["cost"] = [
            wording.money(each) if each is not None else "price unknown" for each in frame["cost_usd"]
        ]
    labels = [palette.verdict_label(verdict) for verdict in palette.ORDER]
    st.dataframe(
        pd.DataFrame(shown),
        hide_index=True,
        height="content",
        key=f"cases_{abs(hash(tuple(ids)))}",  # another list of cases is another table: no selection slips to another case
        alt="Cases with their verdict, question and reason",
        column_config={
            "open": st.column_config.ButtonColumn("", key="open_case", on_click=_open, args=(ids, widgets.run_label(run)), width=70),
            "verdict": st.column_config.MultiselectColumn("Verdict", options=labels, width=95,
                                                          color=["#C8421E", "#7A3E9D", "#B87400", "#00805E"]),
            "question": st.column_config.TextColumn("Question", width="large"),
            "repeats": st.column_config.TextColumn("Repeats", help="One mark a repeat, in order"),
            "flaky": st.column_config.TextColumn("Flaky"),
            "score": st.column_config.TextColumn(wording.title(wanted.metric) if wanted.metric else "Score"),
            "why": st.column_config.TextColumn("Why", width="medium"),
            "type": st.column_config.TextColumn("Type"),
            "time": st.column_config.TextColumn("Time"),
            "cost": st.column_config.TextColumn("Cost"),
        },
    )  # fmt: skip


@st.fragment
def export(version: Version, wanted: cases.Filters, sort: str, found: int, name: str) -> None:
    """The cases that match, as CSV; made when the button is pressed."""
    if found > EXPORTED:
        st.caption(f"More than {wording.count(EXPORTED)} cases: `plumbline export` writes them all.")
        return
    st.download_button(
        "Download these cases as CSV",
        data=lambda: _csv(version, wanted, sort, found),
        mime="text/csv",
        file_name=f"{name}-cases.csv",
        icon=":material/download:",
        on_click="ignore",
    )


def _csv(version: Version, wanted: cases.Filters, sort: str, found: int) -> bytes:
    frame = cases.page(version, wanted, sort, 1, max(found, 1)).assign(
        verdicts=lambda rows: rows["verdicts"].map(" ".join)
    )
    for column in frame.select_dtypes(exclude="number"):
        # a cell that a spreadsheet would run is made text
        frame[column] = frame[column].map(
            lambda cell: f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
        )
    return frame.to_csv(index=False).encode("utf-8-sig")


def _why(row: Mapping[Any, Any]) -> str:
    if row["failure"]:
        return FAILURES.get(row["failure"], row["failure"])
    diagnosed = row["primary_reason"] not in ("", "ok", row["label"])
    label = LABELS.get(row["label"], row["label"] or "")
    parts = [
        reason(row["primary_reason"]) if diagnosed else label.lower(),
        "something could not be checked" if row["n_unchecked"] else "",
    ]
    text = "; ".join(part for part in parts if part)
    return text[:1].upper() + text[1:]


def _open(ids: list[str], run: str) -> None:
    clicked = st.session_state.get("open_case")
    if clicked is not None and clicked["row"] < len(ids):
        st.switch_page(widgets.PAGES["case"], query_params={"run": run, "case": ids[clicked["row"]]})
