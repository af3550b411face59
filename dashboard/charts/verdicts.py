"""How the verdicts of a run divide, as a whole and by group."""

from __future__ import annotations

import altair as alt
import pandas as pd

from dashboard.charts.palette import (
    LOOKS,
    MUTED,
    ORDER,
    look,
    moments_axis,
    names_axis,
    titled,
    verdict_color,
    verdict_shape,
)

ROW = 28


def verdict_bar(frame: pd.DataFrame, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """One bar for a run, divided by verdict. It shows parts of a whole, not a mean.

    `frame`: verdict, n. The counts stand beside the chart in words, so the bar itself carries none.
    """
    return titled(_stack(_positions(frame.assign(group="")), None).properties(height=26), title, subtitle)


def verdicts_by_group(frame: pd.DataFrame, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """One bar a group (question type…), with its counts in words at the right end.

    `frame`: group, verdict, n; groups in the order to be drawn.
    """
    parts = _positions(frame)
    axis = names_axis(150)
    counts = (
        alt.Chart(_counts_in_words(parts))
        .mark_text(align="left", dx=8, color=MUTED)
        .encode(y=alt.Y("group:N", sort=None), x=alt.value("width"), text="text:N")
    )
    drawn = alt.layer(_stack(parts, axis), counts)
    return titled(drawn.properties(height=ROW * max(frame["group"].nunique(), 1)), title, subtitle)


def _positions(frame: pd.DataFrame) -> pd.DataFrame:
    """Adds start and end of each part as shares of its group, in the fixed verdict order."""
    rank = {verdict: position for position, verdict in enumerate(LOOKS)}
    places = {group: position for position, group in enumerate(dict.fromkeys(frame["group"]))}
    ordered = frame[frame["n"] > 0].copy()
    ordered["rank"], ordered["place"] = ordered["verdict"].map(rank), ordered["group"].map(places)
    ordered = ordered.sort_values(["place", "rank"])
    totals = ordered.groupby("group")["n"].transform("sum")
    ordered["end"] = ordered.groupby("group")["n"].cumsum() / totals
    ordered["start"] = ordered["end"] - ordered["n"] / totals
    ordered["label"] = [
        f"{look(v).mark} {look(v).word} {n}" for v, n in zip(ordered["verdict"], ordered["n"], strict=True)
    ]
    return ordered


def _counts_in_words(parts: pd.DataFrame) -> pd.DataFrame:
    texts = [f"{look(verdict).mark} {n}" for verdict, n in zip(parts["verdict"], parts["n"], strict=True)]
    return parts.assign(text=texts).groupby("group", sort=False)["text"].agg("  ".join).reset_index()


def _stack(frame: pd.DataFrame, axis: alt.Axis | None) -> alt.Chart:
    return (
        alt.Chart(frame)
        .mark_bar(cornerRadius=2, size=16)
        .encode(
            y=alt.Y("group:N", sort=None, title=None, axis=axis),
            x=alt.X("start:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=None),
            x2="end:Q",
            color=verdict_color(),
            tooltip=[alt.Tooltip("label:N", title="verdict"), alt.Tooltip("group:N", title="group")],
        )
    )


def history(frame: pd.DataFrame, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """One case over runs, oldest at the left: its verdict by place, shape and colour.

    `frame`: run (unique label), at (its place on the axis: `wording.moment`), verdict, detail (tooltip), in the order to be drawn.
    """
    words = [f"{look(verdict).mark} {look(verdict).word}" for verdict in reversed(ORDER)]
    shown = frame.assign(word=[f"{look(verdict).mark} {look(verdict).word}" for verdict in frame["verdict"]])
    return titled(
        alt.Chart(shown)
        .mark_point(filled=True, size=120, opacity=1)
        .encode(
            x=alt.X(
                "at:N",
                sort=None,
                title=None,
                axis=moments_axis(),
            ),
            y=alt.Y("word:N", title=None, scale=alt.Scale(domain=words)),
            color=verdict_color(),
            shape=verdict_shape(),
            tooltip=[alt.Tooltip("run:N"), alt.Tooltip("detail:N", title="verdict")],
        )
        .properties(height=130),
        title,
        subtitle,
    )
