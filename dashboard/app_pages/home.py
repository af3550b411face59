"""What needs me today?"""

from __future__ import annotations

import streamlit as st

from dashboard import jobs, widgets
from dashboard.parts import home as parts
from dashboard.parts import progress
from dashboard.queries import descriptions, home, runs, source
from dashboard.queries import jobs as job_queries


def start_demo() -> None:
    st.session_state["my_job"] = jobs.start_demo(
        st.session_state.setdefault("demo_token", progress.new_token())
    )


st.title("Plumbline")
descriptions.warm()
newest = runs.page(1)
sets = home.suites()

if newest:
    if sets:
        st.markdown(widgets.escaped(parts.attention(sets, len(job_queries.live()))))
        st.caption(widgets.escaped(parts.newest(newest[0])))
    else:
        st.markdown(widgets.escaped(parts.newest(newest[0])))
else:
    st.markdown(
        "Does a RAG system, RAG agent or classifier work, what is wrong with it, and which design choice made it so?"
    )

progress.live_jobs()

if not newest:
    with st.container(border=True):
        st.header("Nothing has been evaluated yet")
        st.markdown(
            "The demo answers nineteen questions about four short library documents and judges every answer. "
            "It needs no key and no network, and takes under a minute."
        )
        if source.review_mode():
            st.markdown("This dashboard only shows runs. In a terminal, `plumbline demo` computes it.")
        else:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.button(
                    "Compute the demo",
                    type="primary",
                    icon=":material/play_arrow:",
                    on_click=widgets.guarded(start_demo),
                    key="start_demo",
                )
                widgets.link_to("new", "Start a run of your own")
            st.caption("In a terminal, `plumbline demo` does the same.")
    st.stop()

if sets:
    parts.suites(sets)
parts.sweeps_list()
parts.runs_list()
