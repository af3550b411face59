"""The parts of the Pareto page: quality against a price, who is on the frontier and how surely."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import widgets, wording
from dashboard.charts import sweeps as charts
from dashboard.queries import sweeps

PRICES = {
    "mean_cost_usd": "Cost a question, USD",
    "latency_p50_ms": "Median latency, ms",
    "mean_llm_calls": "Model calls a question",
}
STATUS = {
    "robust": "surely on the frontier",
    "plausible": "perhaps on the frontier",
    "dominated": "beaten by another",
}


def prices(table: pd.DataFrame) -> list[str]:
    """Prices that were measured and are not the same for all configurations, cost first."""
    return [
        name
        for name in PRICES
        if name in table and table[name].notna().any() and table[name].nunique(dropna=True) > 1
    ]


def sentence(table: pd.DataFrame, names: dict[str, str]) -> str:
    """How many are on the frontier, how surely, and whether there is a knee."""
    robust = int((table["status"] == "robust").sum())
    possible = int((table["status"] != "dominated").sum())
    text = f"{wording.count(possible)} of {wording.plural(len(table), 'configuration')} may be worth their price, {wording.count(robust)} of them surely. "
    knees = table[table["is_knee"].fillna(False).astype(bool)]
    if len(knees):
        return text + f"Beyond “{names.get(knees.iloc[0]['experiment'], '')}” more quality gets expensive."
    return text + "There is no knee: no configuration after which more quality clearly gets expensive."


@st.fragment
def scatter(table: pd.DataFrame, names: dict[str, str], run_ids: dict[str, str]) -> None:
    """Quality against the chosen price; an area that is marked lists its configurations."""
    offered = prices(table)
    if not offered:
        st.info(
            "All configurations cost and took the same, or nothing was measured.",
            title="There is no price to trade quality against",
        )
        return
    chosen = None
    if len(offered) > 1:
        chosen = st.segmented_control(
            "Price", offered, key="price", bind="query-params", format_func=lambda name: PRICES[name], default=offered[0],
            required=True, label_visibility="collapsed",
        )  # fmt: skip
    price = chosen or offered[0]
    known = table[table[price].notna() & table[sweeps.QUALITY].notna()]
    log = bool(known[price].min() > 0 and known[price].max() / known[price].min() >= 10)
    frame = _frame(known, price, names)
    on = int(frame["on"].sum())
    finding = f"{wording.count(on)} of {wording.plural(len(frame), 'configuration')} on the frontier"
    note = "larger marks are more surely on it; thin rules: 95 % interval of quality; mark an area to list its configurations"
    marked = widgets.chart(
        charts.trade_off,
        frame,
        finding,
        note,
        PRICES[price],
        log=log,
        key=f"pareto_{price}",
        on_select="rerun",
    )
    area = marked.get("area") or {}
    inside = _inside(frame, area)
    for row in inside.sort_values("quality", ascending=False).head(25).to_dict("records"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if row["experiment"] in run_ids:
                widgets.link_to("verdicts", row["label"], {"id": run_ids[row["experiment"]]})
            st.caption(widgets.escaped(row["detail"]), width="content")


def _frame(known: pd.DataFrame, price: str, names: dict[str, str]) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for row in known.to_dict("records"):
        on = bool(row["is_pareto_optimal"])
        knee = bool(row["is_knee"]) if pd.notna(row["is_knee"]) else False
        value = (
            wording.money(row[price])
            if price == "mean_cost_usd"
            else wording.duration(row[price])
            if price == "latency_p50_ms"
            else wording.plain(row[price])
        )
        rows.append(
            {
                "experiment": row["experiment"], "label": names.get(row["experiment"], row["experiment"]), "quality": row[sweeps.QUALITY],
                "low": row["quality_low"], "high": row["quality_high"], "cost": row[price], "probability": row["p_on_frontier"] or 0.0, "on": on,
                "series": "candidate" if row["status"] != "dominated" else "baseline", "mark": " · ".join([names.get(row["experiment"], row["experiment"]), *(["knee"] if knee else [])]) if on else "",
                "detail": f"{wording.rate(row[sweeps.QUALITY])} {wording.interval(row['quality_low'], row['quality_high'])}, {value}; "
                f"{STATUS.get(row['status'], row['status'])} ({wording.rate(row['p_on_frontier'])})",
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def _inside(frame: pd.DataFrame, area: dict[str, Any]) -> pd.DataFrame:
    if not area:
        return frame[frame["series"] == "candidate"]
    inside = pd.Series(True, index=frame.index)
    for name in ("cost", "quality"):
        if area.get(name):
            inside &= frame[name].between(min(area[name]), max(area[name]))
    return frame[inside]


def table(found: pd.DataFrame, names: dict[str, str]) -> None:
    """All configurations with their price and how surely they are worth it."""
    shown = pd.DataFrame(
        [
            {
                "configuration": names.get(row["experiment"], row["experiment"]),
                "quality": wording.rate(row[sweeps.QUALITY]),
                "interval": wording.interval(row["quality_low"], row["quality_high"])
                if pd.notna(row["quality_low"])
                else "",
                "cost a question": _cost(row),
                "median latency": wording.duration(row["latency_p50_ms"])
                if pd.notna(row["latency_p50_ms"])
                else wording.MISSING,
                "on the frontier": wording.rate(row["p_on_frontier"]),
                "status": STATUS.get(row["status"], row["status"]),
                "beaten by": names.get(row["dominated_by"], "") if row["status"] == "dominated" else "",
            }
            for row in found.to_dict("records")
        ]
    )
    if shown["cost a question"].nunique() < 2:
        shown = shown.drop(columns="cost a question")
    st.dataframe(
        shown,
        hide_index=True,
        alt="Configurations with quality, price and how surely they are on the frontier",
    )


def _cost(row: dict[Any, Any]) -> str:
    if row.get("mean_llm_calls") == 0:
        return "no model was called"
    return wording.money(None if pd.isna(row["mean_cost_usd"]) else row["mean_cost_usd"])
