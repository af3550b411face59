"""The parts of the case page, from the verdict down to what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.records import Case, Run
from dashboard import passages, widgets, wording
from dashboard.charts import palette, verdicts
from dashboard.queries import case as case_queries
from dashboard.queries import cases, descriptions
from dashboard.queries.case import Details
from dashboard.queries.runs import Version
from dashboard.reasons import CLAIMS, FAILURES, LABELS, REASONS, reason

OUTCOMES = {
    "held": "PASS",
    "failed": "FAIL",
    "weak": "WEAK",
    "unchecked": palette.NOT_APPLICABLE,
    "error": "ERROR",
}


def navigation(version: Version, run: Mapping[str, Any]) -> str:
    """Which case; previous, next, and the next one with trouble. Stops with a way out where none was chosen."""
    case_id = st.query_params.get("case", "")
    place = cases.neighbours(version, case_id) if case_id else {}
    with st.container(horizontal=True, vertical_alignment="center"):
        widgets.link_to("verdicts", "All verdicts", run, icon="list")
        for label, name, icon in (
            ("Previous", "previous", "chevron_left"),
            ("Next", "next", "chevron_right"),
            ("Next with trouble", "next_trouble", "skip_next"),
        ):
            if place.get(name) is not None:
                widgets.link_to("case", label, run, icon=icon, case=place[name])
        if place:
            here = f"{wording.count(place['position'])} of {wording.count(place['total'])}"
            st.caption(here, width="content")
        if st.session_state.get("case_entry") != case_id:
            st.session_state["case_entry"] = case_id
        st.text_input(
            "Case id",
            key="case_entry",
            width=200,
            label_visibility="collapsed",
            placeholder="Case id",
            on_change=_entered,
        )
    if not case_id:
        st.title("Case")
        st.info("Open one from the list of verdicts, or enter its id above.", title="No case is chosen")
        st.stop()
    # a link from case to case draws the page anew and leaves the old address in the browser: say it again
    st.query_params.update({"run": run["id"], "case": case_id})
    return case_id


def _entered() -> None:
    st.query_params["case"] = st.session_state["case_entry"]


def chosen_repeat(repeats: int) -> int:
    """Which repeat is shown, counted from 0."""
    if repeats < 2:
        return 0
    chosen = st.segmented_control(
        "Repeat",
        [str(n + 1) for n in range(repeats)],
        default="1",
        required=True,
        key="repeat",
        bind="query-params",
    )
    return int(chosen) - 1 if chosen else 0


def verdict_line(found: Details, run: Run) -> None:
    """The verdict, its reason in one sentence, and how the repeats divide."""
    result, output = found.result, found.output
    with st.container(horizontal=True, vertical_alignment="center"):
        widgets.verdict_badge(result.verdict if result else None, "" if result else " not judged yet")
        if result and result.label:
            st.badge(LABELS.get(result.label, result.label), color="gray", help=f"`{result.label}`")
        if len(found.verdicts) > 1:
            flaky = len(set(found.verdicts)) > 1
            st.badge(
                f"{widgets.repeat_strip(found.verdicts)}{' flaky' if flaky else ''}",
                color="orange" if flaky else "gray",
                help="One mark a repeat, in order",
            )
        for name in result.unchecked if result else ():
            st.badge(f"unchecked: {wording.title(name)}", color="gray", help="This check could not be made")
    if result and result.reasons and result.failure is None:
        said = "; ".join(reason(each) for each in result.reasons)
        widgets.quote(said[:1].upper() + said[1:])
    facts = []
    if output is not None:
        facts = [
            f"answered in {wording.duration(output.latency_ms)}" if output.latency_ms is not None else "",
            wording.money(output.usage.cost_usd) if output.usage else "",
            f"confidence {wording.rate(output.confidence)}" if output.confidence is not None else "",
            "it declined to answer" if output.abstained else "",
        ]
    about = [found.case.question_type and wording.title(found.case.question_type), run.name, *facts]
    st.caption(widgets.escaped(" · ".join(part for part in about if part)))
    failure = (result.failure if result else None) or (output.failure if output else None)
    if failure is not None:
        st.error(
            "This says nothing about quality: the case counts as an error, not as a failure, and moves no mean. "
            "Ask it again with `plumbline run --retry-errors`.",
            title=FAILURES.get(failure.kind, failure.kind).capitalize(),
        )
        widgets.quote("\n".join(part for part in (failure.message, failure.raw_text) if part), height=240)


def question(found: Details) -> None:
    """The whole question where the title is cut, and the turns before it."""
    case = found.case
    if case.conversation:
        st.header("Conversation so far")
        for message in case.conversation:
            st.caption(message.role)
            widgets.quote(message.content)
    if wording.shortened(case.query, 140) != case.query:
        st.header("Question")
        widgets.quote(case.query, height=300)


def answer(found: Details) -> None:
    """The answer, its claims marked by support."""
    st.header("Answer")
    output = found.output
    if output is None:
        st.info("This case was not asked yet.", title="No answer yet")
        return
    if found.case.gold_codes and output.hits:
        with st.container(border=True):
            widgets.quote(_code(output.hits[0].id, found))
        return
    if output.text is None or not output.text.strip():
        st.markdown(
            "*Declined to answer.*"
            if output.abstained
            else "*The answer is empty.*"
            if output.failure is None
            else "*No answer.*"
        )
        return
    marks = []
    for claim in _answer_claims(found):
        place = passages.locate(claim["claim"], output.text)
        if place:
            marks.append((*place, claim["label"]))
    with st.container(border=True):
        widgets.quote(output.text, passages.without_overlaps(marks), height=420)
    if marks:
        st.caption(
            "Underlined: supported by what was retrieved · wavy: contradicted · dotted: not enough information"
        )


def gold(found: Details) -> None:
    """What was expected."""
    case = found.case
    st.header("Expected")
    with st.container(border=True):
        if case.answerable is False:
            st.markdown("*No answer: the documents do not hold one, so declining is right.*")
        if case.gold_answer:
            widgets.quote(case.gold_answer, height=420)
        elif case.gold_codes:
            widgets.quote("\n".join(_code(code, found) for code in case.gold_codes))
        elif wanted := expectations(case):
            widgets.facts(wanted)
        elif case.answerable is not False:
            st.markdown("*No expected answer was given: right and wrong cannot be told apart here.*")
    if case.expected_keywords:
        st.caption("Expected words: " + widgets.escaped(", ".join(case.expected_keywords)))


def _code(code: str, found: Details) -> str:
    """A code with its label, where a candidate shows it."""
    hits = found.output.hits if found.output else ()
    return f"{code} {next((hit.title for hit in hits if hit.id == code), '')}".strip()


def expectations(case: Case) -> dict[str, str]:
    """What an audit asks of an answer, in words: "must mention" → "28 days"."""
    asked = {**(case.options.get("expect") or {}), **(case.options.get("probe") or {})}
    return {
        wording.title(name): ", ".join(map(str, value)) if isinstance(value, list) else wording.setting(value)
        for name, value in asked.items()
        if name not in ("id", "query", "timeout_s", "conversation", "turns", "final_query")
        and value not in (None, False, [], "")
    }


def diagnosis(found: Details) -> None:
    """What went wrong, in plain words."""
    result = found.result
    if result is None or result.diagnosis is None:
        return
    diagnosed = result.diagnosis
    st.header("Diagnosis")
    names = [name for name in (diagnosed.primary_reason, diagnosed.secondary_reason) if name]
    known = [name for name in names if name in REASONS] or names[:1]
    text = "; ".join(dict.fromkeys(reason(name) for name in known))
    st.markdown(
        widgets.escaped(text[:1].upper() + text[1:] + "."), help="\n\n".join(f"`{name}`" for name in names)
    )
    if diagnosed.explanation:
        widgets.quote(diagnosed.explanation)


def claims(found: Details) -> None:
    """The claim table: what was claimed, by whom, and whether it holds."""
    result = found.result
    if result is None or not result.claims:
        return
    st.header("Claims")
    rows = [
        {
            "holds": [f"{palette.look(palette.CLAIM_VERDICTS[claim.label]).mark} {CLAIMS[claim.label]}"],
            "claim": claim.claim,
            "of": "expected answer" if claim.claim_type == "gold" else "answer",
            "held against": _target(claim.target, found),
            "score": wording.rate(claim.score),
            "by": claim.scorer,
        }
        for claim in result.claims
    ]
    labels = [
        f"{palette.look(verdict).mark} {CLAIMS[name]}" for name, verdict in palette.CLAIM_VERDICTS.items()
    ]
    colors = [palette.look(verdict).light for verdict in palette.CLAIM_VERDICTS.values()]
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, alt="Claims and whether they hold",
        column_config={"holds": st.column_config.MultiselectColumn("Holds", options=labels, color=colors),
                       "claim": st.column_config.TextColumn("Claim", width="medium")},
    )  # fmt: skip


def checks(found: Details) -> None:
    """Each assertion about the answer and how it came out."""
    result = found.result
    if result is None or not result.checks:
        return
    st.header("Checks")
    for check in result.checks:
        with st.container(horizontal=True, vertical_alignment="top"):
            shown = palette.look(OUTCOMES[check.outcome])
            st.badge(f"{shown.mark} {check.outcome}", color=shown.badge)  # type: ignore[arg-type]
            score = f" ({wording.rate(check.score)})" if check.score is not None else ""
            st.markdown(
                widgets.escaped(wording.spelled(check.name) + score), help=f"`{check.name}`", width="content"
            )
            if check.detail:
                with st.container(gap=None):
                    widgets.quote(check.detail)


def judgements(found: Details) -> None:
    """What a judge said, with its quote and whether the quote is real."""
    result = found.result
    if result is None or not result.judgements:
        return
    st.header("Judgements")
    for each in result.judgements:
        with st.container(border=True):
            score = wording.rate(each.score) if each.score is not None else each.label or "no judgement"
            st.markdown(
                f"**{widgets.escaped(wording.title(each.rubric))}** {widgets.escaped(score)}",
                help=widgets.escaped(f"{each.provider} {each.model}, rubric version {each.rubric_version}"),
            )
            if each.reasoning:
                widgets.quote(each.reasoning)
            if each.evidence_quote:
                verified = {
                    True: ", and found in the material",
                    False: ", but not found in the material",
                    None: "",
                }
                st.caption(f"Quoted{verified[each.quote_verified]}:")
                widgets.quote(each.evidence_quote)
            if each.failure:
                st.caption(f"No usable judgement: {widgets.escaped(each.failure.message)}")


def all_scores(found: Details) -> None:
    """Every score of the case; a missing one with its reason."""
    result = found.result
    if result is None or not result.scores:
        return
    part = st.expander(f"All {len(result.scores)} scores of this case", on_change="rerun", key="case_scores")
    if not part.open:
        return
    known = descriptions.metrics()
    rows = [
        {
            "score": known.get(name, {}).get("title") or wording.title(name),
            "value": wording.value(number, known.get(name, {}).get("kind", "unbounded")),
            "why missing": reason(result.undefined.get(name, "")) if number is None else "",
            "published name": name,
        }
        for name, number in result.scores.items()
    ]
    part.dataframe(pd.DataFrame(rows), hide_index=True, alt="All scores of this case")


def history(version: Version, run: Run, found: Details) -> None:
    """The same case over the runs of this question set."""
    frame = case_queries.history(found.case.id, run.suite)
    if len(frame) < 2:
        return
    st.header("This case over time")
    pairs = zip(frame["name"], frame["run_id"], strict=True)
    labels = [widgets.run_label({"name": name, "id": run_id}) for name, run_id in pairs]
    frame["run"] = frame["name"] if frame["name"].is_unique else labels
    frame["at"] = [wording.moment(text, n) for n, text in enumerate(frame["created_at"])]
    frame["detail"] = [
        f"{palette.verdict_label(v)}, {wording.date(t)}"
        for v, t in zip(frame["verdict"], frame["created_at"], strict=True)
    ]
    passed = int((frame["verdict"] == "PASS").sum())
    finding = f"Passed in {passed} of {wording.plural(len(frame), 'run')}"
    shown = frame[["run", "at", "verdict", "detail"]]
    widgets.chart(
        verdicts.history,
        shown,
        finding,
        f"runs of {run.suite}, oldest first",
        key="case_history",
    )
    for row in frame.iloc[::-1].head(8).to_dict("records"):
        if row["run_id"] != run.id:
            with st.container(horizontal=True, vertical_alignment="center"):
                widgets.verdict_badge(row["verdict"])
                widgets.link_to(
                    "case", row["name"], {"id": row["run_id"], "name": row["name"]}, case=found.case.id
                )
                st.caption(
                    wording.ago(row["created_at"]), help=wording.date(row["created_at"]), width="content"
                )


def _answer_claims(found: Details) -> list[dict[str, str]]:
    """One row an answer claim: contradicted by the context or the gold, else supported by it, else open."""
    if found.result is None:
        return []
    verdict_of: dict[int, dict[str, str]] = {}
    weight = {"contradicted": 2, "supported": 1, "not_enough_info": 0}
    for claim in found.result.claims:
        if claim.claim_type != "answer" or claim.target not in ("context", "gold"):
            continue
        kept = verdict_of.get(claim.index)
        if kept is None or weight[claim.label] > weight[kept["label"]]:
            verdict_of[claim.index] = {"claim": claim.claim, "label": claim.label}
    return list(verdict_of.values())


def _target(target: str, found: Details) -> str:
    if target.startswith("chunk:") and found.output is not None:
        wanted = target.removeprefix("chunk:")
        rank = next((hit.rank for hit in found.output.hits if hit.id == wanted), None)
        return f"passage {rank}" if rank else "a passage"
    return {"gold": "expected answer", "context": "retrieved passages"}.get(
        target, target.replace("source:", "source ")
    )
