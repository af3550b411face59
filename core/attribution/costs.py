"""What each configuration costs, measured, and which of them are worth it (statistics.md 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from core.attribution.effects import published
from core.attribution.grid import CORRECT, QUALITY, Grid
from core.attribution.trace import Trace, shown
from core.statistics.clusters import row_means
from core.statistics.pareto import Frontier, exchange_rates, uncertain_frontier

if TYPE_CHECKING:
    import pandas as pd

MARGINS = {QUALITY: (0.01, False), "cost_usd": (0.05, True), "latency_ms": (0.05, True)}
COST_COLUMNS = [
    "experiment", "n_questions", "n_rows", "total_llm_calls", "mean_llm_calls", "input_tokens", "output_tokens", "total_cost_usd",
    "mean_cost_usd", "judge_cost_usd", "latency_p50_ms", "latency_p95_ms", "runtime_seconds", "runtime_seconds_per_question",
    "index_bytes", "n_chunks",
]  # fmt: skip
PARETO_COLUMNS = [
    "experiment", f"mean_{QUALITY}", "quality_low", "quality_high", f"mean_{CORRECT}", "mean_cost_usd", "mean_llm_calls", "latency_p50_ms",
    "n_questions", "objectives", "is_pareto_optimal", "p_on_frontier", "status", "dominated_by", "p_dominated", "is_epsilon_optimal",
    "is_knee", "knee_share", "lambda_low", "lambda_high", "lambda_unit",
]  # fmt: skip


def cost_table(trace: Trace, grid: Grid) -> pd.DataFrame:
    """A row per configuration. Costs of the system and of the judge stand apart; an unknown price is empty, not 0.
    Latencies are milliseconds per question as the system measured them; `runtime_seconds` is the whole run, and
    excludes stages that another configuration had already computed."""
    import pandas as pd

    frame, rows = trace.frame, []
    groups = (
        {str(name): group for name, group in frame.groupby("experiment", sort=False)} if len(frame) else {}
    )
    stages = sorted(c for c in frame.columns if c.startswith("stage_"))
    factors = list(
        dict.fromkeys(
            published(n) for c in trace.configurations for n in c.design if not n.startswith("input.")
        )
    )
    for configuration in trace.configurations:
        mine = groups.get(configuration.name)
        measured = configuration.measured
        row: dict[str, Any] = {
            name: measured.get(name) for name in ("runtime_seconds", "index_bytes", "n_chunks")
        }
        row["experiment"] = configuration.name
        if mine is not None:
            row |= _measured(mine, stages)
            if row["runtime_seconds"] is not None and row["n_questions"]:
                row["runtime_seconds_per_question"] = row["runtime_seconds"] / row["n_questions"]
        rows.append(row | {published(k): shown(v) for k, v in configuration.design.items()})
    return pd.DataFrame(rows, columns=[*COST_COLUMNS, *(f"mean_{stage}" for stage in stages), *factors])


def pareto_table(grid: Grid, costs: pd.DataFrame, *, seed: int = 0) -> tuple[pd.DataFrame, list[str]]:
    """The frontier with its uncertainty, and the objectives it rests on: quality, and of money and time what is
    measured for every configuration and differs. Money and time are never mixed with proxies."""
    import pandas as pd

    factors = [published(f.name) for f in grid.factors]
    columns = [*PARETO_COLUMNS, *factors]
    quality = grid.scores.get(QUALITY)
    if quality is None or not len(grid.configurations) or np.isnan(quality).all(axis=1).any():
        return pd.DataFrame(columns=columns), []
    objectives = [QUALITY, *(name for name in ("cost_usd", "latency_ms") if _usable(grid, name))]
    front = uncertain_frontier(
        [grid.scores[name] for name in objectives],
        [1 if name == QUALITY else -1 for name in objectives],
        [MARGINS[name][0] for name in objectives],
        [MARGINS[name][1] for name in objectives],
        [int(i) for i in grid.index],
        medians=[name == "latency_ms" for name in objectives],
        seed=seed,
    )
    frame = pd.DataFrame(_pareto_rows(grid, front, objectives, costs), columns=columns)
    order = (
        [f"mean_{QUALITY}"]
        if len(objectives) == 1
        else ["mean_cost_usd", "latency_p50_ms", f"mean_{QUALITY}"]
    )
    frame = frame.sort_values(
        ["is_pareto_optimal", *order, "experiment"],
        ascending=[False, *[name != f"mean_{QUALITY}" for name in order], True],
        ignore_index=True,
    )
    return frame, objectives


def _measured(mine: pd.DataFrame, stages: list[str]) -> dict[str, Any]:
    row: dict[str, Any] = {"n_questions": mine["question_id"].nunique(), "n_rows": len(mine)}
    for name, column in (
        ("total_llm_calls", "llm_call_count"),
        ("input_tokens", "input_tokens"),
        ("output_tokens", "output_tokens"),
    ):
        row[name] = float(mine[column].sum()) if column in mine else None
    row["mean_llm_calls"] = None if row["total_llm_calls"] is None else row["total_llm_calls"] / len(mine)
    for name, column in (("total_cost_usd", "cost_usd"), ("judge_cost_usd", "judge_cost_usd")):
        known = column in mine and bool(mine[column].notna().all())
        row[name] = float(mine[column].astype(float).sum()) if known else None
    row["mean_cost_usd"] = None if row["total_cost_usd"] is None else row["total_cost_usd"] / len(mine)
    latency: Any = mine["latency_ms"].dropna().astype(float) if "latency_ms" in mine else []
    if len(latency):
        row["latency_p50_ms"], row["latency_p95_ms"] = (float(np.quantile(latency, q)) for q in (0.5, 0.95))
    for stage in stages:
        values = mine[stage].dropna()
        row[f"mean_{stage}"] = float(values.astype(float).mean()) if len(values) else None
    return row


def _usable(grid: Grid, name: str) -> bool:
    values = grid.scores.get(name)
    if values is None or np.isnan(values).all(axis=1).any():
        return False
    means = np.nanmean(values, axis=1)
    return bool(np.ptp(means) > 0)


def _pareto_rows(
    grid: Grid, front: Frontier, objectives: list[str], costs: pd.DataFrame
) -> list[dict[str, Any]]:
    by_name: dict[Any, Any] = {row["experiment"]: row for row in costs.to_dict("records")}
    quality = row_means(grid.scores[QUALITY], grid.index)
    price = next((name for name in objectives if name != QUALITY), None)
    rates: dict[int, tuple[float, float]] = {}
    if price is not None:
        paid = (
            np.nanmean(grid.scores[price], axis=1)
            if price == "cost_usd"
            else np.nanmedian(grid.scores[price], axis=1)
        )
        rates = {i: (low, high) for i, low, high in exchange_rates(quality.mean.tolist(), paid.tolist())}
    rows = []
    for c, configuration in enumerate(grid.configurations):
        measured = by_name[configuration.name]
        by = front.dominated_by[c]
        low, high = rates.get(c, (None, None))
        correct = grid.scores.get(CORRECT)
        rows.append({
            "experiment": configuration.name, f"mean_{QUALITY}": quality.mean[c], "quality_low": quality.low[c], "quality_high": quality.high[c],
            f"mean_{CORRECT}": float(np.nanmean(correct[c])) if correct is not None and not np.isnan(correct[c]).all() else None,
            **{name: measured[name] for name in ("mean_cost_usd", "mean_llm_calls", "latency_p50_ms", "n_questions")},
            "objectives": ";".join(objectives), "is_pareto_optimal": bool(front.on_frontier[c]), "p_on_frontier": float(front.probability[c]),
            "status": front.status[c], "dominated_by": grid.names[by] if by is not None else "", "p_dominated": float(front.dominated_share[c]),
            "is_epsilon_optimal": bool(front.epsilon_frontier[c]), "is_knee": front.knee == c, "knee_share": front.knee_share if front.knee == c else None,
            "lambda_low": low, "lambda_high": None if high == float("inf") else high, "lambda_unit": f"quality per {price}" if low is not None else "",
            **{published(f.name): f.label(int(f.codes[c])) for f in grid.factors},
        })  # fmt: skip
    return rows
