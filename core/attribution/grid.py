"""The trace as arrays: configurations × questions, and the factors as codes. Repeats of a cell are averaged here,
so that everything after counts questions, never rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from core.attribution.trace import ABSENT, Configuration, Trace, parents_of, shown
from core.statistics.clusters import cluster_index

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

# component of the quality scale → (metric, direction); published metric names
COMPONENTS: dict[str, tuple[tuple[str, int], ...]] = {
    "retrieval_score": (
        ("mrr_at_k", 1),
        ("ndcg_at_k", 1),
        ("recall_at_k", 1),
        ("ragas_recall_at_k", 1),
        ("evidence_recall", 1),
    ),
    "generation_score": (("auto_correct", 1), ("answer_claim_recall", 1)),
    "grounding_score": (
        ("grounded_claim_ratio", 1),
        ("evidence_attribution_f1", 1),
        ("hallucinated_claim_ratio", -1),
    ),
    "kg_score": (
        ("gold_kg_relation_evidence_recall", 1),
        ("kg_graph_gain", 1),
        ("kg_added_evidence_precision", 1),
        ("kg_path_correctness", 1),
        ("kg_graph_noise", -1),
    ),
}
QUALITY = "design_quality_score"
CORRECT = "auto_correct"


@dataclass(frozen=True, slots=True)
class Factor:
    """A design choice with at least two settings in the sweep. `codes[c]` is the level of configuration c, −1
    where it does not apply; `levels` are in numeric order where they are numbers, else in order of text."""

    name: str
    levels: tuple[Any, ...]
    codes: Array
    parents: tuple[str, ...] = ()

    def label(self, code: int) -> str:
        return ABSENT if code < 0 else shown(self.levels[code])


@dataclass(slots=True)
class Grid:
    """Scores (C × Q, NaN absent) by name; `index` the cluster of each question, `clustered` whether any is shared."""

    configurations: tuple[Configuration, ...]
    questions: list[str]
    question_types: list[str]
    clusters: list[str | None] | None
    index: Array
    factors: list[Factor]
    scores: dict[str, Array] = field(default_factory=dict)
    scale: dict[str, list[str]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    baseline: int = 0

    @property
    def names(self) -> list[str]:
        return [c.name for c in self.configurations]

    def factor(self, name: str) -> Factor:
        return next(f for f in self.factors if f.name == name)


def build_grid(trace: Trace) -> Grid:
    """Arrays of a trace, without censored configurations; the quality scale is set here once for all of them."""
    import pandas as pd

    kept = tuple(c for c in trace.configurations if not c.censored)
    frame = trace.frame
    names = [c.name for c in kept]
    first = frame.drop_duplicates("question_id").set_index("question_id")
    questions = [str(q) for q in first.index]
    rows, columns = cells_of(frame, names, questions)
    clusters = [None if pd.isna(c) else str(c) for c in first["cluster"]] if "cluster" in first else None
    grid = Grid(
        configurations=kept,
        questions=questions,
        question_types=[str(t) for t in first["question_type"]],
        clusters=clusters,
        index=cluster_index(clusters, len(questions)),
        factors=find_factors(kept, trace.parents),
        baseline=names.index(trace.baseline) if trace.baseline in names else 0,
    )
    inside = (rows >= 0) & (columns >= 0)
    flat = rows[inside].astype(np.int64) * len(questions) + columns[inside]
    shape = (len(names), len(questions))
    for metric in {m for part in COMPONENTS.values() for m, _ in part} | {
        "latency_ms",
        "cost_usd",
        "partial_correct",
    }:
        if metric in frame:
            grid.scores[metric] = _cells(
                frame[metric].to_numpy(dtype=float, na_value=np.nan)[inside], flat, shape
            )
    _add_quality(grid)
    return grid


def cells_of(frame: pd.DataFrame, names: Sequence[str], questions: Sequence[str]) -> tuple[Array, Array]:
    """Place of each row among configurations and questions; −1 where it has none."""
    import pandas as pd

    places = ((list(names), frame["experiment"]), (list(questions), frame["question_id"]))
    rows, columns = (
        pd.Index(known, dtype=object).get_indexer(pd.Index(values.astype(object))) for known, values in places
    )
    return rows, columns


def find_factors(configurations: Sequence[Configuration], parents: Any) -> list[Factor]:
    """Settings that differ between configurations, in the order in which settings are declared."""
    names = dict.fromkeys(name for c in configurations for name in c.design)
    factors = []
    for name in names:
        values = [shown(c.design[name]) if name in c.design else None for c in configurations]
        distinct = {
            text: c.design[name] for text, c in zip(values, configurations, strict=True) if text is not None
        }
        if len(distinct) + (None in values) < 2:
            continue
        order = sorted(distinct, key=lambda text: _order(distinct[text], text))
        place = {text: i for i, text in enumerate(order)}
        codes = np.array([-1 if text is None else place[text] for text in values])
        factors.append(
            Factor(name, tuple(distinct[text] for text in order), codes, parents_of(name, parents))
        )
    return factors


def _order(value: Any, text: str) -> tuple[int, float, str]:
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return (0, float(value), text) if numeric else (1, 0.0, text)


def _cells(values: Array, flat: Array, shape: tuple[int, int]) -> Array:
    known = ~np.isnan(values)
    size = shape[0] * shape[1]
    count = np.bincount(flat[known], minlength=size)
    total = np.bincount(flat[known], weights=values[known], minlength=size)
    with np.errstate(invalid="ignore"):
        return np.where(count > 0, total / np.maximum(count, 1), np.nan).reshape(shape)


def _add_quality(grid: Grid) -> None:
    """`design_quality_score` and its parts. A metric counts for a question only where every configuration that
    answered it has it: one scale for all, so that no configuration is better by what was not measured on it."""
    answered = _answered(grid)
    parts = []
    for component, metrics in COMPONENTS.items():
        layers = []
        for metric, direction in metrics:
            values = grid.scores.get(metric)
            if values is None:
                continue
            common = _common(values, answered)
            if not common.any():
                grid.left_out[metric] = "no question has it in every configuration"
                continue
            grid.scale.setdefault(component, []).append(metric)
            layer = np.where(common[None, :] & answered, values, np.nan)
            layers.append(layer if direction > 0 else 1 - layer)
        if layers:
            grid.scores[component] = _mean(layers)
            parts.append(grid.scores[component])
    grid.scores[QUALITY] = _mean(parts) if parts else np.full(answered.shape, np.nan)


def _answered(grid: Grid) -> Array:
    shape = (len(grid.configurations), len(grid.questions))
    return ~np.isnan(grid.scores.get(CORRECT, np.full(shape, np.nan)))


def _common(values: Array, answered: Array) -> Array:
    return np.asarray((~np.isnan(values) | ~answered).all(axis=0) & answered.any(axis=0))


def quality_of_rows(grid: Grid, frame: pd.DataFrame) -> tuple[Array, Array, Array]:
    """(configuration, question, quality) of every row of a trace: the grid's scale before repeats are averaged. A
    place is −1 and a quality NaN where there is none."""
    rows, columns = cells_of(frame, grid.names, grid.questions)
    answered, parts = _answered(grid), []
    for component, metrics in grid.scale.items():
        layers = []
        for metric, direction in COMPONENTS[component]:
            if metric in metrics:
                counts = _common(grid.scores[metric], answered)[np.maximum(columns, 0)] & (columns >= 0)
                values = np.where(counts, frame[metric].to_numpy(dtype=float, na_value=np.nan), np.nan)
                layers.append(values if direction > 0 else 1 - values)
        parts.append(_mean(layers))
    return rows, columns, _mean(parts) if parts else np.full(len(frame), np.nan)


def _mean(layers: Sequence[Array]) -> Array:
    stack = np.stack(layers)
    count = (~np.isnan(stack)).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.where(count > 0, np.nansum(stack, axis=0) / np.maximum(count, 1), np.nan)
