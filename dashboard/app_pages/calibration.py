"""When may I trust its confidence?"""

from __future__ import annotations

import streamlit as st

from dashboard import widgets, wording
from dashboard.parts import calibration as parts
from dashboard.queries import calibration, runs
from dashboard.widgets import choices

st.title("Calibration")
headline = st.empty()
if not runs.count():
    choices.nothing_here(
        "No run yet",
        "Whether a stated confidence can be believed stands here, and how much could be accepted without a look at which risk.",
        "plumbline run settings.yaml",
    )
    st.stop()
version = widgets.chosen_run(titled=True)
run = runs.run(version)
found = calibration.summary(version)
if not found["n_scored"]:
    st.info(
        "A system states one with each answer (`confidence`), and the answer has to be known as right or wrong. No answer of this run has both.",
        title="This run states no confidences",
    )
    st.stop()
headline.markdown(widgets.escaped(parts.sentence(found)))
st.caption(
    widgets.escaped(
        f"{run.name} · {found['source']} · {wording.plural(found['n_scored'], 'answer')} of {wording.count(run.n_cases)}"
    )
)
parts.notes(found)
tables = calibration.tables(version)

st.header("What could be accepted without a look?")
parts.threshold(tables["risk_coverage"], found)

st.header("Does it mean what it says?")
parts.reliability(tables["reliability"], found)
parts.surely_wrong(version, found)
