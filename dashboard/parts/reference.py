"""The parts of the reference page: metrics, components and settings as core describes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import widgets, wording

PAGE = 20
DIRECTIONS = {1: "higher is better", -1: "lower is better", 0: "neither direction is better"}


def matching(rows: Sequence[Mapping[str, Any]], search: str) -> list[Mapping[str, Any]]:
    """Rows that hold every word of a search in any of their texts."""
    words = search.casefold().split()
    return [row for row in rows if all(word in str(row).casefold() for word in words)]


def metrics(rows: Sequence[Mapping[str, Any]], search: str, named: str | None) -> None:
    """Every metric: formula, inputs, empty case, source, version; by family, the named one first."""
    families = sorted({str(row["family"]) for row in rows})
    chosen = st.pills(
        "Family",
        families,
        selection_mode="multi",
        key="family",
        bind="query-params",
        format_func=wording.title,
    )
    found = [row for row in matching(rows, search) if not chosen or row["family"] in chosen]
    if named:
        first = [row for row in rows if row["name"] == named]
        if not first:
            st.warning("It may have been renamed; search for it below.", title="No metric has this name")
            widgets.quote(named)
        found = [*first, *(row for row in found if row["name"] != named)]
    st.markdown(f"{wording.count(len(found))} of {wording.plural(len(rows), 'metric')}.")
    if not found:
        st.info("Try another word, or take a family away.", title="No metric matches")
        return
    for row in _page(found, "metric_page"):
        part = st.expander(
            widgets.escaped(f"{row['title']} · {wording.title(row['family'])}"), key=f"metric_{row['name']}", on_change="rerun",
            expanded=row["name"] == named or len(found) <= 3,
        )  # fmt: skip
        if part.open:
            with part:
                _metric(row)


def _metric(row: Mapping[str, Any]) -> None:
    widgets.facts(
        {
            "Published name": row["name"],
            "Formula": row["formula"] or wording.MISSING,
            "Inputs": row["inputs"] or wording.MISSING,
            "Where there is nothing to count": row["empty"] or wording.MISSING,
            "Range": f"{row['range']}{' ' + row['unit'] if row['unit'] else ''}, {DIRECTIONS.get(row['direction'], row['direction'])}",
            "Source": row["source"] or wording.MISSING,
            "Version": str(row["version"]),
        }
    )
    if row.get("example"):
        st.caption("Worked example, which is also a test:")
        st.code(row["example"], language="python", wrap_lines=True)


def components(kinds: Mapping[str, Sequence[Mapping[str, Any]]], search: str) -> None:
    """Everything that can be chosen by name, with its parameters."""
    found = [(kind, row) for kind, rows in kinds.items() for row in matching(rows, search)]
    total = sum(len(rows) for rows in kinds.values())
    st.markdown(f"{wording.count(len(found))} of {wording.plural(total, 'component')}.")
    for kind, row in _page(found, "component_page"):
        part = st.expander(
            widgets.escaped(f"{row['name']} · {wording.title(kind.replace(' ', '_'))}"), key=f"component_{kind}_{row['name']}", on_change="rerun",
            expanded=len(found) <= 3,
        )  # fmt: skip
        if part.open:
            with part:
                st.markdown(widgets.escaped(str(row.get("summary", ""))))
                lines = {str(each["name"]): _parameter(each) for each in row.get("parameters", ())}
                if lines:
                    widgets.facts(lines)
                else:
                    st.caption("It has no parameters.")


def settings(rows: Sequence[Mapping[str, Any]], search: str) -> None:
    """Every setting of a run with its default, its choices and when it matters."""
    found = matching(rows, search)
    st.markdown(f"{wording.count(len(found))} of {wording.plural(len(rows), 'setting')}.")
    for row in _page(found, "setting_page"):
        st.markdown(
            f"**{widgets.escaped(str(row['name']))}**  {widgets.escaped(str(row.get('description', '')))}"
        )
        parts = [
            f"default {row.get('default')!r}"
            if row.get("default") not in (None, "", [], {})
            else "no default"
        ]
        if row.get("choices"):
            parts.append("one of " + ", ".join(map(str, row["choices"])))
        parts += [
            f"only with {parent} = {' or '.join(map(str, wanted))}"
            for parent, wanted in (row.get("applies") or {}).items()
        ]
        if row.get("factor"):
            parts.append("can be a factor of a sweep")
        st.caption(widgets.escaped("; ".join(parts)))


def _parameter(each: Mapping[str, Any]) -> str:
    bounds = [
        f"at least {each['minimum']:g}" if "minimum" in each else "",
        f"at most {each['maximum']:g}" if "maximum" in each else "",
    ]
    choices = "one of " + ", ".join(map(str, each["enum"])) if each.get("enum") else ""
    default = f"default {each['default']!r}" if "default" in each else "required"
    return "; ".join(part for part in (str(each.get("description", "")), default, choices, *bounds) if part)


def _page(found: Sequence[Any], key: str) -> Sequence[Any]:
    pages = -(-len(found) // PAGE)
    number = st.pagination(pages, key=key, bind="query-params") if pages > 1 else 1
    return found[(min(number, pages) - 1) * PAGE : min(number, pages) * PAGE] if pages else []
