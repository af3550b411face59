"""The one place that knows how a verdict looks: word, mark, shape, colour in light and dark, and order.

Charts pin the order with an explicit `domain` and take the colours from the theme's categorical list
(`range="category"`), which `.streamlit/config.toml` fills from `LIGHT` and `DARK` in exactly this order; so a
filter never recolours a verdict, and the browser switches between light and dark by itself.
"""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass

import altair as alt

NOT_APPLICABLE = "N/A"


@dataclass(frozen=True, slots=True)
class Look:
    """`badge` is the name of the theme colour that badges use; `shape` is a Vega symbol."""

    word: str
    mark: str
    shape: str
    badge: str
    light: str
    dark: str


# what needs attention comes first; the order is the same everywhere
LOOKS: dict[str, Look] = {
    "FAIL": Look("Fail", "✕", "cross", "red", "#C8421E", "#FF7A59"),
    "ERROR": Look("Error", "◆", "diamond", "violet", "#7A3E9D", "#C58BE8"),
    "WEAK": Look("Weak", "▲", "triangle-up", "orange", "#B87400", "#F0B429"),
    "PASS": Look("Pass", "●", "circle", "green", "#00805E", "#2FBF94"),
    NOT_APPLICABLE: Look("–", "○", "stroke", "gray", "#6B7280", "#9CA3AF"),
}
ORDER = ("FAIL", "ERROR", "WEAK", "PASS")
CLAIM_VERDICTS = {"supported": "PASS", "contradicted": "FAIL", "not_enough_info": "WEAK"}

# the two series of a comparison follow the verdicts in the theme's list; the baseline is grey. "ink" is text on fields
SERIES = ("candidate", "baseline", "ink")
LIGHT = [*(each.light for each in LOOKS.values()), "#2563EB", "#9CA3AF", "#111827"]
DARK = [*(each.dark for each in LOOKS.values()), "#6E9BF5", "#6B7280", "#E6EAF0"]
TITLE_WIDTH, SUBTITLE_WIDTH = 42, 58  # characters that fit 390 px
WIDE_TITLE, WIDE_SUBTITLE, WIDE_CHART = 90, 110, 480  # characters that fit a plot of so many px
MUTED = "#737E8C"  # text inside a chart, where the theme does not reach: readable on both backgrounds


def look(verdict: str | None) -> Look:
    """How a verdict looks; anything unknown looks like "not applicable"."""
    return LOOKS.get(verdict or NOT_APPLICABLE, LOOKS[NOT_APPLICABLE])


def verdict_label(verdict: str | None) -> str:
    """Mark and word, e.g. "✕ Fail": never colour alone."""
    shown = look(verdict)
    return f"{shown.mark} {shown.word}" if shown.word != "–" else f"{shown.mark} not applicable"


def verdict_color(field: str = "verdict", legend: alt.Legend | None = None) -> alt.Color:
    """The colour channel of a verdict, with every verdict in the domain whether or not it occurs."""
    return alt.Color(f"{field}:N", scale=_scale(), sort=list(LOOKS), legend=legend)


def series_color(field: str = "series") -> alt.Color:
    """The colour channel of a series: "candidate" (also a run on its own) or "baseline"."""
    return alt.Color(f"{field}:N", scale=_scale(), legend=None)


def inked(words: alt.Chart) -> alt.Chart:
    """Text on coloured fields in the colour of the page's text."""
    return words.transform_calculate(ink="'ink'").encode(
        color=alt.Color("ink:N", scale=_scale(), legend=None)
    )


def names_axis(limit: int = 220, *, across: bool = False) -> alt.Axis:
    """The axis of named rows, none left out, each level with its row; "\\n" in a name begins its second line.
    `across`: at the bottom, where the outer names stay inside the chart."""
    return alt.Axis(
        labelLimit=limit, labelOverlap=False, labelFlush=across, ticks=False, domain=False,
        labelExpr="split(datum.label, '\\n')", labelAngle=0,
    )  # fmt: skip


def moments_axis() -> alt.Axis:
    """The axis of runs in their order: day and minute of `wording.moment`, as many as there is room for."""
    return alt.Axis(
        labelAngle=0, labelExpr="slice(split(datum.label, '\\n'), 0, 2)", labelOverlap=True, labelSeparation=14, ticks=False,
    )  # fmt: skip


def verdict_shape(field: str = "verdict") -> alt.Shape:
    """The shape channel that goes with `verdict_color`."""
    scale = alt.Scale(domain=list(LOOKS), range=[each.shape for each in LOOKS.values()])
    return alt.Shape(f"{field}:N", scale=scale, sort=list(LOOKS), legend=None)


def titled(chart: alt.TopLevelMixin, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """Title = the finding, subtitle = what is drawn and of how many; both start at the left edge. Long ones are
    broken into lines that fit the width: Vega would make room for one wide line by narrowing the chart, on a phone
    to nothing. A title may be an expression, so the browser chooses its breaking; a subtitle may not."""
    return chart.properties(
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),  # heights are the plot's own
        title=alt.TitleParams(
            text=_fitting(title),
            subtitle=_lines(textwrap.wrap(subtitle, SUBTITLE_WIDTH)) or alt.Undefined,
            anchor="start",
            limit=0,
            subtitleColor=MUTED,
        ),
    )


def _fitting(text: str) -> str | alt.ExprRef:
    short, long = textwrap.wrap(text, TITLE_WIDTH), textwrap.wrap(text, WIDE_TITLE)
    if len(short) < 2:
        return text
    return alt.ExprRef(expr=f"width > {WIDE_CHART} ? {json.dumps(long)} : {json.dumps(short)}")


def _lines(lines: list[str]) -> str | list[str]:
    return lines if len(lines) > 1 else "".join(lines)


def _scale() -> alt.Scale:
    return alt.Scale(domain=[*LOOKS, *SERIES], range="category")
