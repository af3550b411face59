"""Configurations of a sweep: the leaderboard with intervals, factors as parallel axes, quality against cost."""

from __future__ import annotations

import altair as alt
import pandas as pd

from dashboard.charts.palette import MUTED, WIDE_CHART, names_axis, series_color, titled

ROW = 26
PERCENT = "format(datum.value * 100, '.0f') + ' %'"


def leaderboard(frame: pd.DataFrame, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """One row a configuration: quality with its interval; those tied with the best in the primary colour.

    `frame`: label (unique), value, low, high, series ("candidate" where tied with the best, else "baseline"), detail
    (tooltip), in the order to be drawn from the top.
    """
    across = alt.Scale(domain=[0, 1])
    axis = alt.Axis(labelExpr=PERCENT, values=[0, 0.25, 0.5, 0.75, 1], title="quality")
    base = alt.Chart(frame).encode(
        y=alt.Y("label:N", sort=None, title=None, axis=names_axis()),
        color=series_color(),
        tooltip=[alt.Tooltip("label:N", title="configuration"), alt.Tooltip("detail:N", title=" ")],
    )
    rule = base.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q", scale=across, axis=axis), x2="high:Q")
    dot = base.mark_point(filled=True, size=70, opacity=1).encode(x=alt.X("value:Q", scale=across, axis=axis))
    return titled(alt.layer(rule, dot).properties(height=ROW * max(len(frame), 1)), title, subtitle)


def parallel(frame: pd.DataFrame, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """Each configuration as a line over its factors to its quality at the right.

    `frame`: label, axis (factor in lines or "Quality", in the order to be drawn), place (0 to 1), value (the level in words),
    series ("candidate" for the best, else "baseline"), weight (0 to 1: opacity).
    """
    order = list(dict.fromkeys(frame["axis"]))
    x = alt.X(
        "axis:N",
        sort=order,
        title=None,
        axis=alt.Axis(
            labelAngle=0,
            labelLimit=110,
            labelExpr="split(datum.label, '\\n')",
            orient="top",
            domain=False,
            ticks=False,
        ),
    )
    y = alt.Y("place:Q", scale=alt.Scale(domain=[-0.05, 1.05], nice=False), axis=None)
    lines = (
        alt.Chart(frame)
        .mark_line(strokeWidth=1.5)
        .encode(
            x=x, y=y, detail="label:N", color=series_color(), opacity=alt.Opacity("weight:Q", scale=None),
            tooltip=[alt.Tooltip("label:N", title="configuration")],
        )
    )  # fmt: skip
    levels = frame.drop_duplicates(["axis", "value"])
    words = (
        alt.Chart(levels)
        .mark_text(align="left", dx=6, dy=-9, color=MUTED, limit=110)
        .encode(x=x, y=y, text="value:N")
    )
    return titled(alt.layer(lines, words).properties(height=240), title, subtitle)


def trade_off(frame: pd.DataFrame, title: str, subtitle: str, cost: str, *, log: bool) -> alt.TopLevelMixin:
    """Quality against a price, with the frontier as steps; marking an area returns it as the selection "area".

    `frame`: label, quality, low, high, cost, probability (of being on the frontier), on (on the point frontier), series
    ("candidate" on the frontier, else "baseline"), mark (text beside the point, "" for none), detail.
    """
    scale = alt.Scale(type="log", nice=True) if log else alt.Scale(zero=True, nice=True)
    x = alt.X("cost:Q", scale=scale, title=cost, axis=alt.Axis(tickCount=5))
    y = alt.Y(
        "quality:Q",
        scale=alt.Scale(domain=[0, 1]),
        title="quality",
        axis=alt.Axis(labelExpr=PERCENT, tickCount=5),
    )
    area = alt.selection_interval(name="area", encodings=["x", "y"])
    base = alt.Chart(frame).encode(x=x, color=series_color())
    rule = base.mark_rule(strokeWidth=1, opacity=0.5).encode(
        y=alt.Y("low:Q", scale=alt.Scale(domain=[0, 1])), y2="high:Q"
    )
    dots = base.mark_point(filled=True, opacity=1).encode(
        y=y, size=alt.Size("probability:Q", scale=alt.Scale(domain=[0, 1], range=[40, 260]), legend=None),
        tooltip=[alt.Tooltip("label:N", title="configuration"), alt.Tooltip("detail:N", title=" ")],
    ).add_params(area)  # fmt: skip
    front = (
        alt.Chart(frame[frame["on"]].sort_values("cost"))
        .mark_line(interpolate="step-after", strokeDash=[4, 3], color=MUTED)
        .encode(x=x, y=y)
    )
    named = frame[frame["mark"] != ""].sort_values("cost")
    words = [
        alt.Chart(named.iloc[first::2])
        .mark_text(dy=side, limit=260, color=MUTED, opacity=alt.ExprRef(f"width > {WIDE_CHART} ? 1 : 0"))
        .encode(x=x, y=y, text="mark:N")
        for first, side in ((0, -34), (1, 34))
    ]
    return titled(alt.layer(front, rule, dots, *words).properties(height=320), title, subtitle)
