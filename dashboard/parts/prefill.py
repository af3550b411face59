"""A New-run form that is already filled in: links to it, and taking over what a link says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import widgets
from dashboard.parts import form_fields, sweep_form
from dashboard.queries import descriptions, source

PARAM = "settings"
# the page decides where things go, and a new run gets a name of its own
LEFT_OUT = frozenset(
    {
        "mode",
        "output_dir",
        "store_path",
        "cache_dir",
        "run_name",
        "plugins",
        "passwords",
        "docs_root",
        "sweep_id",
    }
)


def link(
    label: str,
    settings: Mapping[str, Any],
    icon: str = "add_circle",
    factors: Mapping[str, Sequence[Any]] | None = None,
) -> None:
    """A link that opens New run filled in with these settings; nothing in review mode. With `factors` (a setting and
    its values) it opens a sweep over them."""
    if source.review_mode():
        st.caption("Start it in a terminal; this dashboard only shows runs.")
        return
    held = changed(settings) | ({"factors": dict(factors)} if factors else {})
    filled: dict[str, Any] = {PARAM: json.dumps(held, ensure_ascii=False, sort_keys=True)}
    if factors:
        filled["start"] = sweep_form.SWEEP
    widgets.link_to("new", label, icon=icon, **filled)


def changed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that differ from their defaults, as far as a form can hold them."""
    defaults = {each["name"]: each.get("default") for each in descriptions.description()["settings"]}
    return {
        name: value
        for name, value in settings.items()
        if name in defaults
        and name not in LEFT_OUT
        and value not in (None, "", [], {})
        and value != defaults[name]
    }


def take() -> None:
    """Fill the form with what the address holds, once for each link. What cannot be read is said."""
    text = st.query_params.get(PARAM)
    if not text or st.session_state.get("prefilled") == text:
        return
    st.session_state["prefilled"] = text
    try:
        given = json.loads(text)
    except json.JSONDecodeError:
        given = None
    if not isinstance(given, dict):
        st.warning("The form keeps its defaults.", title="The settings of this link cannot be read")
        return
    sweep_form.fill(given.pop("factors", None))
    known = {each["name"]: each for each in descriptions.description()["settings"]}
    for name, each in known.items():
        if name not in LEFT_OUT:
            st.session_state.pop(form_fields.key(name), None)
            if name in given:
                _set(each, given[name])
    unknown = [name for name in given if name not in known]
    if unknown:
        st.warning(
            widgets.escaped(", ".join(unknown)), title="This version does not know some settings of the link"
        )


def _set(setting: Mapping[str, Any], value: Any) -> None:
    name = setting["name"]
    if name == "retriever_options" and isinstance(value, dict):
        for retriever, options in value.items():
            for parameter, number in (options if isinstance(options, dict) else {}).items():
                st.session_state[form_fields.key(f"retriever_options.{retriever}.{parameter}")] = number
        return
    if name in form_fields.UPLOADED:
        st.session_state[form_fields.key(name)] = value
    elif isinstance(value, list | tuple):
        st.session_state[form_fields.key(name)] = ", ".join(map(str, value))
    elif isinstance(value, dict):
        st.session_state[form_fields.key(name)] = json.dumps(value)
    else:
        kinds = {setting.get("type"), *(part.get("type") for part in setting.get("anyOf", []))}
        st.session_state[form_fields.key(name)] = (
            float(value) if "number" in kinds and not isinstance(value, bool | str) else value
        )
