"""What does quality cost?"""

from __future__ import annotations

import streamlit as st

from dashboard import widgets
from dashboard.parts import pareto, sweep
from dashboard.queries import sweeps

st.title("Pareto")
headline = st.empty()
sweep_id, table = sweep.choose(
    "No sweep to weigh yet",
    "Quality against cost and time of each configuration, with the frontier of those worth their price and how sure that is. It needs a sweep.",
)
names = sweep.labels(table)
sweep.unfinished(table)
found = sweeps.table(sweep_id, "design_pareto_frontier")
if found.empty:
    st.info("The frontier is computed when the sweep is complete.", title="Nothing to weigh yet")
    st.stop()
headline.markdown(widgets.escaped(pareto.sentence(found, names)))
pareto.scatter(found, names, dict(zip(table["experiment"], table["run_id"], strict=True)))
st.header("All configurations")
pareto.table(found, names)
