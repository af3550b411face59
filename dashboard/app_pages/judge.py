"""May I trust the judge?"""

from __future__ import annotations

import streamlit as st

from dashboard import widgets
from dashboard.parts import judge as parts
from dashboard.parts import labelling
from dashboard.queries import judging, runs
from dashboard.widgets import choices

TEXT = "Which judge spoke, how often it agrees with people and with itself, what it cost, and which judgements should be looked at."
st.title("Judge")
headline = st.empty()
if not runs.count():
    choices.nothing_here("No run yet", TEXT, "plumbline run audit.yaml\nplumbline judge check")
    st.stop()
version = widgets.chosen_run(titled=True)
run = runs.run(version)
frame = judging.judgements(version)
view = st.segmented_control(
    "View", ["What the judge did", "Label answers"], default="What the judge did", required=True, key="view",
    bind="query-params", label_visibility="collapsed",
)  # fmt: skip
if view == "Label answers":
    headline.markdown("Say what each answer deserves; what the run said of it stays hidden until you have.")
    labelling.sheet(version)
    st.header("Agreement with people")
    labelling.agreement(version)
    st.stop()
if frame.empty:
    headline.markdown("No judge spoke in this run: all its verdicts come from checks that need none.")
    st.caption(TEXT)
    st.code("plumbline judge check", language="bash", wrap_lines=True)
else:
    told = run.summary.get("judge") or {}
    headline.markdown(widgets.escaped(parts.sentence(frame, told)))
    parts.figures(frame, told)

st.header("Agreement with people")
labelling.agreement(version)
if frame.empty:
    st.stop()

st.header("Judgements to look at")
parts.doubts(version, frame)

st.header("Rubrics")
parts.rubrics(frame)
