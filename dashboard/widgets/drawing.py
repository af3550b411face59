"""Charts on the page. Building and validating a chart costs some 100 ms, so its specification is kept by content."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st


def chart(make: Callable[..., Any], frame: pd.DataFrame, *texts: str, alt: str, key: str) -> None:
    """Draw `make(frame, *texts)`, a function of `dashboard.charts`. `alt` is the takeaway sentence; `key` is
    constant, so that new data do not rebuild the view."""
    spec = _specification(f"{make.__module__}.{make.__name__}", make, frame, texts)
    st.vega_lite_chart(spec=spec, alt=alt, key=key)


@st.cache_data(max_entries=256, max_size="32MB", show_spinner=False)
def _specification(
    name: str, _make: Callable[..., Any], frame: pd.DataFrame, texts: tuple[str, ...]
) -> dict[str, Any]:
    """The Vega-Lite specification with its rows inside. Frames here are aggregates of at most a few hundred rows:
    far below the size from which Streamlit's hash would only look at a sample."""
    spec: dict[str, Any] = _make(frame, *texts).to_dict()
    rows = spec.pop("datasets", {})
    _put_rows(spec, rows)
    return spec


def _put_rows(part: Any, rows: dict[str, Any]) -> None:
    """Replace each reference to a named data set by its rows."""
    if isinstance(part, dict):
        data = part.get("data")
        if isinstance(data, dict) and data.get("name") in rows:
            part["data"] = {"values": rows[data["name"]]}
        for value in part.values():
            _put_rows(value, rows)
    elif isinstance(part, list):
        for value in part:
            _put_rows(value, rows)
