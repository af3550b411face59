"""`paired_design_comparisons.csv`: what each pair of configurations comes to, question by question where it is
controlled, one row a pair where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from core.attribution.effects import SMALLEST, flip_units, published
from core.attribution.grid import CORRECT, QUALITY, Grid
from core.attribution.pairs import CONFOUNDED, CONTROLLED, REPLICATE, Pairs
from core.statistics.clusters import row_means
from core.statistics.multiplicity import max_t_sign_flip

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
MAX_QUESTION_ROWS = 2_000_000
PARTS = ("retrieval_score", "generation_score", "grounding_score", "kg_score")
SUMMARY_COLUMNS = [
    "left_experiment", "right_experiment", "comparison_type", "factor", "left_value", "right_value", "n_other_changed_factors",
    "other_changed_factors", "entails", "n_questions", "delta", "delta_low", "delta_high", "p_max_t",
    "wins", "ties", "losses", "gained", "lost", "same_questions",
]  # fmt: skip
ROW_COLUMNS = [
    "question_id", "question_type", "factor", "left_value", "right_value", "left_experiment", "right_experiment",
    f"left_{QUALITY}", f"right_{QUALITY}", "score_delta_right_minus_left", "comparison_type", "n_other_changed_factors",
    "other_changed_factors", "entails", "n_questions", "delta_low", "delta_high",
    *[f"{side}_{part}" for part in PARTS for side in ("left", "right", "delta")],
    "left_primary_error_reason", "right_primary_error_reason", "left_auto_flag", "right_auto_flag",
]  # fmt: skip


def pair_summary(grid: Grid, pairs: Pairs, *, seed: int = 0) -> pd.DataFrame:
    """One row a pair (right − left). `p_max_t` is family-wise over all controlled pairs; None for the others.
    `gained`/`lost` are questions that turn right or wrong from left to right; `wins`/`ties`/`losses` count at the
    smallest effect on the quality scale."""
    import pandas as pd

    quality, correct = grid.scores[QUALITY], grid.scores.get(CORRECT)
    count = len(pairs.left)
    out = {
        name: np.full(count, np.nan)
        for name in ("delta", "delta_low", "delta_high", "wins", "losses", "n_questions", "gained", "lost")
    }
    step = max(1, 4_000_000 // max(1, len(grid.questions)))
    for start in range(0, count, step):
        block = slice(start, start + step)
        left, right = pairs.left[block], pairs.right[block]
        d = quality[right] - quality[left]
        stats = row_means(d, grid.index)
        out["delta"][block], out["delta_low"][block], out["delta_high"][block] = (
            stats.mean,
            stats.low,
            stats.high,
        )
        out["n_questions"][block] = stats.n
        out["wins"][block], out["losses"][block] = (d > SMALLEST).sum(axis=1), (d < -SMALLEST).sum(axis=1)
        if correct is not None:
            flips = correct[right] - correct[left]
            out["gained"][block], out["lost"][block] = (flips > 0.5).sum(axis=1), (flips < -0.5).sum(axis=1)
    frame = pd.DataFrame(_labels(grid, pairs))
    for name in ("delta", "delta_low", "delta_high"):
        frame[name] = out[name]
    for name in ("n_questions", "wins", "losses", "gained", "lost"):
        frame[name] = np.nan_to_num(out[name]).astype(int)
    frame["ties"] = frame["n_questions"] - frame["wins"] - frame["losses"]
    frame["p_max_t"] = _family(grid, pairs, seed)
    answered = (~np.isnan(quality)).sum(axis=1)
    largest = np.maximum(answered[pairs.left], answered[pairs.right])
    frame["same_questions"] = frame["n_questions"].to_numpy() == largest
    return frame[SUMMARY_COLUMNS]


def comparison_rows(
    grid: Grid, pairs: Pairs, summary: pd.DataFrame, cells: dict[str, Any]
) -> tuple[pd.DataFrame, int]:
    """The published table and the number of controlled pairs that are aggregated to one row, because their rows by
    question would be more than two million. `cells` holds (C × Q) categorical codes and their categories of
    `primary_error_reason` and `auto_flag`."""
    import pandas as pd

    controlled = np.flatnonzero(pairs.factor >= 0)
    room = MAX_QUESTION_ROWS // max(1, len(grid.questions))
    # what touches the baseline comes first when there is no room for all
    touches = (pairs.left[controlled] == grid.baseline) | (pairs.right[controlled] == grid.baseline)
    detailed = np.sort(controlled[np.argsort(~touches, kind="stable")][:room])
    rest = np.setdiff1d(np.arange(len(pairs.left)), detailed)
    by_question = _question_rows(grid, pairs, summary, detailed, cells)
    single = summary.iloc[rest]
    aggregated = pd.DataFrame({name: single[name] for name in ROW_COLUMNS if name in single})
    aggregated["score_delta_right_minus_left"] = single["delta"]
    means = _row_mean(grid.scores[QUALITY])
    aggregated[f"left_{QUALITY}"], aggregated[f"right_{QUALITY}"] = (
        means[pairs.left[rest]],
        means[pairs.right[rest]],
    )
    for part in PARTS:
        if part in grid.scores:
            mean = _row_mean(grid.scores[part])
            sides = mean[pairs.left[rest]], mean[pairs.right[rest]]
            aggregated[f"left_{part}"], aggregated[f"right_{part}"] = sides
            aggregated[f"delta_{part}"] = sides[1] - sides[0]
    joined = _stacked(by_question, aggregated)
    return joined.reindex(columns=ROW_COLUMNS).reset_index(drop=True), len(controlled) - len(detailed)


def _stacked(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Both below each other, texts as categories (a million rows of text would not fit)."""
    import pandas as pd
    from pandas.api.types import union_categoricals

    if first.empty or second.empty:
        return second if first.empty else first
    columns: dict[str, Any] = {}
    for name in ROW_COLUMNS:
        parts = [frame.get(name) for frame in (first, second)]
        if not any(part is not None and isinstance(part.dtype, pd.CategoricalDtype) for part in parts):
            columns[name] = np.concatenate([
                np.full(len(frame), np.nan) if part is None else part.to_numpy(dtype=float, na_value=np.nan)
                for part, frame in zip(parts, (first, second), strict=True)
            ])  # fmt: skip
            continue
        texts = [
            pd.Categorical.from_codes(np.full(len(frame), -1), categories=pd.Index([], dtype=object))
            if part is None
            else pd.Categorical(part.astype(object))
            if not isinstance(part.dtype, pd.CategoricalDtype)
            else part.array
            for part, frame in zip(parts, (first, second), strict=True)
        ]
        texts = [text.set_categories(text.categories.astype(object)) for text in texts]
        columns[name] = union_categoricals(texts)
    return pd.DataFrame(columns)


