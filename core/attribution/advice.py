"""What to do next: ranked, deduplicated, each with its evidence, its size and the command that tests it."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any

from core.attribution.grid import CORRECT, Grid
from core.attribution.taxonomy import taxonomy
from core.attribution.trace import SETTING, Trace
from core.statistics.intervals import wilson

if TYPE_CHECKING:
    import pandas as pd

MAX_ITEMS = 8
SETTINGS_FILE = "settings.json"


def advise(
    trace: Trace,
    grid: Grid,
    tables: dict[str, pd.DataFrame],
    winner: dict[str, Any],
    target: int | None,
    folder: str,
) -> dict[str, Any]:
    """`quality_advisor.json`. The size of an item is the share of all questions it concerns in the target
    configuration: what repairing it completely could gain at most, with a Wilson interval."""
    items = [*_component_items(grid, tables, target, folder), *_factor_items(grid, tables, target, folder)]
    merged = _deduplicated(items)
    failures = tables["failure_attribution"]
    return {
        "n_questions": len(grid.questions),
        "component_counts": dict(Counter(failures["likely_component"])) if len(failures) else {},
        "issue_counts": dict(Counter(failures["advisor_issue"])) if len(failures) else {},
        "priority_counts": dict(Counter(item["priority"] for item in merged)),
        "top_recommendations": merged[:MAX_ITEMS],
        "summary_recommendations": [
            f"{item['priority']} {item['issue']}: {item['recommendation']}" for item in merged[:3]
        ],
        "benchmark_warnings": benchmark_warnings(trace, winner),
        "health": _health(trace, grid, target),
        "evidence_graph": None,
    }


def benchmark_warnings(trace: Trace, winner: dict[str, Any]) -> list[str]:
    """What the question set cannot show."""
    frame, found = trace.frame, []
    if frame.empty:
        return ["no question was asked"]
    questions = frame.drop_duplicates("question_id")
    unknown = [None] * len(questions)
    answerable = questions.get("expected_answerable", unknown)
    if (
        all(value is None or value != value or value for value in answerable)
        and "expected_answerable" in questions
    ):
        found.append("No question is marked unanswerable: declining cannot be measured.")
    gold = questions.get("has_gold", [True] * len(questions))
    missing = sum(1 for has, can in zip(gold, answerable, strict=True) if not has and can is not False)
    if missing:
        found.append(
            f"{missing} answerable question{'s have' if missing > 1 else ' has'} no reference answer."
        )
    if len(questions) < 30:
        found.append(
            f"{len(questions)} questions: intervals are wide, and a ranking by score is mostly chance."
        )
    if winner.get("detectable_difference"):
        found.append(
            f"Differences below about {winner['detectable_difference']:.3f} on the quality scale cannot be found with this question set."
        )
    return found


_READ = (
    "likely_component", "question_id", "evidence_level", "recommended_next_ablation", "next_ablation_config", "causal_evidence",
)  # fmt: skip


def _component_items(
    grid: Grid, tables: dict[str, pd.DataFrame], target: int | None, folder: str
) -> list[dict[str, Any]]:
    failures = tables["failure_attribution"]
    if failures.empty or target is None:
        return []
    mine = failures.loc[failures["experiment"] == grid.names[target], list(_READ)]
    total, items = len(grid.questions), []
    for component, group in mine.groupby("likely_component", sort=True):
        entry = taxonomy()[str(component)]
        concerned = group["question_id"].nunique()
        limits = wilson(concerned, total)
        proven = int((group["evidence_level"] == "counterfactual").sum())
        share = concerned / total
        change = str(group["recommended_next_ablation"].iloc[0])
        config = str(group["next_ablation_config"].iloc[0] or "")
        items.append({
            "component": entry.advisor_component, "priority": _priority(str(component), share), "issue": entry.advisor_issue,
            "evidence": f"{concerned} of {total} questions fail here ({group['causal_evidence'].iloc[0]})" + (f"; {proven} shown by intervention" if proven else ""),
            "recommendation": entry.recommendation, "next_experiment": change, "implementation_hint": entry.next_experiment,
            "success_signal": f"fewer than {concerned} of these questions fail, and no more others do",
            "recommendation_source": "Advisor", "count": concerned, "size": share,
            "size_low": limits.low if limits else None, "size_high": limits.high if limits else None,
            "command": _command(folder, change) if config else "", "question_ids": sorted({str(q) for q in group["question_id"]})[:20],
        })  # fmt: skip
    return items


def _factor_items(
    grid: Grid, tables: dict[str, pd.DataFrame], target: int | None, folder: str
) -> list[dict[str, Any]]:
    """A value that is shown to beat the target's own, family-wise over the sweep."""
    pairs = tables["paired_comparison_summary"]
    if pairs.empty or target is None:
        return []
    name = grid.names[target]
    items = []
    shown = pairs[(pairs["comparison_type"] == "controlled") & (pairs["p_max_t"] <= 0.05)]
    for row in shown[(shown["left_experiment"] == name) | (shown["right_experiment"] == name)].to_dict(
        "records"
    ):
        forward = row["left_experiment"] == name
        gain = float(row["delta"]) * (1 if forward else -1)
        if gain <= 0:
            continue
        value = row["right_value" if forward else "left_value"]
        low, high = (
            (row["delta_low"], row["delta_high"]) if forward else (-row["delta_high"], -row["delta_low"])
        )
        factor = SETTING.get(str(row["factor"]), str(row["factor"]))
        items.append({
            "component": factor, "priority": "P1", "issue": f"{row['factor']} = {value} is better",
            "evidence": f"{gain:+.3f} on the same {row['n_questions']} questions ({low:+.3f} to {high:+.3f}, p {row['p_max_t']:.3f} over the whole sweep)",
            "recommendation": f"Use {row['factor']} = {value}.", "next_experiment": f"{factor} = {value}", "implementation_hint": "",
            "success_signal": "the gain holds on questions that were not used to find it", "recommendation_source": "Advisor",
            "count": int(row["wins" if forward else "losses"]), "size": gain, "size_low": low, "size_high": high,
            "command": _command(folder, f"{factor} = {value}"), "question_ids": [],
        })  # fmt: skip
    return items


