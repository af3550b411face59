"""Order and ties: what a ranking is when only scores are known, and how far ties could move a figure.

An order the system gave is the ranking, scores or not. Where only scores are known, the rule of trec_eval
holds: score descending, then id descending by code point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Literal

import numpy as np

from core.contracts import metric
from core.metrics.ranking import discount, ndcg_of_grades

TieMode = Literal["given", "trec"]


def ordered(
    scored: Iterable[tuple[str, float]], tie_mode: TieMode = "trec", precision: str = "double"
) -> list[str]:
    """Ids in ranking order from (id, score) pairs.

    `given` keeps the order of the pairs. `trec` sorts by score descending, ties by id descending by code point;
    `precision="single"` compares scores as 32-bit floats, as trec_eval 9 and pytrec_eval do.

    >>> ordered([("a", 1.0), ("c", 1.0), ("b", 2.0)])
    ['b', 'c', 'a']
    """
    pairs = list(scored)
    if tie_mode == "given":
        return [item for item, _ in pairs]
    if precision == "single":
        pairs = [(item, float(np.float32(score))) for item, score in pairs]
    return [item for item, _ in sorted(pairs, key=lambda pair: (pair[1], pair[0]), reverse=True)]


def tie_groups(ranked: Sequence[str], scores: Sequence[float | None]) -> list[list[str]]:
    """The ranking cut into runs of equal scores; an item without a score is a run of its own."""
    groups: list[list[str]] = []
    seen: set[str] = set()
    places = enumerate(zip(ranked, scores, strict=True))
    for _, members in groupby(
        places, key=lambda place: place[1][1] if place[1][1] is not None else (place[0],)
    ):
        ids = [item for _, (item, _) in members if not (item in seen or seen.add(item))]  # type: ignore[func-returns-value]
        if ids:
            groups.append(ids)
    return groups


def extremes(
    groups: Sequence[Sequence[str]], judged: Mapping[str, int], measure: Callable[[list[str]], float | None]
) -> tuple[float, float] | None:
    """The lowest and the highest value of a measure over all orders inside the groups, for a measure that never
    falls when a better item moves up; None where it is undefined."""
    worst = [item for group in groups for item in sorted(group, key=lambda i: (judged.get(i, 0), i))]
    best = [item for group in groups for item in sorted(group, key=lambda i: (-judged.get(i, 0), i))]
    low, high = measure(worst), measure(best)
    return None if low is None or high is None else (low, high)


@metric(
    name="tie_spread",
    title="Tie spread",
    family="ranking",
    direction=-1,
    formula="highest − lowest nDCG@k over all orders of items with equal scores",
    inputs="ranked ids with scores; judgements by id",
    empty="None without scores or without relevant items",
    source="McSherry & Najork 2008",
)
def tie_spread(
    ranked: Sequence[str], scores: Sequence[float | None], judged: Mapping[str, int], k: int | None = None
) -> float | None:
    """How far the order inside ties could move nDCG@k; 0.0 without ties, None where nDCG or all scores are
    missing. Above 0.01 the tie rule decides part of the figure.

    >>> round(tie_spread(["a", "b", "c", "d"], [1.0] * 4, {"a": 1, "b": 0, "c": 2}, 3), 6)
    0.809953
    """
    if all(score is None for score in scores):
        return None
    groups = tie_groups(ranked, scores)
    if all(len(group) == 1 for group in groups):
        return 0.0 if any(grade > 0 for grade in judged.values()) else None
    ideal = list(judged.values())
    found = extremes(groups, judged, lambda ids: ndcg_of_grades([judged.get(i, 0) for i in ids], ideal, k))
    return None if found is None else found[1] - found[0]


def expected_ndcg_at_k(
    groups: Sequence[Sequence[str]], judged: Mapping[str, int], k: int | None = None
) -> float | None:
    """nDCG@k averaged over all orders inside the groups (McSherry & Najork 2008): every place of a group gains
    the group's mean grade. None when no grade is above 0.

    >>> round(expected_ndcg_at_k([["a", "b", "c", "d"]], {"a": 1, "b": 0, "c": 2}, 3), 6)
    0.607465
    """
    means: list[float] = []
    for group in groups:
        mean = sum(max(0, judged.get(item, 0)) for item in group) / len(group)
        means += [mean] * len(group)
    best = ndcg_of_grades([], list(judged.values()), k)
    if best is None:
        return None
    ideal = sorted((grade for grade in judged.values() if grade > 0), reverse=True)[:k]
    gained = math.fsum(mean / discount(rank) for rank, mean in enumerate(means[:k], 1))
    return gained / math.fsum(grade / discount(rank) for rank, grade in enumerate(ideal, 1))
