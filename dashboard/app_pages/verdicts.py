"""Which cases?"""

from __future__ import annotations

import streamlit as st

from dashboard import widgets, wording
from dashboard.parts import case_list, filters
from dashboard.queries import cases, runs

version = widgets.chosen_run()
run = runs.run(version)
link = {"id": run.id, "name": run.name}

st.title("Verdicts")
progress = runs.progress(version)
headline = st.empty()
widgets.unfinished(run.status, progress["n_outputs"] or 0, run.n_cases * run.repeats)

wanted, sort = filters.ask(version, repeats=run.repeats)
found = cases.count(version, wanted)
headline.markdown(
    f"{widgets.escaped(run.name)}: {case_list.sentence(found, sum(runs.verdicts(version).values()), wanted)}"
)

if not found:
    st.info(
        "Take a filter away to see more cases.",
        title="No case matches" if progress["n_results"] else "No case has been judged yet",
    )
    filters.clear_button()
    st.stop()

pages = -(-found // cases.PAGE_SIZE)
number = st.pagination(pages, key="page", bind="query-params") if pages > 1 else 1
case_list.rows(cases.page(version, wanted, sort, number), link, wanted)
st.caption(
    f"{wording.count((number - 1) * cases.PAGE_SIZE + 1)}–{wording.count(min(number * cases.PAGE_SIZE, found))} of {wording.plural(found, 'case')}."
)
case_list.export(version, wanted, sort, found, run.name)
