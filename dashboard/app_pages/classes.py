"""Which classes are mixed up?"""

from __future__ import annotations

import streamlit as st

from dashboard import widgets
from dashboard.parts import classes as parts
from dashboard.queries import runs
from dashboard.widgets import choices

COMMAND = "plumbline run --classifier-type ted_cpv --cpv-catalog codes.csv --cpv-queries queries.json"
st.title("Classes")
headline = st.empty()
if not runs.count():
    choices.nothing_here(
        "No run yet",
        "What a classifier takes for what stands here, level by level of the code tree.",
        COMMAND,
    )
    st.stop()
version = widgets.chosen_run(titled=True)
run = runs.run(version)
if not run.summary.get("classes"):
    st.info(
        "Classes are mixed up only by classifiers. Choose a classification run in the sidebar, or start one.",
        title="This run has no classes",
    )
    st.code(COMMAND, language="bash", wrap_lines=True)
    st.stop()
headline.markdown(widgets.escaped(parts.sentence(run)))
parts.leakage(run)
parts.by_level(run)

st.header("What is taken for what?")
parts.matrix(version, run, parts.choose_level(run))

st.header("The code tree with its errors")
parts.tree(version)

st.header("By group")
parts.groups(version, "by_language", "By language of the query")
parts.groups(version, "by_division", "By division")

st.header("Every class")
parts.per_class(version)
