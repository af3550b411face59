"""What the scores vary with: questions, configurations and their factors, chance between repeats (statistics.md 6.6).

Sums of squares over the questions that every configuration answered. In a balanced grid the shares of the factors
and their interactions between configurations add up to 1; in any other the share is what only this factor explains.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from core.attribution.effects import published, real_factors
from core.attribution.grid import QUALITY, Factor, Grid, quality_of_rows

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
VARIANCE_COLUMNS = [
    "component", "factor_a", "factor_b", "sum_of_squares", "df", "mean_square", "share_of_total",
    "share_between_configurations", "partial_omega_squared", "method", "n_questions", "n_configurations", "n_repeats",
]  # fmt: skip
QUESTION, CONFIGURATION, RESIDUAL, REPEAT = "question", "configuration", "question × configuration", "repeat"


def variance_shares(grid: Grid, frame: pd.DataFrame) -> pd.DataFrame:
    """A row for question, configuration, question × configuration and (with repeats) repeat, whose
    `share_of_total` add up to 1; then one for each factor and, in a balanced grid, each pair of factors and the
    interactions of more, whose `share_between_configurations` add up to 1. `partial_omega_squared` of a factor is
    held against its variation over questions (question × factor mean square), never below 0. Empty with fewer
    than two configurations or two shared questions. `frame` is the trace's (its repeats)."""
    import pandas as pd

    quality = grid.scores[QUALITY]
    shared = np.asarray(~np.isnan(quality).any(axis=0)) if len(quality) else np.zeros(0, dtype=bool)
    y = quality[:, shared]
    c, q = y.shape
    if c < 2 or q < 2:
        return pd.DataFrame(columns=VARIANCE_COLUMNS)
    mean, of_config, of_question = y.mean(), y.mean(axis=1), y.mean(axis=0)
    repeats, within, within_df = _within(grid, frame, shared)
    between = q * float(((of_config - mean) ** 2).sum())
    squares = {
        QUESTION: (c * float(((of_question - mean) ** 2).sum()), q - 1),
        CONFIGURATION: (between, c - 1),
        RESIDUAL: (
            float(((y - of_config[:, None] - of_question + mean) ** 2).sum()),
            (c - 1) * (q - 1),
        ),
    }
    squares = {name: (repeats * ss, df) for name, (ss, df) in squares.items()}
    if within_df:
        squares[REPEAT] = (within, within_df)
    total = sum(ss for ss, _ in squares.values())
    size = {"n_questions": q, "n_configurations": c, "n_repeats": repeats}
    rows = [
        {"component": name, "sum_of_squares": ss, "df": df, "share_of_total": _share(ss, total), **size}
        for name, (ss, df) in squares.items()
    ]
    for row in _factor_rows(grid, y, between):
        ss = row["sum_of_squares"] = repeats * row["sum_of_squares"]
        rows.append({**row, "share_of_total": _share(ss, total), **size})
    for row in rows:
        row["mean_square"] = row["sum_of_squares"] / row["df"] if row["df"] else None
    return pd.DataFrame(rows, columns=VARIANCE_COLUMNS)


def variance_summary(table: pd.DataFrame) -> dict[str, Any] | None:
    """Shares by component and what follows, in a sentence; None without a table."""
    if not len(table):
        return None
    parts = table[table["factor_a"].isna() & (table["component"] != "higher interactions")]
    shares = dict(zip(parts["component"], parts["share_of_total"], strict=True))
    if any(share is None or share != share for share in shares.values()):
        return {"shares": {}, "statement": "All scores are equal: there is nothing to explain."}
    part = {name: f"{100 * share:.0f} %" for name, share in shares.items()}
    said = f"Questions explain {part[QUESTION]} of the variance of quality, the choice of configuration {part[CONFIGURATION]}, and how configurations suit single questions {part[RESIDUAL]}"
    said += f"; repeating the same question {part[REPEAT]}" if REPEAT in part else ""
    if shares[QUESTION] > 2 * shares[CONFIGURATION]:
        said += ". More questions tell more than more configurations"
    return {"shares": {name: float(share) for name, share in shares.items()}, "statement": said + "."}


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole > 1e-12 else None


def _within(grid: Grid, frame: pd.DataFrame, shared: Array) -> tuple[int, float, int]:
    """(repeats of each cell, squares of repeats around their cell's mean, their degrees of freedom); one repeat
    where cells have different numbers of them."""
    rows, columns, values = quality_of_rows(grid, frame)
    kept = (rows >= 0) & (columns >= 0) & ~np.isnan(values)
    kept[kept] &= shared[columns[kept]]
    flat = rows[kept] * len(shared) + columns[kept]
    counts = np.bincount(flat, minlength=len(grid.names) * len(shared))
    present = counts[counts > 0]
    if not len(present) or present.min() != present.max() or present.max() < 2:
        return 1, 0.0, 0
    means = np.bincount(flat, weights=values[kept], minlength=len(counts)) / np.maximum(counts, 1)
    squares = float(((values[kept] - means[flat]) ** 2).sum())
    return int(present.max()), squares, int((present - 1).sum())


