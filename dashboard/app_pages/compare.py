"""Did it get worse?"""

from __future__ import annotations

import streamlit as st

from dashboard import widgets, wording
from dashboard.parts import compare, compare_cases
from dashboard.queries import comparisons, runs
from dashboard.widgets import choices

st.title("Compare")
headline = st.empty()
total = runs.count()
if total < 2:
    choices.nothing_here(
        "Nothing to compare yet" if not total else "One run is not enough to compare",
        "Two runs of the same questions stand here case by case: what got worse, what was fixed, by how much, and how sure that is.",
        "plumbline run settings.yaml\nplumbline run settings.yaml --retriever tfidf\nplumbline compare BASELINE CANDIDATE",
    )
    st.stop()

chosen = compare.choose(widgets.chosen_run(titled=True))
if chosen is None:
    st.stop()
baseline, candidate = chosen
found = comparisons.comparison(baseline, candidate)
headline.markdown(widgets.escaped(compare.sentence(found)))
st.caption(
    widgets.escaped(
        f"{found.b.name}, {wording.ago(found.b.created_at)}, against {found.a.name}, {wording.ago(found.a.created_at)} · {found.b.suite}"
    )
)
compare.warnings(found)

st.header("Cases")
wanted, metric = compare_cases.ask(found, baseline, candidate)
more = compare_cases.further_runs(baseline, candidate)
compare_cases.matrix(found, baseline, candidate, wanted, metric, more)

compare.metrics(found)
if metric:
    compare_cases.scatter(found, baseline, candidate, metric)

st.header("What was changed")
compare.settings(found)
compare.export(found)
