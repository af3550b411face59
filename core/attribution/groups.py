"""`group_failure_explanations.csv`: failures of one configuration that look alike, and what its neighbours did about
them (statistics.md 6.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from core.attribution.causes import top
from core.attribution.effects import published
from core.attribution.grid import COMPONENTS, CORRECT, Grid
from core.attribution.pairs import Pairs
from core.attribution.taxonomy import taxonomy
from core.statistics.intervals import wilson
from core.statistics.multiplicity import benjamini_hochberg
from core.statistics.paired import mcnemar_midp

if TYPE_CHECKING:
    import pandas as pd

GROUP_COLUMNS = [
    "likely_component", "component_label", "component_explanation", "primary_error_reason", "question_type", "n_cases",
    "example_question_ids", "top_observed_fixes", "top_pairwise_improvements", "likely_design_causes", "confidence", "q_value",
    "group_causal_explanation", "advisor_recommendation", "advisor_next_experiment", "recommended_next_ablation",
    "top_retrievers", "top_chunking_strategies", "top_context_modes", "n_counterfactual",
    *[f"mean_{name}" for name in COMPONENTS],
]  # fmt: skip


_KEYS = ("likely_component", "primary_error_reason", "question_type")
_READ = (
    *_KEYS, "question_id", "question", "evidence_level", "recommended_next_ablation", "retriever", "chunking_strategy",
    "context_mode", *COMPONENTS,
)  # fmt: skip


def group_table(grid: Grid, pairs: Pairs, failures: pd.DataFrame, target: int) -> pd.DataFrame:
    """Groups of the target configuration's failures by component, reason and question type, largest first.

    For each controlled neighbour: how many of the group it turns right (with a Wilson interval), how many other
    questions it breaks, mid-p of gains against losses over all questions, and its q-value over the table.
    `confidence` is strong (q ≤ .05), moderate (fixes more than it breaks by three or more) or weak.
    """
    import pandas as pd

    mine = failures[failures["experiment"] == grid.names[target]] if len(failures) else failures
    if mine.empty:
        return pd.DataFrame(columns=GROUP_COLUMNS)
    mine = mine[[name for name in _READ if name in mine]]  # each group is a slice of every column
    place = {q: i for i, q in enumerate(grid.questions)}
    keys = list(_KEYS)
    rows, evidence = [], []
    for values, group in mine.fillna(dict.fromkeys(keys, "")).groupby(keys, sort=True):
        questions = np.array(sorted({place[str(q)] for q in group["question_id"]}))
        found = _neighbours(grid, pairs, target, questions)
        evidence.append(found)
        rows.append(_row(dict(zip(keys, values, strict=True)), group, found))
    q_values = iter(benjamini_hochberg([f["p"] for found in evidence for f in found]))
    for row, found in zip(rows, evidence, strict=True):
        for neighbour in found:
            neighbour["q"] = next(q_values)
        row |= _causes(found)
    frame = pd.DataFrame(rows, columns=GROUP_COLUMNS)
    return frame.sort_values(["n_cases", *keys], ascending=[False, True, True, True], ignore_index=True)


def _neighbours(grid: Grid, pairs: Pairs, target: int, questions: Any) -> list[dict[str, Any]]:
    correct = grid.scores.get(CORRECT)
    found: list[dict[str, Any]] = []
    if correct is None:
        return found
    touching = np.flatnonzero((pairs.factor >= 0) & ((pairs.left == target) | (pairs.right == target)))
    for p in touching:
        other = int(pairs.right[p] if pairs.left[p] == target else pairs.left[p])
        factor = grid.factors[int(pairs.factor[p])]
        change = correct[other] - correct[target]
        fixed, gained, lost = (
            int((change[questions] > 0.5).sum()),
            int((change > 0.5).sum()),
            int((change < -0.5).sum()),
        )
        if not fixed:
            continue
        limits = wilson(fixed, len(questions))
        found.append({
            "factor": published(factor.name), "from": factor.label(int(factor.codes[target])), "to": factor.label(int(factor.codes[other])),
            "fixed": fixed, "n": len(questions), "low": limits.low if limits else 0.0, "high": limits.high if limits else 1.0,
            "gained": gained, "lost": lost, "p": mcnemar_midp(gained, lost),
        })  # fmt: skip
    return sorted(found, key=lambda f: (f["lost"] - f["gained"], -f["fixed"], f["factor"], f["to"]))


def _row(key: dict[str, Any], group: pd.DataFrame, found: list[dict[str, Any]]) -> dict[str, Any]:
    entry = taxonomy()[key["likely_component"]]
    row: dict[str, Any] = key | {
        "component_label": entry.label,
        "component_explanation": entry.explanation,
        "n_cases": len(group),
        "example_question_ids": ";".join(sorted({str(q) for q in group["question_id"]})[:5]),
        "top_observed_fixes": "; ".join(
            f"{f['factor']} = {f['to']} fixes {f['fixed']} of {f['n']} ({f['low']:.0%} to {f['high']:.0%})"
            for f in found[:3]
        ),
        "top_pairwise_improvements": "; ".join(
            f"{f['factor']} {f['from']} → {f['to']}: {f['gained']} gained, {f['lost']} lost"
            for f in found[:3]
        ),
        "advisor_recommendation": entry.recommendation,
        "advisor_next_experiment": entry.next_experiment,
        "recommended_next_ablation": top(group["recommended_next_ablation"]),
        "n_counterfactual": int((group["evidence_level"] == "counterfactual").sum()),
    }
    for column, name in (
        ("retriever", "top_retrievers"),
        ("chunking_strategy", "top_chunking_strategies"),
        ("context_mode", "top_context_modes"),
    ):
        row[name] = top(group[column]) if column in group else ""
    for name in COMPONENTS:
        known = group[name].dropna()
        row[f"mean_{name}"] = float(known.astype(float).mean()) if len(known) else None
    return row


def _causes(found: list[dict[str, Any]]) -> dict[str, Any]:
    helpful = [f for f in found if f["gained"] > f["lost"]]
    if not helpful:
        words = (
            "no setting that was tried helps on balance"
            if found
            else "no neighbouring configuration turns one of these right"
        )
        return {
            "likely_design_causes": "",
            "confidence": "weak",
            "q_value": None,
            "group_causal_explanation": f"{words[0].upper()}{words[1:]}.",
        }
    best = helpful[0]
    strong = best["q"] is not None and best["q"] <= 0.05
    confidence = "strong" if strong else ("moderate" if best["gained"] - best["lost"] >= 3 else "weak")
    return {
        "likely_design_causes": " | ".join(dict.fromkeys(f["factor"] for f in helpful[:8])),
        "confidence": confidence,
        "q_value": best["q"],
        "group_causal_explanation": (
            f"With {best['factor']} = {best['to']} instead of {best['from']}, {best['fixed']} of these {best['n']} are right; "
            f"over all questions {best['gained']} are gained and {best['lost']} lost."
        ),
    }
