"""One input for one setting, chosen by its JSON Schema. Limits hold again in core; here they are a help."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from dashboard import uploads, widgets, wording

LABELS = {
    "classifier_type": "Kind of run",
    "docs": "Documents",
    "questions": "Questions",
    "cpv_catalog": "Code list",
    "cpv_queries": "Queries with their codes",
    "cpv_notices": "Example notices",
    "prepared_results": "File of results",
    "top_k": "Passages kept (top k)",
}
KIND_WORDS = {
    "document_qa": "Document QA",
    "ted_cpv": "Catalogue classifier",
    "api_classifier": "External classifier API",
    "prepared_rag_results": "Prepared results",
}
UPLOADED = {
    "docs": "documents",
    "questions": "questions",
    "cpv_catalog": "codes",
    "cpv_queries": "codes",
    "cpv_notices": "codes",
    "prepared_results": "results",
}


def key(name: str) -> str:
    return f"set_{name}"


def draw(setting: dict[str, Any], described: dict[str, Any], values: dict[str, Any]) -> Any:
    """The input of one setting; its value, None or empty where it was left to its default."""
    name, default = setting["name"], setting.get("default")
    label = LABELS.get(name) or wording.title(setting.get("parameter") or name)
    help_text = _help(setting, described)
    common: dict[str, Any] = {"key": key(name), "help": help_text, "persist_state": "session"}
    if name == "retriever_options":
        return _options(described, values)
    if name in UPLOADED:
        return _paths(name, label, help_text, many=name == "docs")
    if setting.get("choices"):
        options = setting["choices"]
        return st.selectbox(
            label,
            options,
            index=options.index(default) if default in options else None,
            format_func=lambda each: KIND_WORDS.get(each) or wording.setting(each),
            **common,
        )
    kind, nullable = _type(setting)
    if kind == "boolean":
        return st.toggle(label, value=bool(default), **common)
    if kind in ("integer", "number"):
        return _number(setting, label, kind, nullable, common)
    if kind == "array":
        text = st.text_input(
            label, value=", ".join(default or ()), placeholder="separated by commas", **common
        )
        return [part.strip() for part in (text or "").split(",") if part.strip()]
    if kind == "object":
        return _object(label, default, common)
    return st.text_input(label, value=default or "", **common) or None


def _number(setting: dict[str, Any], label: str, kind: str, nullable: bool, common: dict[str, Any]) -> Any:
    bounds = _bounds(setting)
    default = setting.get("default")
    whole = kind == "integer"

    def cast(number: Any) -> Any:
        return None if number is None else int(number) if whole else float(number)

    numbers: dict[str, Any] = {
        "value": cast(default),
        "min_value": cast(bounds.get("minimum", bounds.get("exclusiveMinimum"))),
        "max_value": cast(bounds.get("maximum", bounds.get("exclusiveMaximum"))),
        "step": 1 if whole else 0.05,
        "format": "%d" if whole else "%.2f",
    }
    return st.number_input(label, placeholder="default" if nullable else None, **numbers, **common)


def _paths(name: str, label: str, help_text: str, many: bool) -> Any:
    """Uploads to choose from, and a path to type for what lies elsewhere on this machine."""
    there = uploads.stored(UPLOADED[name])
    offered = [str(path) for path in there]
    if many and offered:
        offered = [str(uploads.folder("documents")), *offered]
    words = {str(uploads.folder("documents")): f"all uploads ({len(there)})"}

    def shown(path: str) -> str:
        return words.get(path) or (path.replace("\\", "/").rsplit("/", 1)[-1] if path in offered else path)

    common: dict[str, Any] = {
        "key": key(name), "help": help_text, "persist_state": "session", "accept_new_options": True, "format_func": shown,
        "placeholder": "choose an upload, or type a path",
    }  # fmt: skip
    if many:
        return st.multiselect(label, offered, **common)
    return st.selectbox(label, offered, index=None, **common)


def _object(label: str, default: Any, common: dict[str, Any]) -> Any:
    text = st.text_input(
        label, value="" if not default else json.dumps(default), placeholder='{"name": "value"}', **common
    )
    if not (text or "").strip():
        return None
    try:
        found = json.loads(text or "")
    except json.JSONDecodeError as error:
        st.caption(f":red[not valid JSON: {widgets.escaped(error.msg)}]")
        return None
    return found if isinstance(found, dict) else None


def _options(described: dict[str, Any], values: dict[str, Any]) -> dict[str, Any] | None:
    """Further parameters of the chosen retriever, each with its own input; None where it has none."""
    chosen = values.get("retriever")
    taken = {"embedding_model", "hybrid_alpha", "hybrid_fusion"}
    component = next(
        (each for each in described["components"].get("retriever", []) if each["name"] == chosen), None
    )
    given: dict[str, Any] = {}
    for parameter in component["parameters"] if component else []:
        name = parameter["name"]
        if name in taken or _type(parameter)[0] not in ("integer", "number", "boolean", "string"):
            continue
        if "default" not in parameter:
            continue
        setting = {
            **parameter,
            "name": f"retriever_options.{chosen}.{name}",
            "choices": parameter.get("enum"),
            "parameter": name,
        }
        value = draw({**setting, "description": parameter.get("description", "")}, {"components": {}}, {})
        if value is not None and value != parameter["default"]:
            given[name] = value
    return given or None


def _help(setting: dict[str, Any], described: dict[str, Any]) -> str:
    text = widgets.escaped(setting.get("description", "")) + f"\n\n`{setting['name']}`"
    components = {"chunking": "chunking", "retriever": "retriever", "answer_mode": "answer mode"}
    kind = components.get(setting["name"])
    rows = described.get("components", {}).get(kind, []) if kind else []
    return text + "".join(f"\n- `{each['name']}`: {widgets.escaped(each['summary'])}" for each in rows)


def _type(setting: dict[str, Any]) -> tuple[str, bool]:
    """(JSON type, whether it may be left empty)."""
    if "type" in setting:
        return str(setting["type"]), False
    kinds = [part.get("type") for part in setting.get("anyOf", [])]
    return next((str(each) for each in kinds if each not in (None, "null")), "string"), "null" in kinds


def _bounds(setting: dict[str, Any]) -> dict[str, Any]:
    found = dict(setting)
    for part in setting.get("anyOf", []):
        found.update(part)
    return found
