"""Files to take along: a run for people without the dashboard, a case for the next gate."""

from __future__ import annotations

import functools
import json

import streamlit as st

from core.records import Case, Run
from dashboard.queries import exports


@st.fragment
def run_files(run: Run) -> None:
    """A run in one file; each is made when it is asked for."""
    st.caption("The whole run in one file:")
    with st.container(horizontal=True, gap="small"):
        for form, (label, mime) in exports.OFFERED.items():
            st.download_button(
                label, data=functools.partial(exports.run_file, run.id, form), mime=mime, icon=":material/download:",
                file_name=f"{run.name}{exports.ending(form)}", key=f"take_{form}", on_click="ignore",
            )  # fmt: skip


@st.fragment
def regression_case(case: Case) -> None:
    """How this case is asked from now on: a gate that insists on it, and the case as a question."""
    with st.expander("Make this a regression case"):
        st.markdown("In `gate.yaml`: a run in which this case does not pass fails the gate.")
        st.code(
            f"must_pass:\n  - {json.dumps(case.id, ensure_ascii=False)}", language="yaml", wrap_lines=True
        )
        if case.evaluator:
            st.caption(
                "The audit's own file holds the question; `plumbline export RUN --format suite` writes it out."
            )
            return
        st.download_button(
            "Download it as a question", data=functools.partial(exports.questions, case), mime="application/json",
            icon=":material/download:", file_name="regression.json", key="take_case", on_click="ignore",
        )  # fmt: skip
        st.caption("One entry for your questions file, with the expected answer and its evidence.")
