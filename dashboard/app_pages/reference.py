"""What does this number mean?"""

from __future__ import annotations

import streamlit as st

from dashboard import widgets, wording
from dashboard.parts import reference
from dashboard.queries import descriptions

st.title("Reference")
headline = st.empty()
with st.spinner("Reading what this version can compute…"):
    described = descriptions.description()
if described.get("error"):
    st.error(
        "Nothing is lost. The list comes from `plumbline describe --json`; run it in a terminal to see more.",
        title="The reference could not be listed",
    )
    widgets.quote(described["error"], height=240)
    st.stop()

metrics, components, settings = described["metrics"], described["components"], described["settings"]
n_components = sum(len(rows) for rows in components.values())
headline.markdown(
    f"This version computes {wording.plural(len(metrics), 'metric')} and knows {wording.plural(n_components, 'component')} and "
    f"{wording.plural(len(settings), 'setting')}; each says what it means here."
)
PARTS = ("Metrics", "Components", "Settings")
part = st.segmented_control(
    "Part",
    PARTS,
    key="part",
    bind="query-params",
    label_visibility="collapsed",
    required=True,
    default=PARTS[0],
)
search = (
    st.text_input(
        "Search",
        key="reference_find",
        bind="query-params",
        type="search",
        help="In names, formulas, sources and descriptions",
    )
    or ""
)
if part == "Components":
    reference.components(components, search)
elif part == "Settings":
    reference.settings(settings, search)
else:
    reference.metrics(metrics, search, st.query_params.get("metric"))
st.caption(
    f"Plumbline {widgets.escaped(str(described['version']))}; in a terminal, `plumbline describe` lists the same."
)
