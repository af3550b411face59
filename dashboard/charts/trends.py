"""A figure over runs: points with intervals, levels between change points, what changed, and gates."""

from __future__ import annotations

import altair as alt
import pandas as pd

from dashboard.charts.palette import MUTED, moments_axis, series_color, titled, verdict_color, verdict_shape


def over_runs(
    frame: pd.DataFrame,
    title: str,
    subtitle: str,
    *,
    percent: bool,
    shown: str = "format(datum.value, '~s')",
    height: int = 240,
    log: bool = False,
) -> alt.TopLevelMixin:
    """One point a run, oldest at the left.

    `frame`: run (unique label), at (its place on the axis: `wording.moment`), value, low, high (None where no interval can be given), level (None without change
    points), noise_low, noise_high (band around the newest level; None where nobody knows), marker (what changed before
    this run, "" for nothing), gate (verdict or ""), detail (tooltip), in the order to be drawn.
    `shown` is the Vega expression of an axis label, where the axis is no share.
    """
    order = list(frame["at"])
    x = alt.X(
        "at:N", sort=order, title=None,
        axis=moments_axis(),
    )  # fmt: skip
    scale = alt.Scale(domain=[0, 1]) if percent else alt.Scale(type="log") if log else alt.Scale(zero=False)
    axis = (
        alt.Axis(labelExpr="format(datum.value * 100, '.0f') + ' %'", tickCount=5)
        if percent
        else alt.Axis(tickCount=5, labelExpr=shown)
    )
    base = alt.Chart(frame.assign(series="candidate")).encode(x=x)
    layers: list[alt.Chart] = []
    if frame["noise_low"].notna().any():
        layers.append(
            base.mark_area(opacity=0.12, color=MUTED).encode(
                y=alt.Y("noise_low:Q", scale=scale, axis=axis, title=None), y2="noise_high:Q"
            )
        )
    marked = frame[frame["marker"] != ""]
    if len(marked):
        layers.append(
            alt.Chart(marked)
            .mark_rule(strokeDash=[2, 3], color=MUTED)
            .encode(x=x, tooltip=[alt.Tooltip("run:N"), alt.Tooltip("marker:N", title="changed")])
        )
    line = base.mark_line(strokeWidth=1.5, opacity=0.6).encode(
        y=alt.Y("value:Q", scale=scale, axis=axis, title=None), color=series_color()
    )
    rule = base.mark_rule(strokeWidth=1.5).encode(
        y=alt.Y("low:Q", scale=scale, axis=axis, title=None), y2="high:Q", color=series_color()
    )
    dot = base.mark_point(filled=True, size=60, opacity=1).encode(
        y=alt.Y("value:Q", scale=scale, axis=axis, title=None), color=series_color(),
        tooltip=[alt.Tooltip("run:N"), alt.Tooltip("detail:N", title=" ")],
    )  # fmt: skip
    layers += [line, rule, dot]
    if frame["level"].notna().any():
        layers.append(
            base.mark_line(interpolate="step", strokeDash=[6, 3], strokeWidth=2, color=MUTED).encode(
                y=alt.Y("level:Q", scale=scale, axis=axis, title=None)
            )
        )
    gated = frame[frame["gate"] != ""]
    if len(gated):
        layers.append(
            alt.Chart(gated)
            .mark_point(filled=True, size=90, opacity=1)
            .encode(
                x=x, y=alt.value(8), color=verdict_color("gate"), shape=verdict_shape("gate"),
                tooltip=[alt.Tooltip("run:N"), alt.Tooltip("gate:N", title="gate")],
            )
        )  # fmt: skip
    return titled(alt.layer(*layers).properties(height=height), title, subtitle)
