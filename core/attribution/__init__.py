"""Why: which design choice made a difference, and which step failed. Reads results; runs nothing.

`attribute(trace)` turns one long table (`core.attribution.trace`) into the published tables and a summary;
`core.attribution.reports.write` puts them into a run folder.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from core.attribution import (
    advice,
    causes,
    comparisons,
    costs,
    effects,
    fixes,
    groups,
    slices,
    structure,
    variance,
    winner,
)
from core.attribution.grid import QUALITY, Grid, build_grid, cells_of
from core.attribution.pairs import find_pairs
from core.attribution.taxonomy import COLUMNS, taxonomy
from core.attribution.trace import PUBLISHED, Trace, shown

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Attribution:
    """Published tables by file name without ending, the summary, and the advice. Tables always have their columns,
    also when empty."""

    tables: dict[str, pd.DataFrame]
    summary: dict[str, Any]
    advisor: dict[str, Any]


def attribute(
    trace: Trace,
    *,
    ladder: pd.DataFrame | None = None,
    target: str | None = None,
    folder: str = ".",
    seed: int = 0,
) -> Attribution:
    """Everything that can be said about why. `ladder` are outcomes of the oracle ladder (experiment, question_id, a
    column per rung); `target` the configuration whose failures are explained (the best by default); `folder` is
    where its settings will stand, for the commands in the advice."""
    started = time.perf_counter()
    grid = build_grid(trace)
    pairs = find_pairs(grid)
    tables: dict[str, pd.DataFrame] = {}
    tables["configuration_ranking"], best = winner.winner_table(grid, seed=seed)
    chosen = target if target in grid.names else best.get("best")
    at = grid.names.index(chosen) if chosen in grid.names else (0 if grid.names else None)
    summary = comparisons.pair_summary(grid, pairs, seed=seed)
    tables["paired_comparison_summary"] = summary
    tables["paired_design_comparisons"], n_folded = comparisons.comparison_rows(
        grid, pairs, summary, _cells(trace, grid)
    )
    counts = causes.failure_counts(trace)
    tables["design_factor_effects"] = effects.factor_effects(grid, pairs, counts, seed=seed)
    tables["design_factor_blocks"] = effects.factor_blocks(grid, pairs)
    tables["design_factor_trends"] = structure.trends(grid, pairs)
    tables["design_interactions"] = structure.interactions(grid, pairs)
    tables["design_factor_model"] = structure.model(grid)
    tables["design_gain_shares"] = structure.gain(
        grid, pairs, grid.baseline, at if at is not None else grid.baseline
    )
    tables["design_variance_shares"] = variance.variance_shares(grid, trace.frame)
    found = fixes.qualified_fixes(grid, pairs, summary)
    tables["failure_attribution"] = causes.failure_table(
        trace, grid, found, tables["design_factor_effects"], ladder
    )
    tables["component_attribution"] = causes.component_table(trace, tables["failure_attribution"])
    tables["group_failure_explanations"] = groups.group_table(
        grid, pairs, tables["failure_attribution"], at or 0
    )
    tables["task_type_attribution"] = slices.task_type_table(grid, pairs, tables["failure_attribution"])
    tables["failure_taxonomy"] = _taxonomy_table()
    tables["cost_latency_attribution"] = costs.cost_table(trace, grid)
    tables["design_pareto_frontier"], objectives = costs.pareto_table(
        grid, tables["cost_latency_attribution"], seed=seed
    )
    tables["design_trace"] = _design_trace(trace, grid)
    advisor = advice.advise(trace, grid, tables, best, at, folder)
    facts = _summary(trace, grid, tables, best, objectives, n_folded, at)
    facts["runtime_seconds"] = time.perf_counter() - started
    return Attribution(tables, facts, advisor)


def _cells(trace: Trace, grid: Grid) -> dict[str, Any]:
    """(C × Q) codes and categories of the text columns that paired rows show (the first repeat's)."""
    import pandas as pd

    frame = trace.frame
    if frame.empty:
        return {}
    first = frame.drop_duplicates(["experiment", "question_id"])
    rows, columns = cells_of(first, grid.names, grid.questions)
    inside = (rows >= 0) & (columns >= 0)
    found = {}
    for name in ("primary_error_reason", "auto_flag"):
        if name in first:
            text = pd.Categorical(first[name].fillna(""))
            codes = np.full((len(grid.names), len(grid.questions)), -1, dtype=np.int32)
            codes[rows[inside], columns[inside]] = text.codes[inside]
            found[name] = (codes, text.categories)
    return found


def _design_trace(trace: Trace, grid: Grid) -> pd.DataFrame:
    """`design_trace.csv`: the trace with every setting and the quality scale in columns."""
    import pandas as pd

    frame = trace.frame.copy(deep=False)
    names = {c.name: i for i, c in enumerate(trace.configurations)}
    which = (
        frame["experiment"].map(names).to_numpy(dtype=int, na_value=-1)
        if len(frame)
        else np.zeros(0, dtype=int)
    )
    settings = dict.fromkeys(name for c in trace.configurations for name in c.design)
    for name in settings:
        values = [shown(c.design[name]) if name in c.design else None for c in trace.configurations]
        codes, categories = pd.factorize(pd.Series(values, dtype=object))
        frame[PUBLISHED.get(name, name)] = pd.Categorical.from_codes(codes[which], categories=categories)
    rows, columns = cells_of(frame, grid.names, grid.questions)
    for name in ("retrieval_score", "generation_score", "grounding_score", "kg_score", QUALITY):
        values_ = grid.scores.get(name)
        if values_ is not None and len(frame):
            frame[name] = np.where(rows >= 0, values_[np.maximum(rows, 0), columns], np.nan)
        elif name not in frame:
            frame[name] = np.nan
    frame["design_quality_metric_count"] = sum(len(v) for v in grid.scale.values())
    front = ["experiment", *(PUBLISHED.get(n, n) for n in settings)]
    return frame[[*front, *(c for c in frame.columns if c not in front)]]


def _taxonomy_table() -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        [[getattr(entry, name) for name in COLUMNS] for entry in taxonomy().values()], columns=list(COLUMNS)
    )


