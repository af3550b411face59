"""What needs me today?"""

from __future__ import annotations

import streamlit as st

from dashboard import jobs, widgets, wording
from dashboard.parts import progress
from dashboard.queries import descriptions, runs, source

PAGE = 15


def start_demo() -> None:
    st.session_state["my_job"] = jobs.start_demo(
        st.session_state.setdefault("demo_token", progress.new_token())
    )


st.title("Plumbline")
descriptions.warm()
total = runs.count()
newest = runs.page(1)

if newest:
    row = newest[0]
    st.markdown(
        f"{wording.plural(total, 'run')} in the store. The newest, {widgets.escaped(row['name'])}, "
        f"{wording.ago(row['created_at'])}: {wording.run_sentence(row['verdicts'], None, row['n_cases'], row['status'], row['repeats'])}"
    )
else:
    st.markdown(
        "Does a RAG system, RAG agent or classifier work, what is wrong with it, and which design choice made it so?"
    )

progress.live_jobs()

if not newest:
    with st.container(border=True):
        st.subheader("Nothing has been evaluated yet")
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

st.header("Runs")
search = st.text_input("Search runs by name, question set or id", key="q", bind="query-params", type="search")
pages = max(1, -(-total // PAGE))
number = st.pagination(pages, key="page", bind="query-params") if pages > 1 and not search else 1
shown = runs.page(PAGE, (number - 1) * PAGE, search)
if not shown:
    st.info("Clear the search to see all runs.", title="No run has this in its name, question set or id")
for row in shown:
    with st.container(border=True):
        about, verdicts, when = st.columns([3, 4, 2], vertical_alignment="center")
        with about:
            widgets.link_to("run", row["name"], row)
            st.caption(widgets.escaped(f"{row['suite']} · {wording.title(row['kind'])}"))
        verdicts.text(wording.verdict_counts(row["verdicts"]))
        with when:
            state = "" if row["status"] == "sealed" else f"{wording.status_word(row['status'])} · "
            st.caption(f"{state}{wording.ago(row['created_at'])}", help=wording.date(row["created_at"]))
