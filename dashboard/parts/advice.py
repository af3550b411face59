"""What to try next, as the advice of core says it: each proposal opens New run filled in."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import widgets, wording
from dashboard.parts import prefill
from dashboard.parts.sweep import humanised
from dashboard.queries import sweeps


def advice(sweep_id: str, table: pd.DataFrame, names: dict[str, str]) -> None:
    """What to try next, most important first, each with a button that opens New run filled in."""
    advisor = sweeps.one(sweep_id, "quality_advisor")
    for text in advisor.get("benchmark_warnings") or []:
        st.warning(widgets.escaped(humanised(str(text), names)))
    items = advisor.get("top_recommendations") or []
    if not items:
        st.success("Nothing failed that calls for a change.")
        return
    base = _base_settings(advisor, table)
    for number, item in enumerate(items, 1):
        with st.container(border=True, key=f"advice_{number}"):
            st.subheader(widgets.escaped(f"{number}. {item['issue']}"))
            st.markdown(widgets.escaped(str(item["recommendation"])))
            widgets.facts(
                {
                    "Try next": wording.spelled(str(item["next_experiment"])),
                    "Evidence": humanised(str(item["evidence"]), names),
                    "It worked when": str(item["success_signal"]),
                }
            )
            changed = flags(str(item.get("command") or ""))
            if base and changed:
                with st.container(horizontal=True):
                    prefill.link("Open New run filled in", {**base, **changed})
                    factors = {n: [base.get(n), v] for n, v in changed.items() if n in base and base[n] != v}
                    if factors and all(before is not None for before, _ in factors.values()):
                        prefill.link("Compare both in a sweep", base, "compare_arrows", factors)
            if item.get("command"):
                st.code(item["command"], language="bash", wrap_lines=True)


def _base_settings(advisor: dict[str, Any], table: pd.DataFrame) -> dict[str, Any]:
    experiment = (advisor.get("health") or {}).get("experiment")
    found = table[table["experiment"] == experiment]
    return dict(found.iloc[0]["settings"]) if len(found) else {}


def flags(command: str) -> dict[str, Any]:
    """The settings that a command changes: "… --top-k 8 --no-rerank" → {"top_k": 8, "rerank": False}."""
    try:
        words = shlex.split(command)
    except ValueError:
        return {}
    found: dict[str, Any] = {}
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if not word.startswith("--"):
            continue
        name = word[2:].replace("-", "_")
        if at < len(words) and not words[at].startswith("--"):
            found[name] = _value(words[at])
            at += 1
        elif name.startswith("no_"):
            found[name.removeprefix("no_")] = False
        else:
            found[name] = True
    return found


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