def _labels(grid: Grid, pairs: Pairs) -> dict[str, Any]:
    """Names and values of every pair; the first changed factor is `factor`, the rest stand in a list."""
    labels = [[f.label(code) for code in range(-1, len(f.levels))] for f in grid.factors]
    names = [published(f.name) for f in grid.factors]
    kinds: list[str] = []
    factors: list[str] = []
    others: list[str] = []
    entails: list[str] = []
    left_values: list[str] = []
    right_values: list[str] = []
    joined: dict[bytes, str] = {}
    for p in range(len(pairs.left)):
        changed = np.flatnonzero(pairs.changed[:, p])
        kinds.append(CONTROLLED if len(changed) == 1 else (CONFOUNDED if len(changed) else REPLICATE))
        first = int(changed[0]) if len(changed) else -1
        factors.append(names[first] if first >= 0 else "")
        for side, target in ((pairs.left, left_values), (pairs.right, right_values)):
            target.append(labels[first][int(grid.factors[first].codes[side[p]]) + 1] if first >= 0 else "")
        key = pairs.entailed[:, p].tobytes()
        if key not in joined:
            joined[key] = ";".join(names[i] for i in np.flatnonzero(pairs.entailed[:, p]))
        entails.append(joined[key])
        others.append(";".join(names[i] for i in changed[1:]))
    return {
        "left_experiment": [grid.names[i] for i in pairs.left],
        "right_experiment": [grid.names[i] for i in pairs.right],
        "comparison_type": kinds,
        "factor": factors,
        "left_value": left_values,
        "right_value": right_values,
        "n_other_changed_factors": np.maximum(pairs.n_changed - 1, 0),
        "other_changed_factors": others,
        "entails": entails,
    }


def _family(grid: Grid, pairs: Pairs, seed: int) -> Array:
    p = np.full(len(pairs.left), np.nan)
    controlled = np.flatnonzero(pairs.factor >= 0)
    if len(controlled):
        quality = grid.scores[QUALITY]
        # thousands of correlated comparisons: fewer draws keep the time bounded, the +1 keeps p valid
        draws = 9_999 if len(controlled) * len(grid.questions) <= 500_000 else 1_999
        d = quality[pairs.right[controlled]] - quality[pairs.left[controlled]]
        p[controlled] = max_t_sign_flip(d, flip_units(grid), seed=seed, resamples=draws)
    return p


def _question_rows(
    grid: Grid, pairs: Pairs, summary: pd.DataFrame, chosen: Array, cells: dict[str, Any]
) -> pd.DataFrame:
    import pandas as pd

    left, right = pairs.left[chosen], pairs.right[chosen]
    both = ~np.isnan(grid.scores[QUALITY][left]) & ~np.isnan(grid.scores[QUALITY][right])
    which, question = np.nonzero(both)
    columns: dict[str, Any] = {
        "question_id": pd.Categorical.from_codes(question, categories=pd.Index(grid.questions)),
        "question_type": _take(grid.question_types, question),
    }
    for name in (
        "factor",
        "left_value",
        "right_value",
        "left_experiment",
        "right_experiment",
        "comparison_type",
        "other_changed_factors",
        "entails",
    ):
        columns[name] = _take(summary[name].iloc[chosen].tolist(), which)
    columns["n_other_changed_factors"] = np.zeros(len(which), dtype=np.int8)
    columns["n_questions"] = np.ones(len(which), dtype=np.int8)
    for name, prefix in ((QUALITY, ""), *((part, "") for part in PARTS)):
        values = grid.scores.get(name)
        if values is None:
            continue
        a, b = values[left[which], question], values[right[which], question]
        columns[f"{prefix}left_{name}"], columns[f"right_{name}"] = a, b
        columns["score_delta_right_minus_left" if name == QUALITY else f"delta_{name}"] = b - a
    for name, (codes, categories) in cells.items():
        for side, at in (("left", left), ("right", right)):
            columns[f"{side}_{name}"] = pd.Categorical.from_codes(
                codes[at[which], question], categories=categories
            )
    return pd.DataFrame(columns)


def _take(values: list[str], at: Array) -> Any:
    import pandas as pd

    codes, categories = pd.factorize(np.array(values, dtype=object))
    return pd.Categorical.from_codes(codes[at] if len(codes) else codes, categories=pd.Index(categories))


def _row_mean(values: Array) -> Array:
    count = (~np.isnan(values)).sum(axis=1)
    return np.where(count > 0, np.nansum(values, axis=1) / np.maximum(count, 1), np.nan)