def _summary(
    trace: Trace,
    grid: Grid,
    tables: dict[str, pd.DataFrame],
    best: dict[str, Any],
    objectives: list[str],
    n_folded: int,
    at: int | None,
) -> dict[str, Any]:
    kinds = (
        tables["paired_comparison_summary"]["comparison_type"].value_counts().to_dict()
        if len(tables["paired_comparison_summary"])
        else {}
    )
    components = tables["component_attribution"]
    return {
        "n_experiments": len(trace.configurations),
        "n_questions": len(grid.questions),
        "n_trace_rows": len(trace.frame),
        "n_clusters": int(grid.index.max(initial=-1)) + 1,
        "rows": {name: len(table) for name, table in tables.items()},
        "n_controlled_comparisons": int(kinds.get("controlled", 0)),
        "n_confounded_comparisons": int(kinds.get("confounded", 0)),
        "n_replicate_comparisons": int(kinds.get("replicate", 0)),
        "n_controlled_comparisons_in_one_row": n_folded,
        "quality_scale": grid.scale,
        "metrics_left_out": grid.left_out,
        "censored_experiments": [c.name for c in trace.configurations if c.censored],
        "baseline": grid.names[grid.baseline] if grid.names else None,
        "target_experiment": grid.names[at] if at is not None else None,
        "winner": best,
        "pareto_objectives": objectives,
        "effects_in_doubt": sorted(structure.main_effects_to_doubt(tables["design_interactions"])),
        "top_suspected_components": components[["component", "label", "n_failures", "share_of_failures"]]
        .head(5)
        .to_dict("records"),
        "root_cause_recommendations": components[["component", "recommendation", "next_experiment"]]
        .head(4)
        .to_dict("records"),
        "variance": variance.variance_summary(tables["design_variance_shares"]),
        "scope": "effects hold for this corpus, this question set and the settings that were tried",
    }
