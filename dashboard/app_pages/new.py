"""Start a run."""

from __future__ import annotations

import streamlit as st

from dashboard import widgets
from dashboard.parts import form, progress
from dashboard.queries import descriptions

st.title("New run")
st.markdown("Choose documents and questions; everything else has a default that can stay.")
progress.live_jobs()

described = descriptions.description()
if described.get("error"):
    st.error(
        "Nothing was started. The list of settings comes from `plumbline describe --json`; run it in a terminal to see more.",
        title="The settings could not be listed",
    )
    widgets.quote(described["error"], height=240)
    st.stop()

form.problems()
given = form.ask(described)
form.start_button(given)
