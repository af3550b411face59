"""How good is it, and can I trust the number?"""

from __future__ import annotations

import streamlit as st

from dashboard import widgets, wording
from dashboard.parts import scores, take_along
from dashboard.queries import runs

version = widgets.chosen_run()
run = runs.run(version)
link = {"id": run.id, "name": run.name}
counts = runs.verdicts(version)
progress = runs.progress(version)

st.title(widgets.escaped(run.name))
st.markdown(wording.run_sentence(counts, scores.pass_rate(run), run.n_cases, run.status, run.repeats))
st.caption(
    widgets.escaped(f"{run.suite} · {wording.title(run.kind)} · {wording.ago(run.created_at)}"),
    help=wording.date(run.created_at),
)
widgets.unfinished(run.status, progress["n_outputs"] or 0, run.n_cases * run.repeats)

widgets.verdict_cards(counts, link)
if progress["n_unchecked"]:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f":material/help: In {wording.plural(progress['n_unchecked'], 'case')} something could not be checked."
        )
        widgets.link_to("verdicts", "Show them", link, unchecked="true")
if run.status == "sealed" and run.kind != "audit" and (counts.get("FAIL") or counts.get("WEAK")):
    widgets.link_to("causes", "Why cases fail, and what to try next", link, of="One run")

scores.by_group(run, version)

st.header("Scores")
scores.overview(run, link)

st.header("Can I trust it?")
scores.trust(run, progress)

if run.status == "sealed":
    take_along.run_files(run)
