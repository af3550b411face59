"""The parts of the causes page: effects of single choices, interactions, gains, where answers fail."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import widgets, wording
from dashboard.charts import causes as charts
from dashboard.charts import differences
from dashboard.parts.advice import advice
from dashboard.queries import runs, sweeps
from dashboard.widgets import choices

PAGE = 10
MOST_EFFECTS = 20
RUNGS = {
    "placebo": "asked again as it was", "deep": "many more passages retrieved", "oracle_ranking": "right passages ranked first",
    "oracle_retrieval": "right passages put in", "gold_context": "only the evidence shown", "gold_answer": "the expected answer given",
    "closed_book": "no passage shown at all",
}  # fmt: skip
LEVELS = {"observed": "observed", "counterfactual": "shown by intervention"}


def sentence(effects: pd.DataFrame, summary: dict[str, Any]) -> str:
    """Which choice changed quality most, and whether that is more than chance."""
    known = effects[effects["effect"].notna()] if len(effects) else effects
    if known.empty:
        return "No two configurations differ in one setting only, so no effect of a single choice can be told apart."
    largest = known.iloc[int(known["effect"].abs().to_numpy().argmax())]
    text = f"The largest effect: {_choice(largest)} changes quality by {wording.points(largest['effect'])}"
    text += (
        f", 95 % interval {wording.signed(largest['effect_low'])} to {wording.signed(largest['effect_high'])}"
        if pd.notna(largest["effect_low"])
        else ""
    )
    sure = known[(known["effect_low"] > 0) | (known["effect_high"] < 0)]
    text += ". " if len(sure) else "; no effect is larger than chance on this question set. "
    return (
        f"{text}{wording.plural(int(summary.get('n_controlled_comparisons') or 0), 'pair')} of configurations differ in one choice only, "
        f"{wording.count(int(summary.get('n_confounded_comparisons') or 0))} in several."
    )


def _choice(row: Any) -> str:
    return _change(row["factor"], row["baseline_value"], row["value"])


def _change(factor: Any, before: Any, after: Any, between: str = " ") -> str:
    return f"{wording.spelled(str(factor))}{between}{_word(before)} → {_word(after)}"


def _word(value: Any) -> str:
    return {"true": "on", "false": "off", "None": wording.MISSING}.get(
        str(value), wording.shortened(wording.spelled(str(value)), 40)
    )


def forests(effects: pd.DataFrame) -> None:
    """Effects of single choices, those from controlled pairs apart from those mixed with other changes."""
    if effects.empty:
        return
    controlled = effects[effects["effect"].notna()]
    confounded = effects[
        effects["effect"].isna()
        & ~effects["is_baseline"].astype(bool)
        & effects["mean_paired_design_quality_delta"].notna()
    ]
    if len(controlled):
        rows = [_effect(row, "effect", "effect_low", "effect_high") for row in controlled.to_dict("records")]
        sure = sum(row["change"] in ("better", "worse") for row in rows)
        finding = (
            f"{wording.count(sure)} of {wording.plural(len(rows), 'choice')} changed quality beyond chance"
        )
        _forest(
            rows,
            finding,
            "controlled: exactly this choice differs; effect on quality, 95 % interval over questions",
            "controlled",
        )
    if len(confounded):
        names = ("mean_paired_design_quality_delta", "paired_delta_ci95_low", "paired_delta_ci95_high")
        rows = [_effect(row, *names) for row in confounded.to_dict("records")]
        _forest(
            rows,
            "Mixed with other changes: no single choice can be credited",
            "confounded: other choices differ as well",
            "confounded",
        )


def _effect(row: dict[Any, Any], value: str, low: str, high: str) -> dict[str, Any]:
    down, up = row[low], row[high]
    known = pd.notna(down) and pd.notna(up)
    change = "better" if known and down > 0 else "worse" if known and up < 0 else "unclear"
    detail = f"{wording.points(row[value])}; {int(row['n_controlled_comparisons'] or 0)} controlled pairs, {int(row['n_questions'])} questions"
    if row.get("entails"):
        detail += f"; brings along {row['entails']}"
    return {
        "title": _change(row["factor"], row["baseline_value"], row["value"], "\n"),
        "delta": row[value],
        "low": down,
        "high": up,
        "change": change,
        "detail": detail,
    }


def _forest(rows: list[dict[str, Any]], finding: str, note: str, key: str) -> None:
    shown = sorted(rows, key=lambda row: -abs(row["delta"]))[:MOST_EFFECTS]
    if len(rows) > MOST_EFFECTS:
        note += f"; the {MOST_EFFECTS} largest of {len(rows)}"
    shown.sort(key=lambda row: -row["delta"])
    frame = pd.DataFrame(shown)
    widgets.chart(differences.differences, frame, finding, note, key=f"forest_{key}")


def interactions(table: pd.DataFrame) -> None:
    """Choices that depend on each other."""
    if table.empty:
        st.caption(
            "Not enough configurations cross two choices, so nothing can be said about choices that depend on each other."
        )
        return
    shown = table.reindex(table["interaction"].abs().sort_values(ascending=False).index).head(24)
    frame = pd.DataFrame(
        [
            {
                "a": _change(row["factor_a"], row["base_a"], row["value_a"], "\n"),
                "b": _change(row["factor_b"], row["base_b"], row["value_b"]),
                "value": row["interaction"],
                "shown": wording.signed(row["interaction"]),
                "detail": f"{wording.points(row['effect_a_at_base_b'])} with {_word(row['base_b'])}, {wording.points(row['effect_a_at_value_b'])} with {_word(row['value_b'])}"
                + (f"; q {row['q_value']:.2f}" if pd.notna(row["q_value"]) else ""),
            }
            for row in shown.to_dict("records")
        ]
    )
    sure = int((table["q_value"].fillna(1) <= 0.05).sum())
    finding = (
        f"{wording.plural(sure, 'pair')} of choices depend on each other"
        if sure
        else "No two choices are shown to depend on each other"
    )
    note = "points that two choices give together beyond what they give one by one; exploratory"
    widgets.chart(charts.interactions, frame, finding, note, key="interactions")


def gains(table: pd.DataFrame, names: dict[str, str]) -> None:
    """How the gain of the best over the baseline divides over its choices."""
    if table.empty:
        return
    first = table.iloc[0]
    rows = [
        {
            "title": _change(row["factor"], row["from_value"], row["to_value"], "\n"),
            "delta": row["share"], "low": row["share_low"], "high": row["share_high"],
            "change": "better" if pd.notna(row["share_low"]) and row["share_low"] > 0 else "worse" if pd.notna(row["share_high"]) and row["share_high"] < 0 else "unclear",
            "detail": f"{wording.points(row['share'])} by {row['method']}",
        }
        for row in table.to_dict("records")
    ]  # fmt: skip
    st.subheader("Where the gain comes from")
    finding = f"The best gains {wording.points(first['total_delta'])} over the baseline"
    note = f"{names.get(first['candidate'], first['candidate'])} against {names.get(first['baseline'], first['baseline'])}; Shapley shares"
    widgets.chart(differences.differences, pd.DataFrame(rows), finding, note, key="gains")


def variance(table: pd.DataFrame, summary: dict[str, Any]) -> None:
    """What the scores vary with: questions, configurations, and of these the single choices."""
    found = summary.get("variance")
    if table.empty or not found:
        return
    st.subheader("What the scores vary with")
    st.markdown(widgets.escaped(found["statement"]))
    of_choices = table[table["share_between_configurations"].notna()]
    if of_choices.empty:
        return
    rows = [
        {
            "choice": " × ".join(wording.spelled(str(part)) for part in str(row["component"]).split(" × ")),
            "of what differs between configurations": wording.rate(row["share_between_configurations"]),
        }
        for row in of_choices.sort_values("share_between_configurations", ascending=False).to_dict("records")
    ]
    part = st.expander("Of which single choices", on_change="rerun", key="variance_open")
    if part.open:
        with part:
            st.dataframe(
                rows,
                hide_index=True,
                width="content",
                alt="Share of each choice in what differs between configurations",
            )
        if "balanced" not in set(of_choices["method"]):
            st.caption(
                "Not every combination was run, so a share is only what no other choice can explain; shares do not add up to 100 %."
            )


def of_run(headline: Any) -> None:
    """The same for one run: where its answers fail and what to try next. Effects need a sweep."""
    run = runs.run(widgets.chosen_run(titled=True))
    summary = sweeps.one(run.id, "design_attribution_summary")
    if not summary and run.sweep_id:
        st.info("This run belongs to a sweep, whose configurations are explained together.")
        widgets.link_to("causes", "Open the causes of its sweep", sweep=run.sweep_id)
        st.stop()
    if not summary:
        text = "Failures of a run are attributed when it is complete; audits say why in their own tests."
        st.info(text, title="Nothing is attributed for this run")
        st.stop()
    columns = {"experiment": run.name, "run_id": run.id, "label": run.name, "settings": run.settings}
    names = {run.name: run.name}
    headline.markdown(widgets.escaped(_run_sentence(run.name, sweeps.table(run.id, "component_attribution"))))
    st.header("Where answers fail")
    failures(run.id, names, {run.name: run.id})
    st.header("What should I try next?")
    advice(run.id, pd.DataFrame([columns]), names)
    st.caption(
        "Which design choice makes a difference is seen in a sweep; each proposal above can start one."
    )


def _run_sentence(name: str, components: pd.DataFrame) -> str:
    if components.empty:
        return f"No case of {name} failed."
    top = components.iloc[int(components["n_failures"].to_numpy().argmax())]
    return (
        f"{wording.count(int(components['n_failures'].sum()))} of {wording.plural(int(components['n_rows'].max()), 'answer')} of {name} fail; "
        f"most of them at {str(top['label']).lower()} ({wording.count(int(top['n_failures']))})."
    )


def failures(sweep_id: str, names: dict[str, str], run_ids: dict[str, str]) -> None:
    """From all answers to those that pass, by the component that failed; each opens its cases."""
    components = sweeps.table(sweep_id, "component_attribution")
    if components.empty:
        st.success("No case failed, so there is nothing to attribute.")
        return
    total = int(components["n_rows"].max())
    left, rows = (
        total,
        [{"step": "All answers", "start": 0, "end": total, "look": "N/A", "shown": wording.count(total)}],
    )
    for row in components.sort_values("n_failures", ascending=False).to_dict("records"):
        n = int(row["n_failures"])
        rows.append(
            {
                "step": row["label"],
                "start": left - n,
                "end": left,
                "look": "FAIL",
                "shown": f"{wording.MINUS}{wording.count(n)}",
            }
        )
        left -= n
    rows.append({"step": "Not failed", "start": 0, "end": left, "look": "PASS", "shown": wording.count(left)})
    top = components.iloc[int(components["n_failures"].to_numpy().argmax())]
    finding = f"Most is lost at {str(top['label']).lower()}: {wording.count(int(top['n_failures']))} of {wording.count(int(components['n_failures'].sum()))} failures"
    note = f"n = {wording.plural(total, 'answer')}" + (" of all configurations" if len(names) > 1 else "")
    widgets.chart(charts.waterfall, pd.DataFrame(rows), finding, note, key="waterfall")
    listed = sweeps.table(sweep_id, "failure_attribution")
    if not listed.empty:
        _failed_cases(listed, components, names, run_ids)


def _failed_cases(
    listed: pd.DataFrame, components: pd.DataFrame, names: dict[str, str], run_ids: dict[str, str]
) -> None:
    about = {row["component"]: row for row in components.to_dict("records")}
    offered = {name: f"{row['label']} {wording.count(row['n_failures'])}" for name, row in about.items()}
    chosen = choices.chosen_many("component", "Component", offered)
    for name in chosen:
        st.caption(widgets.escaped(f"{about[name]['explanation']} {about[name]['recommendation']}"))
    shown = listed[listed["likely_component"].isin(chosen)] if chosen else listed
    pages = -(-len(shown) // PAGE)
    number = st.pagination(pages, key="failure_page", bind="query-params") if pages > 1 else 1
    for row in shown.iloc[(number - 1) * PAGE : number * PAGE].to_dict("records"):
        with st.container(horizontal=True, vertical_alignment="top", gap="small"):
            widgets.verdict_badge(row["verdict"])
            with st.container(gap=None):
                run_id = run_ids.get(row["experiment"])
                text = wording.shortened(str(row["question"]), 140) or str(row["question_id"])
                if run_id:
                    widgets.link_to("case", text, {"id": run_id}, case=row["question_id"])
                else:
                    st.markdown(widgets.escaped(text))
                parts = [
                    row["component_label"],
                    row["evidence"],
                    LEVELS.get(row["evidence_level"], row["evidence_level"]),
                    names.get(row["experiment"], row["experiment"]),
                ]
                st.caption(widgets.escaped(" · ".join(str(part) for part in parts if part)))


def ladder(table: pd.DataFrame, names: dict[str, str]) -> None:
    """What each repair of one step alone would bring."""
    if table.empty:
        return
    st.subheader("What if one step were perfect?")
    st.caption(
        widgets.escaped(
            f"Measured on {names.get(table.iloc[0]['experiment'], table.iloc[0]['experiment'])}: each line repairs one step more than the one before."
        )
    )
    frame = pd.DataFrame(
        [
            {
                "title": RUNGS.get(row["rung"], wording.title(row["rung"])), "delta": row["step"], "low": row["step_low"], "high": row["step_high"],
                "change": "better" if pd.notna(row["step_low"]) and row["step_low"] > 0 else "unclear",
                "detail": f"{wording.rate(row['pass_rate'])} pass; {row['gained']} gained, {row['lost']} lost of {row['n_questions']}",
            }
            for row in table.to_dict("records")
            if pd.notna(row["step"])
        ]
    )  # fmt: skip
    if len(frame):
        best = frame.iloc[int(frame["delta"].to_numpy().argmax())]
        finding = (
            f"Most to gain: {best['title']} ({wording.points(best['delta'])})"
            if best["delta"] > 0
            else "No repair of a single step turns failures into passes"
        )
        note = "change of the pass rate, 95 % interval"
        widgets.chart(differences.differences, frame, finding, note, key="ladder")
