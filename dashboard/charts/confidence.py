"""Confidences: reliability with consistency bands, and risk against coverage."""

from __future__ import annotations

import altair as alt
import pandas as pd

from dashboard.charts.palette import MUTED, inked, names_axis, series_color, titled

PERCENT = "format(datum.value * 100, '.0f') + ' %'"
MOST_LEVEL = 4  # names that fit side by side under a matrix, also on a phone
UNIT = alt.Scale(domain=[0, 1], nice=False)


def _axis(title: str) -> alt.Axis:
    return alt.Axis(labelExpr=PERCENT, tickCount=5, title=title)


def reliability(frame: pd.DataFrame, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """What was right against what was promised; the grey rule is where a calibrated system falls by chance.

    `frame`: mean_confidence, accuracy, band_low, band_high, n, detail.
    """
    base = alt.Chart(frame.assign(series="candidate")).encode(
        x=alt.X("mean_confidence:Q", scale=UNIT, axis=_axis("stated confidence")),
        tooltip=[alt.Tooltip("detail:N", title=" ")],
    )
    band = base.mark_rule(strokeWidth=8, opacity=0.3, color=MUTED).encode(
        y=alt.Y("band_low:Q", scale=UNIT, axis=_axis("right")), y2="band_high:Q"
    )
    dots = base.mark_point(filled=True, opacity=1).encode(
        y=alt.Y("accuracy:Q", scale=UNIT, axis=_axis("right")), color=series_color(),
        size=alt.Size("n:Q", scale=alt.Scale(domain=[0, int(frame["n"].max())], range=[40, 300]), legend=None),
    )  # fmt: skip
    line = base.mark_line(strokeWidth=1, opacity=0.6).encode(y="accuracy:Q", color=series_color())
    ends = alt.Chart(pd.DataFrame({"x": [0.0, 1.0], "y": [0.0, 1.0]}))
    diagonal = ends.mark_line(strokeDash=[3, 3], strokeWidth=1, color=MUTED).encode(
        x=alt.X("x:Q", scale=UNIT), y=alt.Y("y:Q", scale=UNIT)
    )
    return titled(alt.layer(diagonal, band, line, dots).properties(height=300), title, subtitle)


def risk_coverage(
    frame: pd.DataFrame, title: str, subtitle: str = "", *, chosen: float | None = None
) -> alt.TopLevelMixin:
    """How often the surest answers are wrong, by how many of them are accepted.

    `frame`: coverage, risk, risk_low, risk_high, detail; `chosen` is the coverage of the chosen threshold.
    """
    base = alt.Chart(frame.assign(series="candidate")).encode(
        x=alt.X("coverage:Q", scale=UNIT, axis=_axis("accepted without a look"))
    )
    band = base.mark_area(opacity=0.15).encode(
        y=alt.Y("risk_low:Q", scale=UNIT, axis=_axis("wrong among them")),
        y2="risk_high:Q",
        color=series_color(),
    )
    line = base.mark_line(strokeWidth=2).encode(
        y=alt.Y("risk:Q", scale=UNIT, axis=_axis("wrong among them")), color=series_color(),
        tooltip=[alt.Tooltip("detail:N", title=" ")],
    )  # fmt: skip
    layers = [band, line]
    if chosen is not None:
        mark = alt.Chart(pd.DataFrame({"chosen": [chosen]}))
        layers.append(
            mark.mark_rule(color=MUTED, strokeDash=[4, 3], strokeWidth=2).encode(
                x=alt.X("chosen:Q", scale=UNIT)
            )
        )
    return titled(alt.layer(*layers).properties(height=240), title, subtitle)


def confusion(frame: pd.DataFrame, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """Counts of gold (rows) against predicted (columns); one cell can be chosen as the selection "cell".

    `frame`: gold, predicted (labels), n, correct, look (PASS where gold and predicted are equal, else FAIL), detail.
    """
    order = list(dict.fromkeys([*frame["gold"], *frame["predicted"]]))
    top = max(int(frame["n"].max()), 1)
    base = alt.Chart(frame).encode(
        x=alt.X(
            "predicted:N",
            sort=order,
            title="predicted",
            axis=names_axis(110, across=True)
            if len(order) <= MOST_LEVEL
            else alt.Axis(labelLimit=110, labelAngle=-45, labelOverlap=False, ticks=False, domain=False),
        ),
        y=alt.Y("gold:N", sort=order, title="right", axis=names_axis(150)),
    )
    picked = alt.selection_point(name="cell", fields=["gold", "predicted"])
    cells = base.mark_rect(cornerRadius=2).encode(
        color=alt.Color("look:N", scale=alt.Scale(domain=["FAIL", "PASS"], range=["#C8421E", "#00805E"]), legend=None),
        opacity=alt.Opacity("n:Q", scale=alt.Scale(type="sqrt", domain=[0, top], range=[0.15, 0.75]), legend=None),
        tooltip=[alt.Tooltip("detail:N", title="cases")],
    ).add_params(picked)  # fmt: skip
    words = inked(base.mark_text(fontWeight="bold").encode(text="n:Q"))
    drawn = (
        alt.layer(cells, words).resolve_scale(color="independent").properties(height=26 * max(len(order), 3))
    )
    return titled(drawn, title, subtitle)
