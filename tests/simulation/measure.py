"""Counts over many simulated sweeps: coverage, false alarms, mislabelled pairs, failures attributed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.attribution.effects import factor_effects
from core.attribution.failures import attribute_failure
from core.attribution.grid import Grid, build_grid
from core.attribution.pairs import CONFOUNDED, CONTROLLED, REPLICATE, find_pairs
from core.attribution.structure import interactions, model
from core.attribution.taxonomy import MECHANISMS
from core.attribution.trace import SETTING, shown
from tests.simulation.sweeps import Plan, planted_failures, simulate

FACTORS = {
    "chunking": {"fixed": 0.0, "section": 0.06},
    "retriever": {"bm25": 0.0, "dense": -0.05, "hybrid": 0.08},
    "rerank": {False: 0.0, True: 0.04},
    "weight": {0.25: 0.0, 0.5: 0.03},
}
TREE: dict[str, Any] = {"parents": {"weight": ("rerank",)}, "applies": {"weight": {"rerank": [True]}}}
PLANS = {
    "balanced": Plan(FACTORS, **TREE),
    "clustered": Plan(FACTORS, n_questions=80, cluster_size=4, cluster_sd=0.1, **TREE),
    "unbalanced": Plan(FACTORS, keep=0.6, **TREE),
    "right or wrong": Plan(FACTORS, n_questions=100, question_sd=0.1, factor_sd=0.05, noise_sd=0.0, binary=True, **TREE),
    "interacting": Plan(
        {"retriever": {"bm25": 0.0, "dense": 0.03}, "rerank": {False: 0.0, True: 0.02}, "top_k": {4: 0.0, 8: 0.01}},
        interaction=(("retriever", "dense"), ("rerank", True), 0.08),
    ),
}  # fmt: skip


def coverage(plan: Plan, seeds: Sequence[int]) -> dict[str, tuple[int, int]]:
    """(covered, counted) true values: of factor effects, of model coefficients, of interactions."""
    counts: Counter[tuple[str, bool]] = Counter()
    for seed in seeds:
        grid = build_grid(simulate(plan, seed))
        pairs = find_pairs(grid)
        if plan.interaction is None:
            for kind, table, value, low, high in (
                ("effect", factor_effects(grid, pairs, {}, seed=seed), "effect", "effect_low", "effect_high"),
                ("model", model(grid), "coefficient", "low", "high"),
            ):
                for row in table[table[value].notna()].to_dict("records"):
                    truth = _truth(plan, row)
                    # the parent's coefficient in the model holds its child at the child's baseline
                    if kind == "effect" and row["factor"] == "rerank":
                        truth += _child_share(grid, plan)
                    counts[kind, row[low] <= truth <= row[high]] += 1
        else:
            (a, _), (b, _), extra = plan.interaction
            for row in interactions(grid, pairs).to_dict("records"):
                truth = extra if {row["factor_a"], row["factor_b"]} == {a, b} else 0.0
                counts["interaction", row["interaction_low"] <= truth <= row["interaction_high"]] += 1
    kinds = {kind for kind, _ in counts}
    return {kind: (counts[kind, True], counts[kind, True] + counts[kind, False]) for kind in sorted(kinds)}


def false_alarms(plan: Plan, seeds: Sequence[int]) -> int:
    """Sweeps without any true effect in which at least one effect is called significant after max-T."""
    nothing = {name: dict.fromkeys(levels, 0.0) for name, levels in plan.factors.items()}
    same = Plan(
        nothing,
        **{k: getattr(plan, k) for k in plan.__dataclass_fields__ if k not in ("factors", "interaction")},
    )
    alarms = 0
    for seed in seeds:
        grid = build_grid(simulate(same, seed))
        p = factor_effects(grid, find_pairs(grid), {}, seed=seed)["p_max_t"].dropna()
        alarms += bool(len(p) and (p <= 0.05).any())
    return alarms


def mislabelled(plan: Plan, seeds: Sequence[int]) -> tuple[int, int]:
    """(pairs whose type is not what their settings say, pairs). Held against a plain comparison of the settings."""
    wrong = total = 0
    for seed in seeds:
        trace = simulate(plan, seed)
        grid = build_grid(trace)
        pairs = find_pairs(grid)
        for p in range(len(pairs.left)):
            one, two = (trace.configurations[i].design for i in (pairs.left[p], pairs.right[p]))
            wrong += pairs.kind(p) != expected_kind(one, two, plan.parents)
            total += 1
    return wrong, total


def expected_kind(
    one: Mapping[str, Any], two: Mapping[str, Any], parents: Mapping[str, Sequence[str]]
) -> str:
    absent = object()
    differs = {k for k in {*one, *two} if one.get(k, absent) != two.get(k, absent)}
    independent = {k for k in differs if (k in one and k in two) or not set(parents.get(k, ())) & differs}
    return {0: REPLICATE, 1: CONTROLLED}.get(len(independent), CONFOUNDED)


def balanced_accuracy(n: int, seed: int, *, ladder: bool) -> dict[str, float]:
    """Share of planted failures of each component that are attributed to it; "all" is their mean."""
    rows, steps, truth = planted_failures(n, seed)
    hits: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for row, step, mechanism in zip(rows.to_dict("records"), steps.to_dict("records"), truth, strict=True):
        found, _, _ = attribute_failure(row, step if ladder else None)  # type: ignore[arg-type]
        component = MECHANISMS[mechanism][0]
        total[component] += 1
        hits[component] += MECHANISMS[found][0] == component
    shares = {component: hits[component] / total[component] for component in sorted(total)}
    return shares | {"all": float(np.mean(list(shares.values())))}


def _truth(plan: Plan, row: Mapping[Any, Any]) -> float:
    factor = SETTING.get(row["factor"], row["factor"])
    levels = {shown(level): level for level in plan.factors[factor]}
    return plan.effect(factor, levels[row["value"]], levels[row["baseline_value"]])


def _child_share(grid: Grid, plan: Plan) -> float:
    """Switching rerank on also brings its weight: the mean effect of the weights it was switched on with."""
    pairs = find_pairs(grid)
    number = [f.name for f in grid.factors].index("rerank")
    weights = []
    for p in np.flatnonzero(pairs.factor == number):
        both = [grid.configurations[i].design for i in (pairs.left[p], pairs.right[p])]
        weights += [plan.factors["weight"][d["weight"]] for d in both if "weight" in d]
    return float(np.mean(weights)) if weights else 0.0
