"""What made it so?"""

from __future__ import annotations

import streamlit as st

from dashboard import widgets
from dashboard.parts import advice, causes, sweep
from dashboard.queries import runs, sweeps

st.title("Causes")
headline = st.empty()
OF = ("A sweep", "One run")
of = st.segmented_control(
    "Explain",
    OF,
    default=OF[0] if sweeps.listed(limit=1) or not runs.choices() else OF[1],
    required=True,
    key="of",
    bind="query-params",
    label_visibility="collapsed",
)
if of == OF[1]:
    causes.of_run(headline)
    st.stop()
sweep_id, table = sweep.choose(
    "No sweep to explain yet",
    "Which design choice made the difference, by how much and how sure; which step failed; and what to try next. It needs a sweep: several configurations on the same questions.",
)
names = sweep.labels(table)
sweep.unfinished(table)
summary = sweeps.one(sweep_id, "design_attribution_summary")
if not summary:
    st.info("The effects are computed when the sweep is complete.", title="Nothing is attributed yet")
    st.stop()
effects = sweeps.table(sweep_id, "design_factor_effects")
headline.markdown(widgets.escaped(causes.sentence(effects, summary)))

st.header("Effects of single choices")
causes.forests(effects)
causes.interactions(sweeps.table(sweep_id, "design_interactions"))
causes.gains(sweeps.table(sweep_id, "design_gain_shares"), names)
causes.variance(sweeps.table(sweep_id, "design_variance_shares"), summary)

st.header("What should I try next?")
advice.advice(sweep_id, table, names)

st.header("Where answers fail")
causes.failures(sweep_id, names, dict(zip(table["experiment"], table["run_id"], strict=True)))
causes.ladder(sweeps.table(sweep_id, "oracle_ladder"), names)
