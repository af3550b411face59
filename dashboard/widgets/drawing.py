"""Charts on the page. Building and validating a chart costs some 100 ms, so its specification is kept by content."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from typing import Any, Literal

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.charts import palette

# Streamlit's page links are inset like buttons and cut what does not fit; here they stand in running text.
_LINKS = """<style>
.st-key-page_frame [data-testid="stPageLink-NavLink"] {padding-left: 0; padding-right: 0; background: none;}
.st-key-page_frame [data-testid="stPageLink-NavLink"]:hover p {text-decoration: underline;}
.st-key-page_frame [data-testid="stPageLink-NavLink"] :is(span, p, div)
  {white-space: normal; overflow-wrap: anywhere; text-overflow: clip;}
</style>"""


def frame() -> DeltaGenerator:
    """The container all of a page is drawn in."""
    container = st.container(key="page_frame")
    container.html(_LINKS)
    return container


def chart(
    make: Callable[..., Any],
    frame: pd.DataFrame,
    finding: str,
    *texts: str,
    key: str,
    on_select: Literal["ignore", "rerun"] = "ignore",
    **options: Any,
) -> dict[str, Any]:
    """Draw `make(frame, finding, *texts, **options)`, a function of `dashboard.charts`; what was marked in it, by the
    name of the selection (nothing unless `on_select` is "rerun"). `finding` is the takeaway sentence: the title, and
    what a screen reader says; `key` is constant, so that new data do not rebuild the view."""
    spec = _specification(f"{make.__module__}.{make.__name__}", make, frame, (finding, *texts), options)
    if on_select == "ignore":
        st.vega_lite_chart(spec=spec, alt=finding, key=key)
        return {}
    event = st.vega_lite_chart(spec=spec, alt=finding, key=key, on_select=on_select)
    return dict(event["selection"])


@st.cache_data(max_entries=256, max_size="32MB", show_spinner=False)
def _specification(
    name: str, _make: Callable[..., Any], frame: pd.DataFrame, texts: tuple[str, ...], options: dict[str, Any]
) -> dict[str, Any]:
    """The Vega-Lite specification with its rows inside. Frames here are aggregates of at most a few thousand rows:
    far below the size from which Streamlit's hash would only look at a sample."""
    # the tests of the charts check them against the schema, which would cost most of the time here
    spec: dict[str, Any] = _make(frame, *texts, **options).to_dict(validate=False)
    under = spec["title"].get("subtitle") if isinstance(spec.get("title"), dict) else None
    if isinstance(under, list):
        # the schema knows no expression here, Vega does: one line where there is room for it
        wide = textwrap.wrap(" ".join(under), palette.WIDE_SUBTITLE)
        choice = f"width > {palette.WIDE_CHART} ? {json.dumps(wide)} : {json.dumps(under)}"
        spec["title"]["subtitle"] = {"expr": choice}
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
