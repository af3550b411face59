"""The entry: `streamlit run dashboard/app.py`. The list of pages, the run picker and the error guard."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if (
    str(ROOT) not in sys.path
):  # streamlit puts dashboard/ on the path; a checkout that was not installed needs its root
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402

from dashboard import widgets  # noqa: E402
from dashboard.queries import source  # noqa: E402

st.set_page_config(page_title="Plumbline", page_icon="📐", layout="wide")

review = source.review_mode()
results = [
    st.Page("app_pages/home.py", title="Home", icon=":material/home:", url_path="start", default=True),
    st.Page("app_pages/run.py", title="Run", icon=":material/monitoring:", url_path="run"),
    st.Page("app_pages/verdicts.py", title="Verdicts", icon=":material/checklist:", url_path="verdicts"),
    st.Page(
        "app_pages/case.py", title="Case", icon=":material/search:", url_path="case", visibility="hidden"
    ),
    st.Page("app_pages/compare.py", title="Compare", icon=":material/compare_arrows:", url_path="compare"),
    st.Page("app_pages/trends.py", title="Trends", icon=":material/trending_up:", url_path="trends"),
    # the default page answers to the bare address only; a link to /home must work as well
    st.Page("app_pages/home.py", title="Home", url_path="home", visibility="hidden"),
]
reasons = [
    st.Page("app_pages/sweep.py", title="Sweep", icon=":material/leaderboard:", url_path="sweep"),
    st.Page("app_pages/causes.py", title="Causes", icon=":material/account_tree:", url_path="causes"),
    st.Page("app_pages/pareto.py", title="Pareto", icon=":material/balance:", url_path="pareto"),
]
trusting = [
    st.Page("app_pages/classes.py", title="Classes", icon=":material/grid_on:", url_path="classes"),
    st.Page("app_pages/calibration.py", title="Calibration", icon=":material/tune:", url_path="calibration"),
    st.Page("app_pages/judge.py", title="Judge", icon=":material/gavel:", url_path="judge"),
]
making = [
    st.Page("app_pages/new.py", title="New run", icon=":material/add_circle:", url_path="new"),
    st.Page("app_pages/data.py", title="Data", icon=":material/folder_open:", url_path="data"),
]
helping = [
    st.Page("app_pages/reference.py", title="Reference", icon=":material/menu_book:", url_path="reference")
]
sections = {"Results": results, "Design choices": reasons, "Trust": trusting, "Make": making, "Help": helping}
if review:
    sections = {
        "Results": [*results, making[-1]],
        "Design choices": reasons,
        "Trust": trusting,
        "Help": helping,
    }
page = st.navigation(sections, expanded=True)

try:
    widgets.run_picker()
    if review:
        st.caption(
            ":material/visibility: Review: this dashboard only shows runs; nothing can be started or changed."
        )
    widgets.failed_callback()
    st.session_state["entered"] = st.session_state.get("page_before") != page.url_path
    st.session_state["page_before"] = page.url_path
    with widgets.frame():
        page.run()
except Exception as error:
    logging.getLogger("plumbline.dashboard").exception("page %s", page.url_path or "home")
    widgets.failed(error)
