"""A sweep from the New-run form: which settings vary, over which values; what it would take; and its start."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import widgets, wording
from dashboard.parts import form, form_fields, progress
from dashboard.queries import descriptions, source

SWEEP = "Sweep"  # what the page starts, as it stands in the address
VARY = "vary"  # key of the choice of settings, and beginning of the keys of their values
RACE = "vary_race"


def ask(described: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Draw which settings vary and over which values; the settings of the whole sweep."""
    kind = given.get("classifier_type", "document_qa")
    known = {each["name"]: each for each in described["settings"]}
    offered = [name for name, each in known.items() if _can_vary(each, known, kind)]
    st.header("What varies")
    chosen = st.multiselect(
        "Settings to compare",
        offered,
        key=VARY,
        persist_state="session",
        format_func=lambda name: form_fields.LABELS.get(name) or wording.title(name),
        placeholder="choose one or more; every combination is run",
        help="The values of what varies take the place of the one above.",
    )
    with st.grid(2, min_column_width=320):
        factors = {name: _values(known[name]) for name in chosen if name in known}
    racing = st.toggle(
        "Stop configurations early that are shown to be worse",
        key=RACE,
        persist_state="session",
        help="Saves time. What is stopped stays out of effects and of the frontier.",
    )
    whole = {name: value for name, value in given.items() if name not in factors}
    whole["factors"] = {name: values for name, values in factors.items() if values}
    return whole | ({"race": True} if racing else {})


def start(whole: dict[str, Any]) -> None:
    """What would run, how long and for how much; then the button that starts exactly that."""
    st.divider()
    short = [name for name, values in whole["factors"].items() if len(values) < 2]
    if not whole["factors"] or short:
        st.caption(
            "Choose at least one setting above and at least two values of it; what the sweep takes is shown here before it starts."
        )
        return
    planned = _plan(whole)
    if planned is None:
        return
    _show(planned)
    st.button(
        f"Start the sweep of {wording.plural(planned['configurations'], 'configuration')}",
        type="primary",
        icon=":material/play_arrow:",
        on_click=widgets.guarded(form.start),
        args=(whole, "sweep"),
        key="start_sweep",
    )


def fill(factors: Any) -> None:
    """Put what a link says into the form."""
    if not isinstance(factors, dict):
        return
    st.session_state[VARY] = list(factors)
    for setting in descriptions.description()["settings"]:
        name = setting["name"]
        if name in factors and isinstance(factors[name], list):
            listed = bool(_options(setting))
            st.session_state[_key(name)] = factors[name] if listed else ", ".join(map(str, factors[name]))


def _can_vary(setting: dict[str, Any], known: dict[str, Any], kind: str) -> bool:
    """Whether it is a factor for this kind of run; a parent may itself vary."""
    if not setting.get("factor") or setting["name"] in form.HIDDEN | {"classifier_type"}:
        return False
    return setting.get("group") in form.GROUPS and _type(setting) != "object" and _fits(setting, known, kind)


def _fits(setting: dict[str, Any], known: dict[str, Any], kind: str) -> bool:
    parents = setting.get("applies") or {}
    return all(
        kind in wanted if name == "classifier_type" else name in known and _fits(known[name], known, kind)
        for name, wanted in parents.items()
    )


def _key(name: str) -> str:
    return f"{VARY}_{name}"


def _type(setting: dict[str, Any]) -> str:
    kinds = [setting.get("type"), *(part.get("type") for part in setting.get("anyOf", []))]
    return next((str(each) for each in kinds if each not in (None, "null")), "string")


def _options(setting: dict[str, Any]) -> list[Any]:
    return [False, True] if _type(setting) == "boolean" else list(setting.get("choices") or ())


def _values(setting: dict[str, Any]) -> list[Any]:
    """The values of one setting; what cannot be read is said and left out."""
    name, options = setting["name"], _options(setting)
    label = form_fields.LABELS.get(name) or wording.title(name)
    common: dict[str, Any] = {"key": _key(name), "persist_state": "session"}
    common["help"] = widgets.escaped(setting.get("description", "")) + f"\n\n`{name}`"
    if options:
        words: dict[Any, str] = {False: "off", True: "on"}
        return st.multiselect(
            label,
            options,
            format_func=lambda each: words.get(each) or wording.spelled(str(each)),
            placeholder="two or more",
            **common,
        )
    default = setting.get("default")
    text = st.text_input(
        label,
        placeholder="values, separated by commas"
        + (f", as in {default}" if default not in (None, "") else ""),
        **common,
    )
    values: list[Any] = []
    unread: list[str] = []
    for part in filter(None, map(str.strip, (text or "").split(","))):
        value = _read(part, _type(setting))
        values.append(value) if value is not None else unread.append(part)
    if unread:
        st.caption(f":red[not a number: {widgets.escaped(', '.join(unread))}]")
    return list(dict.fromkeys(values))


def _read(text: str, kind: str) -> Any:
    if kind not in ("integer", "number"):
        return text
    try:
        return int(text) if kind == "integer" else float(text)
    except ValueError:
        return None


# --- the plan -------------------------------------------------------------------------------------------------


def _plan(whole: dict[str, Any]) -> dict[str, Any] | None:
    """The plan of exactly this sweep; None until it was asked for, or where the settings cannot be used."""
    asked = json.dumps(whole, sort_keys=True, default=str)
    if st.button("Show what it would take", icon=":material/schedule:", key="plan_sweep"):
        with st.spinner("Reading the questions and counting what would run"):
            st.session_state["sweep_plan"] = asked, _answer(whole)
    known, answer = st.session_state.get("sweep_plan", ("", None))
    if known != asked or answer is None:
        return None
    if answer.code:
        problems = [
            line.strip().removeprefix("- ")
            for line in answer.err.splitlines()
            if line.strip().startswith("- ")
        ]
        progress.problems_found(problems or [answer.err.strip()[-500:]])
        return None
    return dict(json.loads(answer.out))


def _answer(whole: dict[str, Any]) -> descriptions.Answer:
    settings = {name: value for name, value in whole.items() if name != "race"}
    settings.setdefault("output_dir", str(source.output_dir()))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sweep.json"
        path.write_text(json.dumps(settings), encoding="utf-8")
        return descriptions.command("sweep", str(path), "--plan", "--json")


def _show(planned: dict[str, Any]) -> None:
    calls = planned["calls"]
    money = "it costs nothing: no language model is asked"
    if calls:
        price = "price unknown" if calls["cost_usd"] is None else f"about ${calls['cost_usd']:.2f}"
        money = f"{wording.plural(calls['calls'], 'model call')}, {price}"
    asked = planned["questions"]
    questions = "an unknown number of questions" if asked is None else wording.plural(asked, "question")
    st.markdown(
        widgets.escaped(
            f"{wording.plural(planned['configurations'], 'configuration')} on {questions}: about {wording.duration(planned['seconds'] * 1000)} ({planned['basis']}); {money}."
        )
    )
    for notice in planned["notices"]:
        st.caption(widgets.escaped(notice))
    rows = [
        {"step": stage, "runs": shared, "instead of": separate}
        for stage, (shared, separate) in planned["stages"].items()
    ]
    st.dataframe(rows, hide_index=True, width="content")
