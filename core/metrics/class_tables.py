"""Tables over all classified cases: per class, confusion at a level, macro and micro F1, top-k curve.

A class is a code or a node of a level. Rows are (gold, predicted); `predicted` is None for a missing prediction,
which counts as wrong: a false negative of the gold and of nobody else.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.contracts import metric

Pair = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class ClassRow:
    """Counts of one class; `precision` is None where it was never predicted, `recall` where it is never gold.
    `f1` is 0 where it is gold or predicted and never right."""

    label: str
    support: int
    predicted: int
    correct: int
    precision: float | None
    recall: float | None
    f1: float


def class_rows(pairs: Sequence[Pair]) -> list[ClassRow]:
    """One row for every class that is gold or predicted, most frequent gold first, then by name."""
    gold = Counter(g for g, _ in pairs)
    predicted = Counter(p for _, p in pairs if p is not None)
    correct = Counter(g for g, p in pairs if g == p)
    rows = []
    for label in gold | predicted:
        support, named, right = gold[label], predicted[label], correct[label]
        rows.append(
            ClassRow(
                label,
                support,
                named,
                right,
                right / named if named else None,
                right / support if support else None,
                2 * right / (support + named),
            )
        )
    return sorted(rows, key=lambda row: (-row.support, -row.predicted, row.label))


@metric(
    name="macro_f1",
    title="Macro F1",
    family="classification",
    formula="mean over classes of 2 TP / (2 TP + FP + FN); classes that are gold or predicted",
    inputs="pairs of gold and predicted class of all cases",
    empty="None without cases",
    source="Sokolova & Lapalme 2009",
)
def macro_f1(pairs: Sequence[Pair]) -> float | None:
    """Mean of the classes' F1.

    >>> macro_f1([("a", "a"), ("b", "a")])
    0.3333333333333333
    """
    rows = class_rows(pairs)
    return math.fsum(row.f1 for row in rows) / len(rows) if rows else None


@metric(
    name="micro_f1",
    title="Micro F1",
    family="classification",
    formula="2 ΣTP / (2 ΣTP + ΣFP + ΣFN); accuracy where every case has a prediction",
    inputs="pairs of gold and predicted class of all cases",
    empty="None without cases",
    source="Sokolova & Lapalme 2009",
)
def micro_f1(pairs: Sequence[Pair]) -> float | None:
    """F1 of the pooled counts.

    >>> micro_f1([("a", "a"), ("b", None)])
    0.6666666666666666
    """
    if not pairs:
        return None
    right = sum(g == p for g, p in pairs)
    return 2 * right / (len(pairs) + sum(p is not None for _, p in pairs))


def confusions(pairs: Sequence[Pair]) -> list[tuple[str, str | None, int]]:
    """(gold, predicted, how often) of every pair of classes that occurs, right ones too; frequent ones first."""
    counts = Counter(pairs)
    return [(g, p, n) for (g, p), n in sorted(counts.items(), key=lambda e: (-e[1], e[0][0], e[0][1] or ""))]


def top_k_curve(ranks: Sequence[float | None], k: int) -> list[float]:
    """Share of cases whose gold stands among the first 1, 2 … k; `ranks` are gold ranks, None for not found.

    >>> top_k_curve([1, 3, None, None], 3)
    [0.25, 0.25, 0.5]
    """
    total = len(ranks)
    return [
        sum(rank is not None and rank <= place for rank in ranks) / total if total else 0.0
        for place in range(1, k + 1)
    ]
