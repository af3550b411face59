"""The attribution in words, for people who decide: `design_attribution_report.md` and `quality_report.md`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from core.attribution.grid import QUALITY

if TYPE_CHECKING:
    import pandas as pd

    from core.attribution import Attribution

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~])")


def plain(value: Any) -> str:
    """Text from settings, questions or models, so that Markdown shows it as it is."""
    return _MARKUP.sub(r"\\\1", str(value)).replace("\r", " ").replace("\n", " ")


def attribution_report(found: Attribution) -> str:
    """Which choice made it better, by how much, and how sure."""
    summary, tables = found.summary, found.tables
    parts = ["# What made the difference", _coverage(summary)]
    parts.append(f"## The best configuration\n\n{plain(summary['winner'].get('statement', ''))}")
    parts.append(_ranking(tables["configuration_ranking"]))
    parts.append(_effects(tables["design_factor_effects"], summary))
    parts.append(_interactions(tables["design_interactions"]))
    parts.append(_gain(tables["design_gain_shares"]))
    parts.append(_model(tables["design_factor_model"]))
    parts.append(_variance(tables["design_variance_shares"], summary))
    parts.append(_types(tables["task_type_attribution"]))
    parts.append(_components(tables["component_attribution"]))
    parts.append(_groups(tables["group_failure_explanations"]))
    parts.append(_frontier(tables["design_pareto_frontier"], summary))
    parts.append(_costs(tables["cost_latency_attribution"]))
    parts.append(_reading(summary))
    return "\n\n".join(part for part in parts if part) + "\n"


def quality_report(found: Attribution) -> str:
    """What to do next, most important first."""
    advisor, winner = found.advisor, found.summary["winner"]
    health = advisor["health"]
    lines = ["# What to do next"]
    if health.get("pass_rate") is not None:
        lines.append(
            f"{plain(health['experiment'])}: {health['pass_rate']:.0%} of the answered questions pass "
            f"(95 % interval {health['pass_rate_low']:.0%} to {health['pass_rate_high']:.0%}); {health['error_rate']:.0%} ended in an error."
        )
    if winner.get("statement"):
        lines.append(plain(winner["statement"]))
    if not advisor["top_recommendations"]:
        lines.append("Nothing failed that calls for a change.")
    for number, item in enumerate(advisor["top_recommendations"], 1):
        lines.append(_advice(number, item))
    if advisor["benchmark_warnings"]:
        lines.append(
            "## About the question set\n\n"
            + "\n".join(f"- {plain(w)}" for w in advisor["benchmark_warnings"])
        )
    return "\n\n".join(lines) + "\n"


def _advice(number: int, item: dict[str, Any]) -> str:
    size = (
        f"{item['size']:.0%} of the questions"
        if item["count"] and item["recommendation"] and item["size"] <= 1
        else f"{item['size']:+.3f}"
    )
    text = [
        f"## {number}. {plain(item['issue'])} ({item['priority']})",
        f"{plain(item['recommendation'])}",
        f"- Evidence: {plain(item['evidence'])}",
        f"- Size: {size}, at most",
        f"- Try next: {plain(item['next_experiment'])}",
        f"- It worked when: {plain(item['success_signal'])}",
    ]
    if item["command"]:
        text.append(f"- Command: `{item['command'].replace('`', '')}`")
    return "\n".join([text[0], "", text[1], "", *text[2:]])


def _coverage(summary: dict[str, Any]) -> str:
    left_out = "".join(
        f" {plain(name)} is left out: {plain(why)}." for name, why in summary["metrics_left_out"].items()
    )
    scale = "; ".join(
        f"{part.replace('_', ' ')}: {', '.join(map(plain, metrics))}"
        for part, metrics in summary["quality_scale"].items()
    )
    censored = (
        f" {len(summary['censored_experiments'])} configurations were stopped early and stay out."
        if summary["censored_experiments"]
        else ""
    )
    return (
        f"{summary['n_experiments']} configurations on {summary['n_questions']} questions "
        f"({summary['n_clusters']} independent groups): {summary['n_controlled_comparisons']} pairs differ in one setting only, "
        f"{summary['n_confounded_comparisons']} in more, {summary['n_replicate_comparisons']} in none.{censored} "
        f"Quality is one scale for all of them ({scale}).{left_out}"
    )


def _ranking(table: pd.DataFrame) -> str:
    if len(table) < 2:
        return ""
    rows = [
        [
            r["rank"],
            f"{r['rank_low']}–{r['rank_high']}",
            r["band"],
            r["experiment"],
            _interval(r[f"mean_{QUALITY}"], r["quality_low"], r["quality_high"]),
            "yes" if r["tied_with_best"] else "no",
        ]
        for r in table.head(10).to_dict("records")
    ]
    return _table(["rank", "rank, 95 %", "band", "configuration", "quality", "tied with the best"], rows)


def _effects(table: pd.DataFrame, summary: dict[str, Any]) -> str:
    known = table[table["effect"].notna()] if len(table) else table
    if not len(known):
        return (
            "## Effects of single choices\n\nNo two configurations differ in one setting only: no effect can be told apart."
            if summary["n_experiments"] > 1
            else ""
        )
    doubtful = set(summary["effects_in_doubt"])
    order = known.reindex(known["effect"].abs().sort_values(ascending=False, kind="stable").index)
    rows = []
    for r in order.head(20).to_dict("records"):
        note = r["context"] + ("; changes sign with another setting" if r["factor"] in doubtful else "")
        name = r["factor"] + _entailed(r["entails"])
        rows.append(
            [
                name,
                f"{r['baseline_value']} → {r['value']}",
                _interval(r["effect"], r["effect_low"], r["effect_high"], signed=True),
                _p(r["p_max_t"]),
                f"{r['wins']:.0f}/{r['ties']:.0f}/{r['losses']:.0f}",
                note,
            ]
        )
    return "## Effects of single choices\n\n" + _table(
        ["choice", "change", "effect on quality", "p, whole sweep", "better/same/worse", "seen in"], rows
    )


def _entailed(names: Any) -> str:
    """What a switched-on parent brings along; parameters of one component in one word."""
    if not isinstance(names, str) or not names:
        return ""
    short = dict.fromkeys("its own parameters" if "." in name else name for name in names.split(";"))
    return f" (with {', '.join(short)})"


def _interactions(table: pd.DataFrame) -> str:
    shown = table[(table["q_value"] <= 0.05) | table["qualitative"].astype(bool)] if len(table) else table
    if not len(shown):
        return ""
    rows = [
        [
            f"{r['factor_a']} {r['base_a']} → {r['value_a']}",
            f"{r['factor_b']} = {r['base_b']}: {r['effect_a_at_base_b']:+.3f}",
            f"{r['factor_b']} = {r['value_b']}: {r['effect_a_at_value_b']:+.3f}",
            _p(r["q_value"]),
        ]
        for r in shown.head(10).to_dict("records")
    ]
    return "## Choices that depend on each other (exploratory)\n\n" + _table(
        ["choice", "effect where", "effect where", "q"], rows
    )


def _gain(table: pd.DataFrame) -> str:
    if not len(table):
        return ""
    first = table.iloc[0]
    rows = [
        [
            r["factor"],
            f"{r['from_value']} → {r['to_value']}",
            _interval(r["share"], r["share_low"], r["share_high"], signed=True),
            r["method"],
        ]
        for r in table.to_dict("records")
    ]
    return (
        f"## Where the gain comes from\n\n{plain(first['candidate'])} against {plain(first['baseline'])}: {first['total_delta']:+.3f}.\n\n"
        + _table(["choice", "change", "share", "method"], rows)
    )


def _model(table: pd.DataFrame) -> str:
    aliased = table[~table["identifiable"].astype(bool)] if len(table) else table
    if not len(aliased):
        return ""
    lines = [
        f"- {plain(r['factor'])} = {plain(r['value'])}: always changes together with {plain(r['aliased_with'] or 'nothing that varies')}"
        for r in aliased.to_dict("records")
    ]
    return "## What cannot be told apart\n\n" + "\n".join(lines)


def _variance(table: pd.DataFrame, summary: dict[str, Any]) -> str:
    if not summary["variance"]:
        return ""
    of_factors = table[table["share_between_configurations"].notna()] if len(table) else table
    rows = [
        [
            r["component"],
            f"{r['share_between_configurations']:.0%}",
            _number(r["partial_omega_squared"]),
            r["method"],
        ]
        for r in of_factors.to_dict("records")
    ]
    listed = (
        "\n\n" + _table(["choice", "of the variance between configurations", "partial ω²", "grid"], rows)
        if rows
        else ""
    )
    return f"## What the scores vary with\n\n{plain(summary['variance']['statement'])}{listed}"


def _types(table: pd.DataFrame) -> str:
    shown = table[table["q_value"] <= 0.05] if len(table) else table
    if not len(shown):
        return ""
    rows = [
        [
            r["question_type"],
            f"{r['factor']} {r['baseline_value']} → {r['value']}",
            _interval(
                r["mean_controlled_design_quality_delta"],
                r["controlled_delta_ci95_low"],
                r["controlled_delta_ci95_high"],
                signed=True,
            ),
            _p(r["q_value"]),
        ]
        for r in shown.head(10).to_dict("records")
    ]
    return "## Kinds of questions on which a choice works differently (exploratory)\n\n" + _table(
        ["question type", "choice", "effect there", "q"], rows
    )


def _components(table: pd.DataFrame) -> str:
    if not len(table):
        return "## Why cases fail\n\nNo case failed."
    rows = [
        [
            r["label"],
            r["n_failures"],
            _interval(r["share_of_failures"], r["share_low"], r["share_high"], percent=True),
            r["n_counterfactual"],
            r["explanation"],
        ]
        for r in table.to_dict("records")
    ]
    return "## Why cases fail\n\n" + _table(
        ["step", "failures", "share", "shown by intervention", "meaning"], rows
    )


def _groups(table: pd.DataFrame) -> str:
    if not len(table):
        return ""
    lines = [
        f"- **{plain(r['component_label'])}**, {plain(r['question_type'])}: {r['n_cases']} cases ({plain(r['example_question_ids'])}). {plain(r['group_causal_explanation'])} Next: {plain(r['recommended_next_ablation'] or r['advisor_next_experiment'])}"
        for r in table.head(8).to_dict("records")
    ]
    return "## Failures that look alike\n\n" + "\n".join(lines)


def _frontier(table: pd.DataFrame, summary: dict[str, Any]) -> str:
    if len(table) < 2:
        return ""
    price = [name for name in summary["pareto_objectives"] if name != QUALITY]
    if not price:
        return "## Quality against cost\n\nNo cost or time was measured that differs between configurations."
    rows = [
        [
            r["experiment"],
            _interval(r[f"mean_{QUALITY}"], r["quality_low"], r["quality_high"]),
            _number(r["mean_cost_usd"]),
            _number(r["latency_p50_ms"]),
            f"{r['p_on_frontier']:.0%}",
            r["status"] + (", knee" if r["is_knee"] else ""),
        ]
        for r in table[table["p_on_frontier"] >= 0.1].head(10).to_dict("records")
    ]
    return (
        "## Quality against cost\n\n"
        + _table(
            ["configuration", "quality", "USD a question", "median ms", "on the frontier", "status"], rows
        )
        + "\n\nWhere no model is asked, times are warm: what it takes to read a passage for the first time, which configurations of a sweep share, is not in them."
    )


def _costs(table: pd.DataFrame) -> str:
    known = table[table["judge_cost_usd"].notna() & (table["judge_cost_usd"] != 0)] if len(table) else table
    if not len(known):
        return ""
    return f"Judging cost {known['judge_cost_usd'].sum():.4f} USD on top; it is no cost of a configuration."


def _reading(summary: dict[str, Any]) -> str:
    return (
        "## How to read this\n\n"
        f"Here {plain(summary['scope'])}. Intervals are 95 % and come from the spread over questions (or groups of them), never from "
        "counting a question once per configuration. “p, whole sweep” is the chance of any effect this large in a sweep without any; "
        "tables marked exploratory control the share of false finds. A failure is attributed from stored facts, "
        "or by intervention where a repair of that step alone turned the answer right."
    )


def _table(header: list[str], rows: list[list[Any]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(
        [
            *lines,
            *(
                "| " + " | ".join(plain(c) if isinstance(c, str) else str(c) for c in row) + " |"
                for row in rows
            ),
        ]
    )


def _interval(value: Any, low: Any, high: Any, *, signed: bool = False, percent: bool = False) -> str:
    style = ".0%" if percent else ("+.3f" if signed else ".3f")
    if value is None or value != value:
        return "–"
    if low is None or low != low:
        return format(value, style)
    return f"{value:{style}} ({low:{style}} to {high:{style}})"


def _p(value: Any) -> str:
    return "–" if value is None or value != value else ("<.001" if value < 0.001 else f"{value:.3f}")


def _number(value: Any) -> str:
    return "–" if value is None or value != value else f"{value:.4g}"
