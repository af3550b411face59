"""Why: interactions between design choices as a heat map, and where questions are lost as a waterfall."""

from __future__ import annotations

import altair as alt
import pandas as pd

from dashboard.charts.palette import MUTED, inked, names_axis, titled, verdict_color

ROW = 32
BLUE_RED = ["#C8421E", "#9CA3AF", "#2563EB"]  # worse together, no interaction, better together


def interactions(frame: pd.DataFrame, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """Pairs of choices; the number says how much more the two give together than one by one.

    `frame`: a, b (choices in words), value, shown (the number in words), detail (tooltip).
    """
    bound = max(float(frame["value"].abs().max()), 0.01)
    base = alt.Chart(frame).encode(
        x=alt.X(
            "b:N",
            sort=None,
            title=None,
            # slanted: side by side on a phone they would run into each other
            axis=alt.Axis(
                labelAngle=-35,
                labelAlign="right",
                labelLimit=200,
                labelOverlap=False,
                ticks=False,
                domain=False,
            ),
        ),
        y=alt.Y("a:N", sort=None, title=None, axis=names_axis()),
    )
    cells = base.mark_rect(opacity=0.35, cornerRadius=3).encode(
        color=alt.Color("value:Q", scale=alt.Scale(domain=[-bound, 0, bound], range=BLUE_RED), legend=None),
        tooltip=[
            alt.Tooltip("a:N", title="choice"),
            alt.Tooltip("b:N", title="with"),
            alt.Tooltip("detail:N", title=" "),
        ],
    )
    words = inked(base.mark_text(fontWeight="bold").encode(text="shown:N"))
    height = 44 * max(frame["a"].nunique(), 1)
    drawn = alt.layer(cells, words).resolve_scale(color="independent").properties(height=height)
    return titled(drawn, title, subtitle)


def waterfall(frame: pd.DataFrame, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """From all answers down to those that pass: each step takes away what failed there.

    `frame`: step (unique label), start, end (counts), look (a verdict), shown (the number in words), in the order to be
    drawn from the top.
    """
    total = max(float(frame[["start", "end"]].max().max()), 1.0)
    across = alt.Scale(domain=[0, total * 1.12], nice=False)
    base = alt.Chart(frame).encode(y=alt.Y("step:N", sort=None, title=None, axis=names_axis()))
    bars = base.mark_bar(size=16, cornerRadius=2).encode(
        x=alt.X("start:Q", scale=across, axis=alt.Axis(title=None, tickCount=5, format="d")),
        x2="end:Q",
        color=verdict_color("look"),
        tooltip=[alt.Tooltip("step:N"), alt.Tooltip("shown:N", title="answers")],
    )
    ends = frame.assign(right=frame[["start", "end"]].max(axis=1))
    words = (
        alt.Chart(ends)
        .mark_text(align="left", dx=6, color=MUTED)
        .encode(y=alt.Y("step:N", sort=None), x=alt.X("right:Q", scale=across), text="shown:N")
    )
    return titled(alt.layer(bars, words).properties(height=ROW * max(len(frame), 1)), title, subtitle)
