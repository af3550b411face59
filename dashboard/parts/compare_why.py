"""Why one case changed between two runs: answers by word, passages, claims, reasons, scores."""

from __future__ import annotations

import html
from collections.abc import Sequence

import streamlit as st

from dashboard import widgets, wording
from dashboard.queries import comparisons, descriptions
from dashboard.queries.comparisons import CaseDifference, Pair
from dashboard.queries.runs import Version
from dashboard.reasons import CLAIMS, reason

MOVES = {"entered": "entered", "left": "left", "up": "moved up", "down": "moved down"}
_STYLES = {
    "removed": "background:rgba(200,66,30,.20);text-decoration:line-through",
    "added": "background:rgba(0,128,94,.20);text-decoration:underline",
}


def drawer(a: Version, b: Version, pair: Pair) -> None:
    """Everything that differs in one case, what matters most first."""
    with st.container(border=True):
        st.subheader(widgets.escaped(wording.shortened(pair.query, 160)) or widgets.escaped(pair.id))
        with st.container(horizontal=True, vertical_alignment="center"):
            for name, side, version in (("Baseline", pair.a, a), ("Candidate", pair.b, b)):
                st.markdown(f"{name}:", width="content")
                widgets.verdict_badge(side.verdict if side else None)
                if side is not None:
                    widgets.link_to("case", "open", {"id": version.run_id}, case=side.case_id)
        if pair.note:
            st.caption(widgets.escaped(pair.note))
        if pair.a is None or pair.b is None:
            st.info(
                "There is nothing to hold it against.",
                title=f"Only the {'candidate' if pair.a is None else 'baseline'} has this case",
            )
            return
        found = comparisons.difference(a, b, pair.a.case_id, pair.b.case_id)
        if found is None:
            st.info("Its run was deleted a moment ago.", title="This case is not there any more")
            return
        _reasons(found)
        _answer(found)
        _passages(found)
        _claims(found)
        _scores(found)


def _reasons(found: CaseDifference) -> None:
    if found.reasons_a == found.reasons_b:
        if found.reasons_b:
            st.caption(f"Reasons in both: {widgets.escaped(_said(found.reasons_b))}")
        return
    widgets.facts({"Baseline, why": _said(found.reasons_a), "Candidate, why": _said(found.reasons_b)})


def _said(reasons: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(reason(each) for each in reasons)) or wording.MISSING


def _answer(found: CaseDifference) -> None:
    st.markdown("**Answer**")
    if not found.answer:
        st.caption("Neither run gave an answer.")
        return
    if all(operation == "same" for operation, _ in found.answer):
        st.caption("The same in both runs.")
        widgets.quote("".join(text for _, text in found.answer), height=160)
        return
    st.caption("Struck through: only in the baseline. Underlined: only in the candidate.")
    left = widgets.SHOWN_CHARACTERS
    parts: list[str] = []
    for operation, text in found.answer:
        text = text[: max(left, 0)]
        left -= len(text)
        style = _STYLES.get(operation)
        tag = "del" if operation == "removed" else "ins"
        parts.append(
            f'<{tag} style="color:inherit;{style}">{html.escape(text)}</{tag}>'
            if style
            else html.escape(text)
        )
    st.html(
        f'<div dir="auto" style="white-space:pre-wrap;overflow-wrap:anywhere;max-height:320px;overflow-y:auto">{"".join(parts)}</div>'
    )


def _passages(found: CaseDifference) -> None:
    moved = [each for each in found.chunks if each.move != "stayed"]
    if not found.chunks:
        return
    st.markdown("**Passages**")
    if not moved:
        st.caption("The same passages at the same ranks.")
        return
    lines = {}
    for each in moved:
        name = wording.shortened(each.title or each.chunk_id, 60)
        relevant = " · relevant" if (each.grade_b if each.grade_b is not None else each.grade_a or 0) else ""
        ranks = f"rank {each.rank_a or wording.MISSING} → {each.rank_b or wording.MISSING}"
        lines[f"{MOVES.get(each.move, each.move)}, {ranks}"] = f"{name}{relevant}"
    widgets.facts(lines)


def _claims(found: CaseDifference) -> None:
    if not found.claims:
        return
    st.markdown("**Claims judged differently**")
    for each in found.claims[:12]:
        before, after = (
            CLAIMS.get(label or "", label or wording.MISSING) for label in (each.label_a, each.label_b)
        )
        st.caption(widgets.escaped(f"{each.claim_type} claim: {before} → {after}"))
        widgets.quote(each.claim)
    if len(found.claims) > 12:
        st.caption(f"{wording.count(len(found.claims) - 12)} more stand on the case's page.")


def _scores(found: CaseDifference) -> None:
    moved = [each for each in found.scores if each.a != each.b]
    if not moved:
        return
    known = descriptions.metrics()
    st.markdown("**Scores that moved**")
    lines = {}
    for each in sorted(moved, key=lambda score: -(abs(score.improvement or 0.0))):
        info = known.get(each.metric, {})
        kind = info.get("kind", "unbounded")
        tone = "" if not each.improvement else "● better" if each.improvement > 0 else "✕ worse"
        lines[str(info.get("title") or wording.title(each.metric))] = (
            f"{wording.value(each.a, kind)} → {wording.value(each.b, kind)}  {tone}"
        )
    widgets.facts(lines)
