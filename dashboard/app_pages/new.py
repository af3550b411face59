"""Start a run."""

from __future__ import annotations

import streamlit as st

from dashboard import widgets, wording
from dashboard.parts import form, mapping, prefill, progress, sweep_form
from dashboard.queries import descriptions, jobs

st.title("New run")
under_way = jobs.live()
if under_way:
    st.markdown(f"{wording.plural(len(under_way), 'run')} under way; progress is shown below the form.")
else:
    st.markdown("Choose documents and questions; everything else has a default that can stay.")

described = descriptions.description()
if described.get("error"):
    st.error(
        "Nothing was started. The list of settings comes from `plumbline describe --json`; run it in a terminal to see more.",
        title="The settings could not be listed",
    )
    widgets.quote(described["error"], height=240)
    st.stop()

prefill.take()
chosen = st.segmented_control(
    "What to start",
    ["One run", sweep_form.SWEEP],
    key="start",
    bind="query-params",
    label_visibility="collapsed",
    required=True,
    default="One run",
    help="A sweep runs every combination of the settings that vary on the same questions and says which choice made the difference.",
)
given = form.ask(described)
ready = mapping.ask(given)
if chosen == sweep_form.SWEEP:
    sweep_form.start(sweep_form.ask(described, given))
else:
    form.start_button(given, ready=ready)
progress.live_jobs()