def _factor_rows(grid: Grid, y: Array, between: float) -> list[dict[str, Any]]:
    factors = [factor for factor in real_factors(grid) if len(factor.levels) >= 2]
    if _balanced(grid, factors):
        return _balanced_rows(factors, y, between)
    return _unique_rows(factors, y, between)


def _balanced(grid: Grid, factors: list[Factor]) -> bool:
    """Whether every combination of levels was run exactly once."""
    codes = {tuple(int(f.codes[c]) for f in factors) for c in range(len(grid.names))}
    wanted = int(np.prod([len(f.levels) for f in factors])) if factors else 0
    applies = all((f.codes >= 0).all() for f in factors)
    return applies and len(codes) == len(grid.names) == wanted


def _balanced_rows(factors: list[Factor], y: Array, between: float) -> list[dict[str, Any]]:
    of_config, n_questions = y.mean(axis=1), y.shape[1]
    fitted: dict[tuple[int, ...], Array] = {(): np.full(len(y), y.mean())}
    rows, left, df_left = [], between, len(y) - 1
    singles, couples = (itertools.combinations(range(len(factors)), size) for size in (1, 2))
    for names in (*singles, *couples):
        cells = _cell_means(of_config, [factors[i] for i in names])
        lower = sum((fitted[part] for size in range(len(names)) for part in itertools.combinations(names, size)), np.zeros(len(y)))  # fmt: skip
        fitted[names] = cells - lower
        ss = n_questions * float((fitted[names] ** 2).sum())
        df = int(np.prod([len(factors[i].levels) - 1 for i in names]))
        left, df_left = left - ss, df_left - df
        row = _row([factors[i] for i in names], ss, df, between, "balanced")
        if len(names) == 1:
            row["partial_omega_squared"] = _omega(factors[names[0]], y, ss, df)
        rows.append(row)
    if df_left > 0:
        rows.append(
            {**_row([], max(left, 0.0), df_left, between, "balanced"), "component": "higher interactions"}
        )
    return rows


def _unique_rows(factors: list[Factor], y: Array, between: float) -> list[dict[str, Any]]:
    """Of each factor what the additive model loses without it; where it always changes with others, 0."""
    of_config, n_questions = y.mean(axis=1), y.shape[1]
    columns = [_dummies(factor) for factor in factors]
    explained, rank = _explained(columns, of_config)
    rows = []
    for i, factor in enumerate(factors):
        less, less_rank = _explained(columns[:i] + columns[i + 1 :], of_config)
        ss, df = n_questions * max(explained - less, 0.0), rank - less_rank
        row = _row([factor], ss, df, between, "unique (the grid is not balanced)")
        row["partial_omega_squared"] = _omega(factor, y, ss, df) if df else None
        rows.append(row)
    return rows


def _row(factors: list[Factor], ss: float, df: int, between: float, method: str) -> dict[str, Any]:
    names = [published(factor.name) for factor in factors]
    return {
        "component": " × ".join(names),
        "factor_a": names[0] if names else None,
        "factor_b": names[1] if len(names) > 1 else None,
        "sum_of_squares": ss,
        "df": df,
        "share_between_configurations": _share(ss, between),
        "method": method,
    }


def _cell_means(values: Array, factors: list[Factor]) -> Array:
    """Each configuration's value replaced by the mean of those with the same levels."""
    _, cell = np.unique(np.stack([f.codes for f in factors]), axis=1, return_inverse=True)
    cell = cell.ravel()
    return np.asarray((np.bincount(cell, weights=values) / np.bincount(cell))[cell])


def _omega(factor: Factor, y: Array, ss: float, df: int) -> float | None:
    """(SS − df · MSe) / (SS + (N − df) · MSe) with the question × factor mean square as MSe; None where the factor
    does not vary over questions at all."""
    levels = sorted(set(factor.codes.tolist()) - {-1})
    by_level = np.stack([y[factor.codes == level].mean(axis=0) for level in levels])
    weight = np.array([(factor.codes == level).sum() for level in levels], dtype=float)[:, None]
    deviation = by_level - by_level.mean(axis=1, keepdims=True)
    deviation -= (weight * deviation).sum(axis=0) / weight.sum()
    error_df = (y.shape[1] - 1) * (len(levels) - 1)
    error = float((weight * deviation**2).sum()) / error_df if error_df else 0.0
    below = ss + (y.size - df) * error
    return max(0.0, (ss - df * error) / below) if below > 1e-12 else None


def _dummies(factor: Factor) -> Array:
    return np.stack([factor.codes == level for level in sorted(set(factor.codes.tolist()))[1:]], axis=1)


def _explained(columns: list[Array], values: Array) -> tuple[float, int]:
    """Squares of the values around their mean that a linear model of the columns explains, and its rank."""
    design = np.column_stack([np.ones(len(values)), *columns]).astype(float)
    coefficients, _, rank, _ = np.linalg.lstsq(design, values, rcond=None)
    return float(((design @ coefficients - values.mean()) ** 2).sum()), int(rank) - 1
