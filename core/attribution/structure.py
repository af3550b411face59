"""Beyond single effects: trends of ordered factors, interactions, the model for unbalanced grids, and who earned a
gain (statistics.md 6.3–6.7)."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from core.attribution.effects import MIN_QUESTIONS, headline_contrasts, published
from core.attribution.grid import QUALITY, Factor, Grid
from core.attribution.pairs import Contrast, Pairs, base_level, mean_over_blocks
from core.statistics.clusters import row_means
from core.statistics.multiplicity import benjamini_hochberg
from core.statistics.power import detectable_mean_difference
from core.statistics.regression import fixed_effects

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
INTERACTION_COLUMNS = [
    "factor_a", "base_a", "value_a", "factor_b", "base_b", "value_b", "effect_a_at_base_b", "effect_a_at_value_b",
    "interaction", "interaction_low", "interaction_high", "p", "q_value", "qualitative", "detectable", "n_blocks", "n_questions",
]  # fmt: skip
MODEL_COLUMNS = [
    "factor",
    "value",
    "baseline_value",
    "coefficient",
    "low",
    "high",
    "p",
    "identifiable",
    "aliased_with",
    "n_units",
]
TREND_COLUMNS = ["factor", "levels", "per_doubling", "per_doubling_low", "per_doubling_high", "curvature", "curvature_low", "curvature_high", "n_blocks", "n_questions"]  # fmt: skip
GAIN_COLUMNS = [
    "baseline",
    "candidate",
    "factor",
    "from_value",
    "to_value",
    "share",
    "share_low",
    "share_high",
    "method",
    "total_delta",
]
MAX_SHAPLEY_FACTORS = 8


def trends(grid: Grid, pairs: Pairs) -> pd.DataFrame:
    """Linear and quadratic trend of numeric factors with three or more levels, on log2 of the level, from blocks
    that have every level."""
    import pandas as pd

    rows = []
    for number, factor in enumerate(grid.factors):
        numeric = all(isinstance(v, int | float) and not isinstance(v, bool) and v > 0 for v in factor.levels)
        if not numeric or len(factor.levels) < 3:
            continue
        blocks = _complete_blocks(factor, pairs, number)
        if not blocks:
            continue
        x = np.log2(np.array(factor.levels, dtype=float))
        basis = np.linalg.qr(np.vander(x - x.mean(), 3, increasing=True))[0]
        slope = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
        bend = basis[:, 2] * math.copysign(1.0, float(basis[:, 2] @ (x - x.mean()) ** 2))
        y = grid.scores[QUALITY][np.array(blocks)]  # blocks × levels × questions
        stats = row_means(
            np.stack([mean_over_blocks(np.einsum("blq,l->bq", y, w)) for w in (slope, bend)]),
            grid.index,
            bound=None,
        )
        values = [v for k in (0, 1) for v in (stats.mean[k], stats.low[k], stats.high[k])]
        rows.append(
            [
                published(factor.name),
                ";".join(map(factor.label, range(len(x)))),
                *values,
                len(blocks),
                int(stats.n[0]),
            ]
        )
    return pd.DataFrame(rows, columns=TREND_COLUMNS)


def interactions(grid: Grid, pairs: Pairs) -> pd.DataFrame:
    """I = (Y11 − Y01) − (Y10 − Y00) per question over complete 2 × 2 blocks, for each pair of factors and each of
    their levels against the baseline's. `qualitative` marks effects of opposite sign, where the main effect of
    factor_a must not be a headline. q-values are exploratory."""
    import pandas as pd

    chosen = headline_contrasts(grid, pairs)
    partner = {id(c): dict(zip(c.base_side.tolist(), c.value_side.tolist(), strict=True)) for c in chosen}
    found: list[tuple[Contrast, Contrast, Array, Array]] = []
    quality = grid.scores[QUALITY]
    for a, b in itertools.combinations(chosen, 2):
        if a.factor.name == b.factor.name:
            continue
        up_a, up_b = partner[id(a)], partner[id(b)]
        corners = [
            (i00, i10, up_b[i00], up_b[i10])
            for i00, i10 in up_a.items()
            if i00 in up_b and i10 in up_b and up_a.get(up_b[i00]) == up_b[i10]
        ]
        if corners:
            c00, c10, c01, c11 = (np.array(side) for side in zip(*corners, strict=True))
            found.append(
                (
                    a,
                    b,
                    mean_over_blocks(quality[c10] - quality[c00]),
                    mean_over_blocks(quality[c11] - quality[c01]),
                )
            )
    if not found:
        return pd.DataFrame(columns=INTERACTION_COLUMNS)
    stats = row_means(np.stack([at1 - at0 for _, _, at0, at1 in found]), grid.index, bound=2.0)
    p = [_p(stats, i) for i in range(len(found))]
    rows = []
    for i, (a, b, at0, at1) in enumerate(found):
        first, second = float(np.nanmean(at0)), float(np.nanmean(at1))
        n_blocks = sum(1 for i00 in partner[id(a)] if i00 in partner[id(b)])
        spread = float(stats.se[i]) * math.sqrt(stats.units[i])
        rows.append([
            published(a.factor.name), a.factor.label(a.base), a.factor.label(a.value),
            published(b.factor.name), b.factor.label(b.base), b.factor.label(b.value),
            first, second, stats.mean[i], stats.low[i], stats.high[i], p[i], None,
            first * second < 0 and min(abs(first), abs(second)) >= 0.01,
            detectable_mean_difference(int(stats.units[i]), spread), n_blocks, int(stats.n[i]),
        ])  # fmt: skip
    frame = pd.DataFrame(rows, columns=INTERACTION_COLUMNS)
    frame["q_value"] = benjamini_hochberg(p)
    return frame


def model(grid: Grid) -> pd.DataFrame:
    """All factors at once with question fixed effects, for grids that are not balanced. A column that always
    changes together with others is not identifiable, and `aliased_with` names them."""
    import pandas as pd

    columns: list[tuple[Factor, int, int]] = []
    for factor in grid.factors:
        base = base_level(grid, factor)
        columns += [(factor, code, base) for code in sorted(set(factor.codes.tolist()) - {-1, base})]
    if not columns:
        return pd.DataFrame(columns=MODEL_COLUMNS)
    design = np.stack([(factor.codes == code).astype(float) for factor, code, _ in columns], axis=1)
    fit = fixed_effects(grid.scores[QUALITY], design, grid.index)
    label = [f"{published(f.name)}={f.label(code)}" for f, code, _ in columns]
    rows = []
    for j, (factor, code, base) in enumerate(columns):
        aliased = j in fit.aliased
        numbers = [None] * 4 if aliased else [fit.beta[j], fit.low[j], fit.high[j], fit.p[j]]
        with_ = ";".join(label[k] for k in fit.aliased.get(j, ()))
        rows.append(
            [
                published(factor.name),
                factor.label(code),
                factor.label(base),
                *numbers,
                not aliased,
                with_,
                fit.units,
            ]
        )
    return pd.DataFrame(rows, columns=MODEL_COLUMNS)


def gain(grid: Grid, pairs: Pairs, baseline: int, candidate: int) -> pd.DataFrame:
    """Shapley split of candidate − baseline over the factors in which they differ, per question, so that shares
    have intervals and add up to the total. Needs all 2^m mixtures; where they are missing, one-at-a-time
    waterfalls, labelled as depending on the order; where those are missing too, no row."""
    import pandas as pd

    at = np.flatnonzero((pairs.left == min(baseline, candidate)) & (pairs.right == max(baseline, candidate)))
    if baseline == candidate or not len(at):
        return pd.DataFrame(columns=GAIN_COLUMNS)
    changed = np.flatnonzero(pairs.changed[:, at[0]])
    entailed = set(np.flatnonzero(pairs.entailed[:, at[0]]).tolist())
    mixtures = _mixtures(grid, baseline, candidate, changed.tolist(), entailed)
    quality, m = grid.scores[QUALITY], len(changed)
    total = float(np.nanmean(quality[candidate] - quality[baseline]))
    found: list[tuple[str, Array]] = []
    if m <= MAX_SHAPLEY_FACTORS and len(mixtures) == 2**m:
        found = [("shapley", _shapley(quality, mixtures, m))]
    else:
        for method, order in (
            ("one at a time, forward", range(m)),
            ("one at a time, backward", range(m - 1, -1, -1)),
        ):
            steps = list(itertools.accumulate(order, lambda s, f: s | {f}, initial=frozenset[int]()))
            if all(s in mixtures for s in steps):
                shares = np.zeros((m, quality.shape[1]))
                for f, (before, after) in zip(order, itertools.pairwise(steps), strict=True):
                    shares[f] = quality[mixtures[after]] - quality[mixtures[before]]
                found.append((method, shares))
    rows = []
    for method, shares in found:
        stats = row_means(shares, grid.index)
        for f, number in enumerate(changed):
            factor = grid.factors[number]
            ends = (factor.label(int(factor.codes[baseline])), factor.label(int(factor.codes[candidate])))
            rows.append([grid.names[baseline], grid.names[candidate], published(factor.name), *ends, stats.mean[f], stats.low[f], stats.high[f], method, total])  # fmt: skip
    return pd.DataFrame(rows, columns=GAIN_COLUMNS)


def main_effects_to_doubt(table: pd.DataFrame) -> set[str]:
    """Factors whose effect changes sign with the level of another one."""
    return set(table.loc[table["qualitative"].astype(bool), "factor_a"]) if len(table) else set()


def _p(stats: Any, i: int) -> float | None:
    from scipy.special import stdtr

    if stats.n[i] < MIN_QUESTIONS or not stats.se[i] > 0:
        return None
    return float(2 * stdtr(int(stats.units[i]) - 1, -abs(stats.mean[i] / stats.se[i])))


def _complete_blocks(factor: Factor, pairs: Pairs, number: int) -> list[list[int]]:
    """Configurations by level, for every set that differs in this factor alone and has all levels."""
    neighbours: dict[int, dict[int, int]] = defaultdict(dict)
    for p in np.flatnonzero(pairs.factor == number):
        i, j = int(pairs.left[p]), int(pairs.right[p])
        neighbours[i].setdefault(int(factor.codes[j]), j)
        neighbours[j].setdefault(int(factor.codes[i]), i)
    blocks = []
    for i, others in sorted(neighbours.items()):
        members = {**others, int(factor.codes[i]): i}
        if int(factor.codes[i]) == 0 and all(level in members for level in range(len(factor.levels))):
            blocks.append([members[level] for level in range(len(factor.levels))])
    return blocks


def _mixtures(
    grid: Grid, baseline: int, candidate: int, changed: list[int], entailed: set[int]
) -> dict[frozenset[int], int]:
    """Configurations that take each changed factor from the baseline or from the candidate and agree with both in
    everything else: set of positions in `changed` taken from the candidate → configuration."""
    found: dict[frozenset[int], int] = {}
    for c in range(len(grid.configurations)):
        taken = set()
        fits = True
        for number, factor in enumerate(grid.factors):
            code, old, new = (int(factor.codes[k]) for k in (c, baseline, candidate))
            fits &= code in (old, new)
            if number in changed and code == new:
                taken.add(changed.index(number))
        if fits and _consistent(grid, c, baseline, candidate, entailed):
            found.setdefault(frozenset(taken), c)
    return found | {frozenset(): baseline, frozenset(range(len(changed))): candidate}


def _consistent(grid: Grid, c: int, baseline: int, candidate: int, entailed: set[int]) -> bool:
    return all(int(grid.factors[e].codes[c]) in (int(grid.factors[e].codes[baseline]), int(grid.factors[e].codes[candidate])) for e in entailed)  # fmt: skip


def _shapley(quality: Array, mixtures: dict[frozenset[int], int], m: int) -> Array:
    shares = np.zeros((m, quality.shape[1]))
    for f in range(m):
        rest = [g for g in range(m) if g != f]
        for size in range(m):
            weight = math.factorial(size) * math.factorial(m - size - 1) / math.factorial(m)
            for chosen in itertools.combinations(rest, size):
                s = frozenset(chosen)
                shares[f] += weight * (quality[mixtures[s | {f}]] - quality[mixtures[s]])
    return shares
