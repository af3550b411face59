"""Is the input sound?"""

from __future__ import annotations

import streamlit as st

from dashboard import widgets, wording
from dashboard.parts import inputs as inputs_view
from dashboard.queries import runs, source

st.title("Data")
if not source.review_mode():
    inputs_view.summary()
    left, right = st.columns(2, gap="large")
    with left:
        inputs_view.uploader("documents", "Documents", "PDF, text or Markdown")
    with right:
        inputs_view.uploader("questions", "Questions", "JSON")
    left, right = st.columns(2, gap="large")
    with left:
        inputs_view.uploader("codes", "Code lists and queries", "Excel, CSV, JSON, parquet")
    with right:
        inputs_view.uploader("results", "Results to score", "Excel, CSV, JSON, parquet")

st.header("Parsing report")
if not runs.count():
    st.info(
        "Each run reports how every document was read: pages, characters, empty pages, tables, and what failed and why.",
        title="No run has read documents yet",
    )
    st.stop()
version = widgets.chosen_run(titled=True)
run = runs.run(version)
reports = runs.parsing_reports(version)
if reports.empty:
    st.info(
        f"{wording.title(run.kind)} runs, or runs that were brought in, read no documents themselves.",
        title="This run keeps no parsing report",
    )
    st.stop()
inputs_view.parsing(reports, run.name)
