"""Start a run."""

from __future__ import annotations

import streamlit as st

from dashboard import widgets, wording
from dashboard.parts import form, prefill, progress
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
form.start_button(form.ask(described))
progress.live_jobs()
