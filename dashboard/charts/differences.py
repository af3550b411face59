"""Differences between a baseline and a candidate: per metric with intervals, per case as a scatter."""

from __future__ import annotations

import altair as alt
import pandas as pd

from dashboard.charts.palette import MUTED, look, names_axis, titled, verdict_color

ROW, TWO_LINES = 30, 40  # px
# a change looks like the verdict it tends to: never colour alone, the shape says it too
LOOK_OF = {"better": "PASS", "worse": "FAIL", "unclear": "N/A", "none": "N/A"}
SHAPES = {"PASS": look("PASS").shape, "FAIL": look("FAIL").shape, "N/A": "square"}


def differences(
    frame: pd.DataFrame, title: str, subtitle: str = "", *, percent: bool = True
) -> alt.TopLevelMixin:
    """One row a metric: the improvement of the candidate with its interval around a zero line.

    `frame`: title (unique label), delta, low, high (None where no interval can be given; right of zero is better),
    change (better | worse | unclear | none), detail (tooltip), in the order to be drawn from the top.
    """
    shown = frame.assign(look=frame["change"].map(LOOK_OF))
    bound = max(shown[["delta", "low", "high"]].abs().max().max() * 1.1, 0.02) if len(shown) else 1.0
    across = alt.Scale(domain=[-bound, bound], nice=False)
    expression = (
        "datum.value == 0 ? '0' : format(datum.value * 100, '+.0f')"
        if percent
        else "format(datum.value, '+.3~g')"
    )
    axis = alt.Axis(labelExpr=expression, title="points, right is better" if percent else None, tickCount=5)
    base = alt.Chart(shown).encode(
        y=alt.Y("title:N", sort=None, title=None, axis=names_axis()),
        color=verdict_color("look"),
        tooltip=[alt.Tooltip("title:N", title="metric"), alt.Tooltip("detail:N", title=" ")],
    )
    rule = base.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q", scale=across, axis=axis), x2="high:Q")
    dot = base.mark_point(filled=True, size=80, opacity=1).encode(
        x=alt.X("delta:Q", scale=across, axis=axis), shape=_shape()
    )
    zero = (
        alt.Chart(pd.DataFrame({"zero": [0.0]}))
        .mark_rule(color=MUTED, strokeDash=[3, 3])
        .encode(x=alt.X("zero:Q", scale=across, axis=axis))
    )
    row = TWO_LINES if frame["title"].str.contains("\n").any() else ROW
    drawn = alt.layer(zero, rule, dot).properties(height=row * max(len(frame), 1))
    return titled(drawn, title, subtitle)


def two_runs(
    frame: pd.DataFrame, title: str, subtitle: str, baseline: str, candidate: str, *, bounded: bool
) -> alt.TopLevelMixin:
    """Each case by its score in both runs; points above the diagonal are better in the candidate.

    `frame`: a, b, n (cases at this place), change (better | worse | none), detail (tooltip). Marking an area
    returns it as the selection "area" with the ranges of a and b.
    """
    shown = frame.assign(look=frame["change"].map(LOOK_OF))
    low, high = (0.0, 1.0) if bounded else _range(shown)
    margin = (high - low) * 0.04
    scale = alt.Scale(domain=[low - margin, high + margin], nice=False)
    area = alt.selection_interval(name="area", encodings=["x", "y"])
    points = (
        alt.Chart(shown)
        .mark_point(filled=True, opacity=0.75)
        .encode(
            x=alt.X("a:Q", scale=scale, title=baseline, axis=alt.Axis(tickCount=5, titleLimit=300)),
            y=alt.Y("b:Q", scale=scale, title=candidate, axis=alt.Axis(tickCount=5, titleLimit=300)),
            size=alt.Size(
                "n:Q",
                scale=alt.Scale(domain=[1, max(int(shown["n"].max()), 2)], range=[40, 600]),
                legend=None,
            ),
            color=verdict_color("look"),
            shape=_shape(),
            tooltip=[alt.Tooltip("detail:N", title="cases")],
        )
        .add_params(area)
    )
    ends = pd.DataFrame({"a": [low, high], "b": [low, high]})
    diagonal = (
        alt.Chart(ends)
        .mark_line(color=MUTED, strokeDash=[3, 3], strokeWidth=1)
        .encode(x=alt.X("a:Q", scale=scale), y=alt.Y("b:Q", scale=scale))
    )
    return titled(alt.layer(diagonal, points).properties(height=320), title, subtitle)


def _shape() -> alt.Shape:
    return alt.Shape("look:N", scale=alt.Scale(domain=list(SHAPES), range=list(SHAPES.values())), legend=None)


def _range(frame: pd.DataFrame) -> tuple[float, float]:
    low, high = float(frame[["a", "b"]].min().min()), float(frame[["a", "b"]].max().max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)
