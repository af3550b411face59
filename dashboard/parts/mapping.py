"""Which column of a file of prepared results is what: guessed, shown with its reasons, changed, seen in the first rows."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import uploads, widgets, wording
from dashboard.parts import form_fields
from dashboard.queries import columns as queries

ROLES = {
    "": "not used",
    "id": "id of the case",
    "query": "question or text",
    "expected": "expected (gold)",
    "prediction": "predicted code or label",
    "score": "score of the prediction",
    "answer": "answer of the system",
    "chunk_text": "retrieved text",
    "chunk_id": "id of the retrieved text",
    "title": "title of the retrieved text",
    "retrieved": "retrieved code",
    "retrieved_score": "score of the retrieved code",
    "rank": "rank in the list",
    "model": "model or run",
    "latency_ms": "response time in ms",
    "doc_path": "document of the question",
}
GROUNDS = {
    "name": ":material/check: by its name",
    "content": ":material/check: by its values",
    "given": ":material/check: chosen",
    "unsure": ":material/help: **not sure**",
    "": "not recognised",
}


def ask(given: dict[str, Any]) -> bool:
    """Show the columns of the chosen file and take over what is changed; `given` gets `column_map`. Whether a run
    can start: True for runs of other kinds."""
    if given.get("classifier_type") != "prepared_rag_results":
        return True
    st.header("Columns of the file")
    _uploader()
    path = given.get("prepared_results")
    if not path:
        st.caption("Choose or upload a file of results: its columns are then shown here.")
        return False
    if not uploads.may_read(path, st.context.ip_address):
        st.error("From another machine only uploads can be used.")
        return False
    preset = _preset()
    stamp = Path(path).stat().st_mtime_ns if Path(path).is_file() else 0
    guess = queries.report(path, stamp, preset, None)
    if guess.get("error"):
        st.error(widgets.escaped(guess["error"]), title="The file cannot be read")
        return False
    wanted = _choices(path, guess)
    changed = wanted != {each["name"]: each["role"] for each in guess["columns"]}
    found = queries.report(path, stamp, preset, wanted) if changed else guess
    if found.get("error"):
        st.error(widgets.escaped(found["error"]), title="The columns cannot be used like this")
        return False
    if found["column_map"]:
        given["column_map"] = found["column_map"]
    return _said(path, found)


def _uploader() -> None:
    """Bring a file in; it is chosen at once."""
    round_ = st.session_state.setdefault("picked_round", 0)
    kinds = uploads.KINDS["results"]
    st.file_uploader(
        f"Upload results ({', '.join(kinds)}, at most {uploads.MEGABYTES} MB)", key=f"pick_results_{round_}",
        type=[suffix.lstrip(".") for suffix in kinds], max_upload_size=uploads.MEGABYTES, on_change=_uploaded,
        args=(f"pick_results_{round_}",),
    )  # fmt: skip
    if problem := st.session_state.pop("results_problem", ""):
        st.error(widgets.escaped(problem), icon=":material/error:")


def _uploaded(key: str) -> None:
    file = st.session_state.get(key)
    if file is None:
        return
    checked = uploads.keep("results", file.name, file.getvalue())
    if checked.problem:
        st.session_state["results_problem"] = f"{checked.name} {checked.problem}"
    else:
        st.session_state[form_fields.key("prepared_results")] = str(checked.path)
    st.session_state["picked_round"] += 1


def _preset() -> dict[str, Any]:
    """The mapping a link brought along."""
    try:
        found = json.loads(st.session_state.get(form_fields.key("column_map")) or "{}")
    except json.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _choices(path: str, guess: dict[str, Any]) -> dict[str, str]:
    """One choice a column; column → role."""
    roles = ["", *guess["roles"]]
    name = zlib.crc32(path.encode())
    wanted = {}
    with st.grid(3, min_column_width=240):
        for place, each in enumerate(guess["columns"]):
            with st.container():
                chosen = st.selectbox(
                    widgets.escaped(each["name"]),
                    roles,
                    index=roles.index(each["role"]),
                    key=f"map_{name}_{place}",
                    format_func=lambda role: ROLES.get(role) or role.replace("_", " "),
                    persist_state="session",
                )
                wanted[each["name"]] = chosen or ""
                why = GROUNDS[each["grounds"] if chosen == each["role"] else "given"]
                rank = f", rank {each['rank']}" if each["rank"] and chosen == each["role"] else ""
                shown = " · ".join(wording.shortened(text, 40) for text in each["examples"])
                st.caption(f"{why}{rank} · {widgets.escaped(shown)}" if shown else f"{why}{rank}")
    return wanted


def _said(path: str, found: dict[str, Any]) -> bool:
    """What would be read, and the question where the guess is not sure."""
    if found["problem"]:
        st.error(widgets.escaped(found["problem"]), title="Nothing can be scored with these columns")
        return False
    sets = found["sets"]
    total = f"{wording.plural(found['n_rows'], 'row')}: {wording.plural(sum(each['n_outputs'] for each in sets), 'result')}"
    runs = f" in {len(sets)} runs ({', '.join(each['name'] for each in sets[:6])})" if len(sets) > 1 else ""
    st.markdown(widgets.escaped(f"{total}{runs}. The first ones, as they are read:"))
    preview = pd.DataFrame(found["preview"])
    kept = [column for column in preview if preview[column].notna().any() and (preview[column] != "").any()]
    st.dataframe(preview[kept], hide_index=True, alt="The first rows as they are read", key="mapping_preview")
    if found["sure"]:
        return True
    st.warning(
        widgets.escaped("; ".join(doubt.split(" (settle")[0] for doubt in found["doubts"])),
        title="Not all columns are sure",
    )
    return st.checkbox("The columns are right as they are", key=f"map_right_{zlib.crc32(path.encode())}")
