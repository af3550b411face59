"""Estimates with their intervals: a dot for the estimate, a thin rule for the interval, never a bar."""

from __future__ import annotations

import altair as alt
import pandas as pd

from dashboard.charts.palette import names_axis, series_color, titled

ROW = 30


def estimates(frame: pd.DataFrame, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """One row a metric on a fixed axis from 0 to 1.

    `frame`: title (unique label), mean, low, high (None where no interval can be given), shown (the value in
    words), detail (tooltip: interval and counts), in the order to be drawn from the top.
    """
    rows = alt.Y("title:N", sort=None, title=None, axis=names_axis())
    across = alt.Scale(domain=[0, 1])
    axis = alt.Axis(
        labelExpr="format(datum.value * 100, '.0f') + ' %'", values=[0, 0.25, 0.5, 0.75, 1], title=None
    )
    base = alt.Chart(frame.assign(series="candidate")).encode(
        color=series_color(),
        y=rows,
        tooltip=[alt.Tooltip("title:N", title="score"), alt.Tooltip("detail:N", title=" ")],
    )
    rule = base.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q", scale=across, axis=axis), x2="high:Q")
    dot = base.mark_point(filled=True, size=80, opacity=1).encode(x=alt.X("mean:Q", scale=across, axis=axis))
    return titled(alt.layer(rule, dot).properties(height=ROW * max(len(frame), 1)), title, subtitle)
