"""Simulated sweeps. The truth of every effect is a parameter, so that intervals and alarms can be counted."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from core.attribution.trace import Configuration, Trace


@dataclass(frozen=True)
class Plan:
    """A grid over `factors` (each level with its true effect on a score in points) plus noise.

    `interaction` is the extra effect when both named (factor, level) are on. `factor_sd` is how much an effect
    varies between questions (the part that makes block × question rows dependent), `cluster_sd` between clusters
    of `cluster_size` questions. `keep` is the share of the grid's configurations that are run.
    """

    factors: Mapping[str, Mapping[Any, float]]
    n_questions: int = 60
    cluster_size: int = 1
    question_sd: float = 0.15
    factor_sd: float = 0.1
    cluster_sd: float = 0.0
    noise_sd: float = 0.1
    interaction: tuple[tuple[str, Any], tuple[str, Any], float] | None = None
    parents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    applies: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    keep: float = 1.0
    question_types: Sequence[str] = ("fact", "list")
    binary: bool = False

    def effect(self, factor: str, level: Any, base: Any) -> float:
        """The true effect of a level over another, interactions apart."""
        return self.factors[factor][level] - self.factors[factor][base]


def simulate(plan: Plan, seed: int) -> Trace:
    """A trace of one simulated sweep. The quality scale is the simulated score itself: `auto_correct` holds it."""
    rng = np.random.default_rng(seed)
    designs = _designs(plan, rng)
    clusters = np.arange(plan.n_questions) // plan.cluster_size
    base = 0.5 + rng.normal(0, plan.question_sd, plan.n_questions)
    by_question = {
        (name, level): rng.normal(0, plan.factor_sd, plan.n_questions)
        + rng.normal(0, plan.cluster_sd, clusters.max() + 1)[clusters]
        for name, levels in plan.factors.items()
        for level in levels
    }
    rows = []
    for design in designs:
        score = base + rng.normal(0, plan.noise_sd, plan.n_questions)
        for name, level in design.items():
            score = score + plan.factors[name][level] + by_question[name, level]
        if plan.interaction is not None:
            (a, x), (b, y), extra = plan.interaction
            if design.get(a) == x and design.get(b) == y:
                score = score + extra
        rows.append(score)
    scores = np.array(rows)
    if plan.binary:
        scores = (rng.random(scores.shape) < scores).astype(float)
    configurations = tuple(Configuration(f"c{i:03d}", design) for i, design in enumerate(designs))
    frame = _frame(plan, configurations, scores, clusters)
    return Trace(frame, configurations, plan.parents, baseline="c000")


def _designs(plan: Plan, rng: np.random.Generator) -> list[dict[str, Any]]:
    names = list(plan.factors)
    grid = [dict(zip(names, values, strict=True)) for values in itertools.product(*plan.factors.values())]
    designs: list[dict[str, Any]] = []
    for full in grid:
        design = {
            name: level
            for name, level in full.items()
            if all(full[parent] in values for parent, values in plan.applies.get(name, {}).items())
        }
        if design not in designs:
            designs.append(design)
    if plan.keep < 1:
        chosen = rng.random(len(designs)) < plan.keep
        chosen[0] = True
        designs = [design for design, kept in zip(designs, chosen, strict=True) if kept]
    return designs


def _frame(plan: Plan, configurations: Sequence[Configuration], scores: Any, clusters: Any) -> pd.DataFrame:
    c, q = scores.shape
    correct = (scores > 0.5).ravel()
    kinds = np.array([plan.question_types[i % len(plan.question_types)] for i in range(q)])
    return pd.DataFrame(
        {
            "experiment": pd.Categorical.from_codes(
                np.repeat(np.arange(c), q), [x.name for x in configurations]
            ),
            "question_id": pd.Categorical.from_codes(
                np.tile(np.arange(q), c), [f"q{i:04d}" for i in range(q)]
            ),
            "question": "a question",
            "question_type": np.tile(kinds, c),
            "cluster": np.tile([f"d{i}" for i in clusters], c) if plan.cluster_size > 1 else None,
            "repeat": 0,
            "verdict": np.where(correct, "PASS", "FAIL"),
            "auto_flag": np.where(correct, "correct", "incorrect"),
            "auto_correct": scores.ravel(),
            "primary_error_reason": np.where(correct, "", "wrong_answer"),
            "latency_ms": np.repeat(20.0 + np.arange(c), q),
            "cost_usd": 0.0,
        }
    )


# --- planted failures -----------------------------------------------------------------------------------------

# mechanism → (facts that a scorer would record, rung of the ladder that repairs it)
PLANTED: dict[str, tuple[dict[str, Any], str | None]] = {
    "error": ({"verdict": "ERROR"}, None),
    "bad_reference": ({"gold_in_document": 0.0}, None),
    "evidence_not_extracted": (
        {"evidence_in_text": 0.0, "evidence_in_file": 1.0, "evidence_recall": 0.0},
        None,
    ),
    "evidence_not_in_corpus": (
        {"evidence_in_text": 0.0, "evidence_in_file": 0.0, "evidence_recall": 0.0},
        None,
    ),
    "evidence_split": ({"evidence_in_chunk": 0.0, "evidence_recall": 0.0}, "gold_context"),
    "not_retrieved": ({"evidence_recall": 0.0, "deep_candidates": 100.0}, "oracle_retrieval"),
    "ranked_low": ({"evidence_recall": 0.0, "deep_candidates": 100.0, "evidence_deep_rank": 31.0}, "deep"),
    "cut_from_context": ({"evidence_recall": 1.0, "evidence_in_context": 0.0}, "oracle_ranking"),
    "distracted": ({"evidence_recall": 1.0, "answer_claim_recall": 0.0}, "gold_context"),
    "not_extracted": ({"evidence_recall": 1.0, "answer_claim_recall": 0.0}, None),
    "contradicted": ({"evidence_recall": 1.0, "contradicted_claim_count": 1.0}, None),
    "fabricated": ({"evidence_recall": 1.0, "hallucinated_claim_ratio": 0.9}, None),
    "incomplete": ({"evidence_recall": 1.0, "answer_claim_recall": 0.4}, None),
    "false_refusal": ({"evidence_recall": 1.0, "abstained": 1.0}, None),
    "over_answered": ({"expected_answerable": 0.0, "abstained": 0.0}, None),
    "uncited": ({"evidence_recall": 1.0, "auto_flag": "correct", "evidence_attribution_f1": 0.2}, None),
}
RUNG_ORDER = ("deep", "oracle_ranking", "oracle_retrieval", "gold_context")


def planted_failures(
    n: int, seed: int, *, flip: float = 0.1, repeats: int = 5
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """`n` failed cases with known mechanisms: their rows, what the oracle ladder gave, and the truth.

    Every repeat under a rung comes out wrong way round with probability `flip`, and so does the placebo: a
    non-deterministic generator. Rungs from the repairing one on are right, those before it wrong.
    """
    rng = np.random.default_rng(seed)
    names = list(PLANTED)
    truth = [names[i] for i in rng.integers(0, len(names), n)]
    rows, ladder = [], []
    for i, mechanism in enumerate(truth):
        facts, rung = PLANTED[mechanism]
        rows.append(
            {
                "experiment": "c000",
                "question_id": f"q{i:04d}",
                "verdict": "FAIL",
                "auto_flag": "incorrect",
                "expected_answerable": 1.0,
            }
            | facts
        )
        steps: dict[str, Any] = {"experiment": "c000", "question_id": f"q{i:04d}"}
        steps["placebo"] = float((rng.random(repeats) < flip).mean())
        for name in RUNG_ORDER:
            repaired = rung is not None and RUNG_ORDER.index(name) >= RUNG_ORDER.index(rung)
            right = np.full(repeats, repaired) ^ (rng.random(repeats) < flip)
            steps[name] = float(right.mean())
        ladder.append(steps)
    return pd.DataFrame(rows), pd.DataFrame(ladder), truth
