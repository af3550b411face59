"""A page of cases as a table, with the way into each case and the way out as CSV."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import widgets, wording
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


def rows(frame: pd.DataFrame, run: Mapping[str, Any], wanted: cases.Filters) -> None:
    """One entry a case: its verdict, the question as the way into it, and below why, and what it took."""
    kind = descriptions.metrics().get(wanted.metric, {}).get("kind", "unbounded")
    for row in frame.to_dict("records"):
        with st.container(horizontal=True, vertical_alignment="top", gap="small"):
            widgets.verdict_badge(
                row["verdict"], f" {widgets.repeat_strip(row['verdicts'])}" if row["repeats"] > 1 else ""
            )
            with st.container(gap=None):
                widgets.link_to(
                    "case", wording.shortened(row["query"], 160) or row["case_id"], run, case=row["case_id"]
                )
                st.caption(widgets.escaped(" · ".join(_remarks(row, wanted, kind))))


def _remarks(row: Mapping[Any, Any], wanted: cases.Filters, kind: str) -> list[str]:
    parts = ["flaky" if row["flaky"] else "", _why(row)]
    if wanted.metric:
        parts.append(f"{wording.title(wanted.metric)} {wording.value(row['score'], kind)}")
    if row["question_type"]:
        parts.append(wording.title(wording.shortened(row["question_type"], 40)))
    if row["latency_ms"] is not None:
        parts.append(wording.duration(row["latency_ms"]))
    if row["cost_usd"]:
        parts.append(wording.money(row["cost_usd"]))
    return [part for part in parts if part]


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
