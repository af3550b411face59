"""Verdicts on the page: always mark and word, never colour alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import wording
from dashboard.charts import palette
from dashboard.widgets.navigation import link_to


def verdict_badge(verdict: str | None, note: str = "") -> None:
    shown = palette.look(verdict)
    st.badge(f"{shown.mark} {shown.word}{note}", color=shown.badge)  # type: ignore[arg-type]


def repeat_strip(verdicts: Sequence[str]) -> str:
    """The marks of the repeats in order: "●●✕"."""
    return "".join(palette.look(verdict).mark for verdict in verdicts)


def verdict_cards(counts: Mapping[str, int], run: Mapping[str, Any]) -> None:
    """One card a verdict, each a link to the cases behind it."""
    total = sum(counts.values())
    with st.grid(4, min_column_width=150):
        for verdict in palette.ORDER:
            number = counts.get(verdict, 0)
            with st.container(border=True, gap="xsmall"):
                verdict_badge(verdict)
                st.metric(
                    palette.look(verdict).word,
                    wording.count(number),
                    label_visibility="collapsed",
                    help=None,
                )
                if number:
                    link_to(
                        "verdicts",
                        f"{wording.rate(number / total)} · show",
                        run,
                        verdict=palette.look(verdict).word,
                    )
                else:
                    st.caption("none")
