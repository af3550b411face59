"""Text of others (documents, models, users): shown as text, never as Markdown or HTML."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard import wording

SHOWN_CHARACTERS = 20_000
# readable on both backgrounds; the underline tells marked text without colour
_MARKS = {
    "evidence": "background:rgba(37,99,235,.22);text-decoration:underline;text-decoration-thickness:2px",
    "supported": "background:rgba(0,128,94,.20);text-decoration:underline",
    "contradicted": "background:rgba(200,66,30,.22);text-decoration:underline wavy",
    "not_enough_info": "background:rgba(184,116,0,.20);text-decoration:underline dotted",
}


def escaped(text: str) -> str:
    """Untrusted text for a place that reads Markdown (labels, tooltips): shown as it is."""
    kept = "".join("\\" + c if c in "\\`*_{}[]()#+-.!|<>~$:&@=^\"'/" else c for c in text)
    return kept.replace("\n", " ")


def quote(text: str, marks: Sequence[tuple[int, int, str]] = (), height: int | None = None) -> None:
    """Untrusted text, shown as text and never as Markdown or HTML, with its line breaks.

    `marks` are (start, end, kind) ranges to be marked; kind is evidence or a claim label. Long text is cut at
    a stated length, so that one cell of a megabyte does not stop a page.
    """
    shown = text[:SHOWN_CHARACTERS]
    parts: list[str] = []
    at = 0
    for start, end, kind in sorted(marks):
        start, end = max(start, at), min(end, len(shown))
        if start >= end:
            continue
        parts.append(html.escape(shown[at:start]))
        parts.append(
            f'<mark style="color:inherit;{_MARKS.get(kind, _MARKS["evidence"])}">{html.escape(shown[start:end])}</mark>'
        )
        at = end
    parts.append(html.escape(shown[at:]))
    scroll = f"max-height:{height}px;overflow-y:auto;" if height else ""
    st.html(
        f'<div dir="auto" style="white-space:pre-wrap;overflow-wrap:anywhere;{scroll}">{"".join(parts)}</div>'
    )
    if len(text) > SHOWN_CHARACTERS:
        st.caption(
            f"The first {wording.count(SHOWN_CHARACTERS)} of {wording.count(len(text))} characters; the export holds all of them."
        )


def facts(pairs: Mapping[str, str]) -> None:
    """Names and values in two columns, values as they are."""
    lines = "".join(
        f'<tr><td style="padding:.15rem 1rem .15rem 0;opacity:.75;vertical-align:top;white-space:nowrap">{html.escape(name)}</td>'
        f'<td style="padding:.15rem 0;overflow-wrap:anywhere">{html.escape(value)}</td></tr>'
        for name, value in pairs.items()
    )
    st.html(f'<table style="border:0;border-collapse:collapse;font-size:.875rem">{lines}</table>')
