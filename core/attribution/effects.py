"""What each design choice changes, from controlled pairs (statistics.md 6.3).

For every question the difference is averaged over the matched blocks; the interval comes from its spread over
questions (clusters). Blocks × questions are never counted as independent rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from core.attribution.grid import COMPONENTS, CORRECT, QUALITY, Factor, Grid
from core.attribution.pairs import Contrast, Pairs, base_level, contrasts, mean_over_blocks, reverse
from core.attribution.trace import PUBLISHED
from core.statistics.clusters import RowMeans, row_means
from core.statistics.multiplicity import benjamini_hochberg, max_t_sign_flip
from core.statistics.power import detectable_mean_difference

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
SMALLEST = 0.01  # of the quality scale: a smaller difference on a question is a tie
MIN_QUESTIONS = 10  # fewer shared questions give a mean and no claim

EFFECT_COLUMNS = [
    "factor", "value", "is_baseline", "baseline_value", "entails", "n_rows", "n_questions", "n_experiments",
    "effect", "effect_low", "effect_high", "p_max_t", "q_value", "correct_effect", "correct_effect_low", "correct_effect_high",
    "n_blocks", "blocks_same_sign", "context", "wins", "ties", "losses", "smallest_effect", "detectable_effect", "n_units",
    "mean_paired_design_quality_delta", "paired_delta_ci95_low", "paired_delta_ci95_high",
    "paired_win_rate", "paired_loss_rate", "paired_tie_rate",
    "mean_controlled_design_quality_delta", "controlled_delta_ci95_low", "controlled_delta_ci95_high",
    "controlled_win_rate", "controlled_loss_rate", "n_paired_comparisons", "n_controlled_comparisons",
    f"mean_{QUALITY}", *[f"mean_{name}" for name in (*COMPONENTS, CORRECT, "latency_ms", "cost_usd")],
    "failure_count", "top_failure_reason",
]  # fmt: skip
BLOCK_COLUMNS = ["factor", "value", "baseline_value", "block", "base_experiment", "value_experiment", "effect", "effect_low", "effect_high", "n_questions"]  # fmt: skip


def published(factor: str) -> str:
    """The published name of a setting's column."""
    return PUBLISHED.get(factor, factor)


def headline_contrasts(grid: Grid, pairs: Pairs) -> list[Contrast]:
    """For every factor, each other level against the baseline's: the family that max-T corrects over."""
    found = {}
    for contrast in contrasts(grid, pairs):
        base = base_level(grid, contrast.factor)
        if contrast.base == base:
            found[(contrast.factor.name, contrast.value)] = contrast
        elif contrast.value == base:
            found[(contrast.factor.name, contrast.base)] = reverse(contrast)
    return list(found.values())


def factor_effects(
    grid: Grid, pairs: Pairs, failures: dict[str, dict[str, int]], *, seed: int = 0
) -> pd.DataFrame:
    """`design_factor_effects.csv`: a row per factor and value. `effect` is value − baseline value on the quality
    scale, None for the baseline itself and where no controlled pair exists; `p_max_t` is family-wise over all rows,
    `q_value` the false discovery rate. `context` says when an effect was seen in one surrounding only.
    `failures` counts primary reasons of failed rows per experiment."""
    import pandas as pd

    chosen = headline_contrasts(grid, pairs)
    quality = grid.scores[QUALITY]
    matrix = np.array([c.differences(quality) for c in chosen]).reshape(len(chosen), len(grid.questions))
    stats = row_means(matrix, grid.index)
    enough = stats.n >= MIN_QUESTIONS
    adjusted = max_t_sign_flip(matrix[enough], flip_units(grid), seed=seed) if enough.any() else []
    p: list[float | None] = [None] * len(chosen)
    for i, value in zip(np.flatnonzero(enough), adjusted, strict=True):
        p[i] = value
    q = benjamini_hochberg([_plain_p(stats, i) if enough[i] else None for i in range(len(chosen))])
    correct = row_means(
        np.array([c.differences(grid.scores[CORRECT]) for c in chosen]).reshape(matrix.shape), grid.index
    )
    by_value = {(c.factor.name, c.value): i for i, c in enumerate(chosen)}
    everything = list(contrasts(grid, pairs))
    rows = []
    for factor in real_factors(grid):
        base = base_level(grid, factor)
        for code in sorted(set(factor.codes.tolist()) - {-1}):
            row = _summary(grid, factor, code, failures)
            row |= {"is_baseline": code == base, "baseline_value": factor.label(base)}
            row |= _against_others(grid, factor, code, everything)
            at = by_value.get((factor.name, code))
            if at is not None:
                row |= _effect(chosen[at], matrix[at], stats, at, quality)
                row |= {"p_max_t": p[at], "q_value": q[at]}
                row |= {
                    "correct_effect": correct.mean[at],
                    "correct_effect_low": correct.low[at],
                    "correct_effect_high": correct.high[at],
                }
            rows.append(row)
    return pd.DataFrame(rows, columns=EFFECT_COLUMNS)


def factor_blocks(grid: Grid, pairs: Pairs) -> pd.DataFrame:
    """Each matched block on its own (the forest): a row per factor, value and pair of configurations."""
    import pandas as pd

    quality, rows = grid.scores[QUALITY], []
    for contrast in headline_contrasts(grid, pairs):
        stats = row_means(quality[contrast.value_side] - quality[contrast.base_side], grid.index)
        for b, (i, j) in enumerate(zip(contrast.base_side, contrast.value_side, strict=True)):
            names = (
                published(contrast.factor.name),
                contrast.factor.label(contrast.value),
                contrast.factor.label(contrast.base),
            )
            rows.append(
                [
                    *names,
                    b,
                    grid.names[i],
                    grid.names[j],
                    stats.mean[b],
                    stats.low[b],
                    stats.high[b],
                    int(stats.n[b]),
                ]
            )
    return pd.DataFrame(rows, columns=BLOCK_COLUMNS)


