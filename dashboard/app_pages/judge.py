"""May I trust the judge?"""

from __future__ import annotations

import streamlit as st

from dashboard import widgets
from dashboard.parts import judge as parts
from dashboard.queries import judging, runs
from dashboard.widgets import choices

TEXT = "Which judge spoke, how often it agrees with people and with itself, what it cost, and which judgements should be looked at."
st.title("Judge")
headline = st.empty()
if not runs.count():
    choices.nothing_here("No run yet", TEXT, "plumbline run audit.yaml\nplumbline judge check")
    st.stop()
version = widgets.chosen_run()
run = runs.run(version)
frame = judging.judgements(version)
if frame.empty:
    st.info(
        f"{TEXT} All verdicts of this run come from checks that need none.",
        title="No judge spoke in this run",
    )
    st.code("plumbline judge check", language="bash", wrap_lines=True)
    st.stop()
told = run.summary.get("judge") or {}
headline.markdown(widgets.escaped(parts.sentence(frame, told)))
parts.figures(frame, told)

st.header("Judgements to look at")
parts.doubts(version, frame)

st.header("Rubrics")
parts.rubrics(frame)