def _priority(component: str, share: float) -> str:
    if component == "system_error" and share >= 0.05:
        return "P0"
    return "P1" if share >= 0.10 else ("P2" if share >= 0.03 else "P3")


def _command(folder: str, change: str) -> str:
    setting, _, rest = change.partition(" = ")
    value = rest.split(" (")[0]
    if not value or not setting.replace("_", "").isalnum():
        return ""
    flag = "--" + setting.replace("_", "-")
    if value in ("true", "false"):
        flag, value = (flag, "") if value == "true" else (flag.replace("--", "--no-", 1), "")
    return " ".join(
        part
        for part in (
            "plumbline run",
            shlex.quote(f"{folder}/{SETTINGS_FILE}"),
            flag,
            shlex.quote(value) if value else "",
        )
        if part
    )


def _deduplicated(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One item an issue, the largest; in order of priority and size."""
    best: dict[tuple[str, str], dict[str, Any]] = {}
    for item in items:
        key = (item["component"], item["next_experiment"])
        if key not in best or item["size"] > best[key]["size"]:
            best[key] = item
    return sorted(best.values(), key=lambda i: (i["priority"], -i["size"], i["component"], i["issue"]))


def _health(trace: Trace, grid: Grid, target: int | None) -> dict[str, Any]:
    frame = trace.frame
    if frame.empty or target is None:
        return {}
    mine = frame[frame["experiment"] == grid.names[target]]
    n, errors = len(mine), int((mine["verdict"] == "ERROR").sum())
    passed = int((mine["verdict"] == "PASS").sum())
    limits, broken = wilson(passed, n - errors), wilson(errors, n)
    return {
        "experiment": grid.names[target],
        "pass_rate": passed / (n - errors) if n > errors else None,
        "pass_rate_low": limits.low if limits else None,
        "pass_rate_high": limits.high if limits else None,
        "error_rate": errors / n if n else None,
        "error_rate_high": broken.high if broken else None,
        "metric": CORRECT,
    }