def real_factors(grid: Grid) -> list[Factor]:
    """Factors with two levels that apply; a child that its parent switches on whole is no factor of its own."""
    return [
        f for f in grid.factors if len(f.levels) >= 2 or not set(f.parents) & {g.name for g in grid.factors}
    ]


def flip_units(grid: Grid) -> Sequence[int] | None:
    """Clusters to flip together; None where questions are independent or clusters are too few."""
    groups = int(grid.index.max(initial=-1)) + 1
    return [int(i) for i in grid.index] if 5 <= groups < len(grid.index) else None


def _plain_p(stats: RowMeans, i: int) -> float:
    from scipy.special import stdtr

    if not stats.se[i] > 0:
        return 1.0 if abs(stats.mean[i]) < 1e-12 else 0.0
    return float(2 * stdtr(max(int(stats.units[i]) - 1, 1), -abs(stats.mean[i] / stats.se[i])))


def _effect(contrast: Contrast, d: Array, stats: RowMeans, i: int, quality: Array) -> dict[str, Any]:
    known = d[~np.isnan(d)]
    wins, losses = int((known > SMALLEST).sum()), int((known < -SMALLEST).sum())
    blocks = row_means(quality[contrast.value_side] - quality[contrast.base_side], np.arange(len(d))).mean
    same = int((np.sign(blocks) == np.sign(stats.mean[i])).sum())
    return {
        "entails": ";".join(published(name) for name in contrast.entails),
        "effect": stats.mean[i],
        "effect_low": stats.low[i],
        "effect_high": stats.high[i],
        "n_blocks": contrast.blocks,
        "blocks_same_sign": same,
        "context": "one context only"
        if contrast.blocks == 1
        else f"{same} of {contrast.blocks} contexts agree",
        "wins": wins,
        "ties": len(known) - wins - losses,
        "losses": losses,
        "smallest_effect": SMALLEST,
        "detectable_effect": detectable_mean_difference(
            int(stats.units[i]), float(stats.se[i]) * np.sqrt(stats.units[i])
        ),
        "n_units": int(stats.units[i]),
    }


def _against_others(grid: Grid, factor: Factor, code: int, everything: Sequence[Contrast]) -> dict[str, Any]:
    """The published columns: this value minus every other one, over all pairs and over controlled pairs."""
    quality = grid.scores[QUALITY]
    mine, others = factor.codes == code, (factor.codes != code) & (factor.codes >= 0)
    row: dict[str, Any] = {"n_paired_comparisons": int(mine.sum() * others.sum())}
    if others.any():
        paired = mean_over_blocks(quality[mine]) - mean_over_blocks(quality[others])
        row |= _rates(paired, grid, "paired_delta", "paired", "mean_paired_design_quality_delta", tie=True)
    sides = [(c.value_side, c.base_side) if c.value == code else (c.base_side, c.value_side) for c in everything if c.factor.name == factor.name and code in (c.value, c.base)]  # fmt: skip
    row["n_controlled_comparisons"] = int(sum(len(a) for a, _ in sides))
    if sides:
        a, b = (np.concatenate(side) for side in zip(*sides, strict=True))
        controlled = mean_over_blocks(quality[a] - quality[b])
        row |= _rates(
            controlled, grid, "controlled_delta", "controlled", "mean_controlled_design_quality_delta"
        )
    return row


def _rates(d: Array, grid: Grid, interval: str, rate: str, mean: str, *, tie: bool = False) -> dict[str, Any]:
    stats = row_means(d[None, :], grid.index)
    known = d[~np.isnan(d)]
    if not len(known):
        return {}
    win, loss = float((known > SMALLEST).mean()), float((known < -SMALLEST).mean())
    row = {mean: stats.mean[0], f"{interval}_ci95_low": stats.low[0], f"{interval}_ci95_high": stats.high[0]}
    row |= {f"{rate}_win_rate": win, f"{rate}_loss_rate": loss}
    return row | ({f"{rate}_tie_rate": 1 - win - loss} if tie else {})


def _summary(grid: Grid, factor: Factor, code: int, failures: dict[str, dict[str, int]]) -> dict[str, Any]:
    mine = np.flatnonzero(factor.codes == code)
    quality = grid.scores[QUALITY][mine]
    counts: dict[str, int] = {}
    for c in mine:
        for reason, n in failures.get(grid.names[c], {}).items():
            counts[reason] = counts.get(reason, 0) + n
    row: dict[str, Any] = {
        "factor": published(factor.name),
        "value": factor.label(code),
        "n_rows": int((~np.isnan(quality)).sum()),
        "n_questions": int((~np.isnan(quality)).any(axis=0).sum()),
        "n_experiments": len(mine),
        "failure_count": sum(counts.values()),
        "top_failure_reason": max(sorted(counts), key=lambda r: counts[r]) if counts else "",
    }
    for name in (QUALITY, *COMPONENTS, CORRECT, "latency_ms", "cost_usd"):
        values = grid.scores.get(name)
        known = values is not None and not np.isnan(values[mine]).all()
        row[f"mean_{name}"] = float(np.nanmean(values[mine])) if known and values is not None else None
    return row
