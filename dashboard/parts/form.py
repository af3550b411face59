"""The New-run form, made from what `plumbline describe --json` says: only settings that apply are shown."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import streamlit as st

from core.errors import StoreError
from dashboard import jobs, uploads, widgets, wording
from dashboard.parts import form_fields, progress
from dashboard.queries import jobs as job_queries

# never in the form: where things go is the dashboard's own, and code is not named from a browser
HIDDEN = frozenset(
    {"mode", "output_dir", "store_path", "cache_dir", "plugins", "passwords", "docs_root", "column_map"}
)
GROUPS = {
    "run": "What is evaluated",
    "inputs": "Inputs",
    "chunking": "Chunking",
    "retrieval": "Retrieval",
    "rerank": "Reranking",
    "answers": "Answers",
    "decision": "Decision",
    "llm": "Language model",
    "judge": "Judge",
    "api": "External classifier",
}
# shown at once; every other setting that applies stands under its group's heading in "further settings"
MAIN = frozenset(
    [
        "classifier_type",
        "run_name",
        "repeats",
        "docs",
        "questions",
        "cpv_catalog",
        "cpv_queries",
        "prepared_results",
        "chunking",
        "chunk_size",
        "overlap",
        "retriever",
        "top_k",
        "embedding_model",
        "hybrid_alpha",
        "answer_mode",
        "answer_sentences",
        "abstain_on_weak_evidence",
        "abstain_below",
        "api_classifier_url",
    ]
)
PATHS = ("docs", "questions", "cpv_catalog", "cpv_queries", "cpv_notices", "prepared_results")
KINDS = ("document_qa", "ted_cpv", "api_classifier", "prepared_rag_results")


def ask(described: dict[str, Any]) -> dict[str, Any]:
    """Draw the form; the settings that apply and differ from their defaults."""
    settings = {
        each["name"]: each
        for each in described["settings"]
        if each["name"] not in HIDDEN and each.get("group") in GROUPS
    }
    if "classifier_type" in settings:
        settings["classifier_type"]["choices"] = [
            kind for kind in KINDS if kind in settings["classifier_type"].get("choices", KINDS)
        ]
    values = {
        name: st.session_state.get(form_fields.key(name), each.get("default"))
        for name, each in settings.items()
    }
    given: dict[str, Any] = {}
    for group, title in GROUPS.items():
        shown = [each for name, each in settings.items() if each["group"] == group and name in MAIN]
        _group(title, shown, settings, values, described, given)
    further = st.expander("Further settings", key="further_settings", on_change="rerun")
    with further:
        for group, title in GROUPS.items():
            shown = [each for name, each in settings.items() if each["group"] == group and name not in MAIN]
            _group(title, shown, settings, values, described, given)
    return given


def _group(
    title: str,
    members: list[dict[str, Any]],
    settings: dict[str, Any],
    values: dict[str, Any],
    described: dict[str, Any],
    given: dict[str, Any],
) -> None:
    """The inputs of one group; `values` and `given` take what was chosen. A part that is closed keeps it."""
    if not any(applies(each["name"], settings, values) for each in members):
        return
    st.header(title)
    with st.grid(3, min_column_width=240):
        for each in members:
            if not applies(each["name"], settings, values):
                continue
            value = values[each["name"]] = form_fields.draw(each, described, values)
            if value != _plain(each.get("default")) and value not in (None, "", [], {}):
                given[each["name"]] = value


def applies(name: str, settings: dict[str, Any], values: dict[str, Any]) -> bool:
    """Whether a setting matters under the others: each parent must apply and hold one of the wanted values."""
    for parent, wanted in (settings[name].get("applies") or {}).items():
        if parent not in settings or not applies(parent, settings, values):
            return False
        value = values.get(parent)
        if not any(
            value == each or (isinstance(each, str) and each.startswith("!") and str(value) != each[1:])
            for each in wanted
        ):
            return False
    return True


def start_button(given: dict[str, Any], *, ready: bool = True) -> None:
    """What would run, in a sentence, and the button that starts it once all is `ready`."""
    st.divider()
    kind = wording.title(given.get("classifier_type", "document_qa"))
    changed = [name for name in given if name not in ("docs", "questions", "run_name", "classifier_type")]
    st.caption(
        widgets.escaped(
            f"{kind}; {', '.join(f'{name} = {given[name]}' for name in changed) or 'all other settings at their defaults'}"
        )
    )
    st.button(
        "Start the run",
        type="primary",
        icon=":material/play_arrow:",
        on_click=widgets.guarded(start),
        args=(given, "run"),
        key="start_run",
        disabled=not ready,
    )


def start(given: dict[str, Any], kind: str) -> None:
    """Start a job with these settings: a run or a sweep."""
    named = [path for name in PATHS for path in _many(given.get(name))]
    outside = [path for path in named if not uploads.may_read(path, st.context.ip_address)]
    if outside:
        raise StoreError(f"from another machine only uploads can be used, not {', '.join(outside)}")
    # the same settings make one job for as long as it is under way, however often the button is pressed
    nonce = st.session_state.setdefault("new_nonce", progress.new_token())
    token = _token(given, nonce + kind)
    job = job_queries.by_token(token)
    if job is not None and job["status"] not in job_queries.LIVE:
        st.session_state["new_nonce"] = progress.new_token()
        token = _token(given, st.session_state["new_nonce"] + kind)
    st.session_state["my_job"] = jobs.start(given, token=token, kind=kind)


def _token(given: dict[str, Any], nonce: str) -> str:
    return hashlib.sha256((json.dumps(given, sort_keys=True, default=str) + nonce).encode()).hexdigest()


def _many(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
