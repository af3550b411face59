"""Which configuration?"""

from __future__ import annotations

import streamlit as st

from dashboard import widgets, wording
from dashboard.parts import sweep
from dashboard.queries import sweeps

st.title("Sweep")
headline = st.empty()
sweep_id, table = sweep.choose(
    "No sweep yet",
    "A sweep runs many configurations on the same questions. They stand here with rank bands and intervals, so that chance is not mistaken for a winner.",
)
names = sweep.labels(table)
sweep.unfinished(table)
ranking = sweeps.table(sweep_id, "experiment_ranking")
if ranking.empty:
    headline.markdown(
        f"{wording.plural(len(table), 'configuration')} so far; they are ranked when the sweep is complete."
    )
    st.stop()
first, rest = sweep.statement(sweep_id, names)
headline.markdown(widgets.escaped(first))
st.caption(widgets.escaped(rest))
with st.container(horizontal=True):
    for page, label in (("causes", "What made the difference"), ("pareto", "What quality costs")):
        widgets.link_to(page, label, sweep=sweep_id)

sweep.leaderboard(ranking, table, names)

st.header("Which one to take")
sweep.take_one(sweep_id, table, names, ranking)

st.header("Settings and quality")
sweep.factors(ranking, table)

st.header("Where two configurations disagree")
sweep.disagreements(table, ranking)
