"""What happened here, and why this verdict?"""

from __future__ import annotations

import streamlit as st

from dashboard import widgets, wording
from dashboard.parts import case as case_parts
from dashboard.parts import evidence, labelling, take_along
from dashboard.queries import case, runs

version = widgets.chosen_run()
run = runs.run(version)
link = {"id": run.id, "name": run.name}

case_id = case_parts.navigation(version, link)
found = case.details(version, case_id, case_parts.chosen_repeat(run.repeats))
if found is None:
    st.title("Case")
    st.warning(
        "The id may belong to another run. Choose the run in the sidebar, or look for the case on the page Verdicts.",
        title="This run has no such case",
    )
    widgets.quote(case_id)
    widgets.link_to("verdicts", "Go to the verdicts of this run", link)
    st.stop()

st.title(widgets.escaped(wording.shortened(found.case.query, 140)) or widgets.escaped(case_id))
case_parts.verdict_line(found, run)
case_parts.question(found)

left, right = st.columns(2, gap="large")
with left:
    case_parts.answer(found)
with right:
    case_parts.gold(found)

case_parts.diagnosis(found)
case_parts.claims(found)
evidence.passages(found)
evidence.on_its_page(version, found)
case_parts.checks(found)
case_parts.judgements(found)
case_parts.all_scores(found)
labelling.on_case(version, case_id)
take_along.regression_case(found.case)
case_parts.history(version, run, found)
