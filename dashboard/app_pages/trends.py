"""Where is it going?"""

from __future__ import annotations

import streamlit as st

from dashboard import widgets, wording
from dashboard.parts import trends
from dashboard.queries import runs
from dashboard.queries import trends as queries
from dashboard.widgets import choices

st.title("Trends")
headline = st.empty()
counts = queries.suite_counts()
if not counts:
    choices.nothing_here(
        "No complete run yet",
        "Each suite of questions stands here over time: its scores with intervals, where the level changed, what was changed, and what the gates decided.",
        "plumbline run settings.yaml\nplumbline gate latest --baseline BASELINE --policy gate.yaml",
    )
    st.stop()

labels = {suite: f"{suite or '(no name)'} ({wording.plural(n, 'run')})" for suite, n in counts.items()}
current = runs.run(widgets.chosen_run(titled=True)).suite
suite = choices.chosen_option("suite", "Suite", labels, current if current in counts else next(iter(counts)))
if suite is None:
    st.stop()
found = queries.of(suite)
headline.markdown(widgets.escaped(trends.sentence(found)))

series = trends.choose_series(found)
if series is not None:
    trends.figure(found, series)
trends.flaky(found)

st.header("Gates")
trends.gates(found)

st.header("What was changed")
trends.changes(found)

st.header("Cost and time")
trends.costs(found)

st.header("Baselines")
trends.baselines(suite)
