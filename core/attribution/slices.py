"""`task_type_attribution.csv`: does a choice help some kinds of questions and not others (statistics.md 6.10)?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from core.attribution.effects import MIN_QUESTIONS, SMALLEST, headline_contrasts, published, real_factors
from core.attribution.grid import COMPONENTS, CORRECT, QUALITY, Grid
from core.attribution.pairs import Pairs, base_level
from core.statistics.clusters import row_means
from core.statistics.multiplicity import benjamini_hochberg

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
TASK_COLUMNS = [
    "question_type", "factor", "value", "is_baseline", "baseline_value", "n_rows", "n_questions", "failure_rate",
    f"mean_{QUALITY}", *[f"mean_{name}" for name in COMPONENTS],
    "mean_controlled_design_quality_delta", "controlled_delta_ci95_low", "controlled_delta_ci95_high", "controlled_win_rate",
    "n_controlled_comparisons", "shrunk_delta", "difference_to_rest", "difference_low", "difference_high", "p", "q_value", "note",
    "top_failure_reason",
]  # fmt: skip


def task_type_table(grid: Grid, pairs: Pairs, failures: pd.DataFrame) -> pd.DataFrame:
    """A row per question type, factor and value. The delta is value − baseline value on questions of the type (at
    least ten of them); what is tested is its difference to all other questions, with exploratory q-values over the
    table. `shrunk_delta` pulls each type towards the factor's mean by τ²/(τ² + se²) (DerSimonian–Laird)."""
    import pandas as pd

    kinds = np.array(grid.question_types)
    types = sorted(set(grid.question_types))
    quality = grid.scores[QUALITY]
    by_value = {(c.factor.name, c.value): c for c in headline_contrasts(grid, pairs)}
    reasons = _reasons(failures)
    rows: list[dict[str, Any]] = []
    for factor in real_factors(grid):
        base = base_level(grid, factor)
        for code in sorted(set(factor.codes.tolist()) - {-1}):
            contrast = by_value.get((factor.name, code))
            d = contrast.differences(quality) if contrast else None
            slices = []
            for kind in types:
                inside = kinds == kind
                row = _means(grid, factor.codes == code, inside)
                names = [name for name, c in zip(grid.names, factor.codes == code, strict=True) if c]
                row |= {
                    "question_type": kind,
                    "factor": published(factor.name),
                    "value": factor.label(code),
                    "is_baseline": code == base,
                    "baseline_value": factor.label(base),
                }
                row["top_failure_reason"] = _top(reasons, names, kind)
                if d is not None and contrast is not None:
                    row |= _delta(grid, d, inside) | {"n_controlled_comparisons": contrast.blocks}
                slices.append(row)
            _shrink(slices)
            rows += slices
    q = benjamini_hochberg([row.get("p") for row in rows])
    for row, value in zip(rows, q, strict=True):
        row["q_value"] = value
        row.pop("_se", None)
    return pd.DataFrame(rows, columns=TASK_COLUMNS)


def _means(grid: Grid, mine: Array, inside: Array) -> dict[str, Any]:
    quality = grid.scores[QUALITY][mine][:, inside]
    correct = grid.scores.get(CORRECT)
    row: dict[str, Any] = {
        "n_rows": int((~np.isnan(quality)).sum()),
        "n_questions": int((~np.isnan(quality)).any(axis=0).sum()),
    }
    if correct is not None and not np.isnan(correct[mine][:, inside]).all():
        row["failure_rate"] = 1 - float(np.nanmean(correct[mine][:, inside]))
    for name in (QUALITY, *COMPONENTS):
        values = grid.scores.get(name)
        if values is not None and not np.isnan(values[mine][:, inside]).all():
            row[f"mean_{name}"] = float(np.nanmean(values[mine][:, inside]))
    return row


def _delta(grid: Grid, d: Array, inside: Array) -> dict[str, Any]:
    from scipy.special import stdtr

    here, rest = d[inside], d[~inside]
    n = int((~np.isnan(here)).sum())
    if n < MIN_QUESTIONS:
        return {"note": f"only {n} questions: no effect is claimed"}
    stats = row_means(here[None, :], _renumbered(grid.index[inside]))
    known = here[~np.isnan(here)]
    row: dict[str, Any] = {
        "mean_controlled_design_quality_delta": stats.mean[0],
        "controlled_delta_ci95_low": stats.low[0],
        "controlled_delta_ci95_high": stats.high[0],
        "controlled_win_rate": float((known > SMALLEST).mean()),
        "_se": float(stats.se[0]),
    }
    if int((~np.isnan(rest)).sum()) < MIN_QUESTIONS:
        return row | {"note": "too few other questions to compare with"}
    other = row_means(rest[None, :], _renumbered(grid.index[~inside]))
    se = float(np.hypot(stats.se[0], other.se[0]))
    difference, df = float(stats.mean[0] - other.mean[0]), int(min(stats.units[0], other.units[0])) - 1
    if se > 0:
        from scipy.special import stdtrit

        half = float(stdtrit(df, 0.975)) * se
        row |= {
            "difference_to_rest": difference,
            "difference_low": difference - half,
            "difference_high": difference + half,
        }
        row["p"] = float(2 * stdtr(df, -abs(difference) / se))
    return row


def _shrink(rows: list[dict[str, Any]]) -> None:
    known = [r for r in rows if r.get("_se")]
    if len(known) < 2:
        return
    y = np.array([r["mean_controlled_design_quality_delta"] for r in known])
    w = 1 / np.array([r["_se"] for r in known]) ** 2
    centre = float((w * y).sum() / w.sum())
    spread = float((w * (y - centre) ** 2).sum()) - (len(known) - 1)
    tau2 = max(0.0, spread / float(w.sum() - (w**2).sum() / w.sum()))
    weight = tau2 / (tau2 + 1 / w)
    for row, value in zip(known, centre + weight * (y - centre), strict=True):
        row["shrunk_delta"] = float(value)


def _renumbered(index: Array) -> Array:
    return np.unique(index, return_inverse=True)[1]


def _reasons(failures: pd.DataFrame) -> dict[tuple[str, str], dict[str, int]]:
    if failures.empty:
        return {}
    found: dict[tuple[str, str], dict[str, int]] = {}
    grouped: Any = failures.groupby(
        ["experiment", "question_type", failures["primary_error_reason"].fillna("")]
    ).size()
    for (experiment, kind, reason), n in grouped.items():
        found.setdefault((str(experiment), str(kind)), {})[str(reason)] = int(n)
    return found


def _top(reasons: dict[tuple[str, str], dict[str, int]], names: list[str], kind: str) -> str:
    counts: dict[str, int] = {}
    for name in names:
        for reason, n in reasons.get((name, kind), {}).items():
            counts[reason] = counts.get(reason, 0) + n
    return min(counts, key=lambda r: (-counts[r], r)) if counts else ""
