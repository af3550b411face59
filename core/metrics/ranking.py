"""Ranking metrics of one question, on plain lists.

Everywhere: `ranked` holds ids, best first, and an id that comes again counts once, at its first place;
`judged` maps ids to grades, where a grade of at least `rel_level` is relevant, 0 is "judged and not relevant",
and a negative grade or a missing id is unjudged and gains nothing. R is the number of relevant ids in
`judged`, retrieved or not. A question with R = 0 has no recall, precision at R, reciprocal rank, average
precision or nDCG: those are None. A list shorter than k is filled with non-relevant places.

Equal to trec_eval 10.0 wherever both define a value (Buckley & Voorhees; NIST).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from core.contracts import metric

Gain = Literal["linear", "exp"]

TREC = "trec_eval 10.0 (NIST 2026)"
RANKING_INPUTS = "ranked ids; judgements by id"
NO_RELEVANT = "None when nothing is judged relevant (no_relevant)"


def distinct(ranked: Sequence[str]) -> list[str]:
    """The ids in order, each at its first place only."""
    return list(dict.fromkeys(ranked))


def flags(
    ranked: Sequence[str], judged: Mapping[str, int], k: int | None = None, rel_level: int = 1
) -> list[bool]:
    """Whether the item at each of the first `k` places is relevant (all places for None)."""
    return [judged.get(item, 0) >= rel_level for item in distinct(ranked)[:k]]


def n_relevant(judged: Mapping[str, int], rel_level: int = 1) -> int:
    """R: how many ids are judged relevant."""
    return sum(1 for grade in judged.values() if grade >= rel_level)


@metric(
    name="success_at_k",
    title="Success@k",
    family="ranking",
    kind="binary",
    formula="1 if one of the first k is relevant, else 0",
    inputs=RANKING_INPUTS,
    empty=NO_RELEVANT,
    source=TREC,
)
@metric(
    name="hit_at_k",
    title="Hit@k",
    family="ranking",
    kind="binary",
    formula="success at k: 1 if one of the first k is relevant, else 0",
    inputs=RANKING_INPUTS,
    empty=NO_RELEVANT,
    source=TREC,
    headline=True,
)
def success_at_k(
    ranked: Sequence[str], judged: Mapping[str, int], k: int, rel_level: int = 1
) -> float | None:
    """1.0 when one of the first `k` is relevant, else 0.0; None when nothing is.

    >>> success_at_k(["a", "b"], {"b": 1}, 1), success_at_k(["a", "b"], {"b": 1}, 2)
    (0.0, 1.0)
    """
    if not n_relevant(judged, rel_level):
        return None
    return float(any(flags(ranked, judged, k, rel_level)))


@metric(
    name="precision_at_k",
    title="Precision@k",
    family="ranking",
    formula="relevant in the first k / k",
    inputs=RANKING_INPUTS,
    empty=NO_RELEVANT + "; with sparse judgements a lower bound",
    source=TREC,
)
def precision_at_k(
    ranked: Sequence[str], judged: Mapping[str, int], k: int, rel_level: int = 1
) -> float | None:
    """Relevant items among the first `k`, divided by `k` (not by the length of the list); None when R = 0.

    >>> precision_at_k(["a", "b"], {"b": 1}, 5)
    0.2
    """
    if not n_relevant(judged, rel_level):
        return None
    return sum(flags(ranked, judged, k, rel_level)) / k


@metric(
    name="recall_at_k",
    title="Recall@k",
    family="ranking",
    formula="relevant in the first k / R",
    inputs=RANKING_INPUTS,
    empty=NO_RELEVANT,
    source=TREC,
    headline=True,
)
def recall_at_k(
    ranked: Sequence[str], judged: Mapping[str, int], k: int | None, rel_level: int = 1
) -> float | None:
    """Share of all relevant items that stand among the first `k`; None when R = 0.

    >>> recall_at_k(["a", "b", "a"], {"a": 1, "c": 1}, 3)
    0.5
    """
    total = n_relevant(judged, rel_level)
    return sum(flags(ranked, judged, k, rel_level)) / total if total else None


@metric(
    name="r_precision",
    title="R-precision",
    family="ranking",
    formula="relevant in the first R / R",
    inputs=RANKING_INPUTS,
    empty=NO_RELEVANT,
    source=TREC,
)
def r_precision(ranked: Sequence[str], judged: Mapping[str, int], rel_level: int = 1) -> float | None:
    """Precision at R, the number of relevant items; None when R = 0.

    >>> r_precision(["a", "x", "b"], {"a": 1, "b": 1})
    0.5
    """
    total = n_relevant(judged, rel_level)
    return sum(flags(ranked, judged, total, rel_level)) / total if total else None


def first_relevant_rank(ranked: Sequence[str], judged: Mapping[str, int], rel_level: int = 1) -> int | None:
    """Place of the first relevant item, from 1; None when no relevant item was retrieved."""
    return next((i for i, hit in enumerate(flags(ranked, judged, None, rel_level), 1) if hit), None)


@metric(
    name="mrr_at_k",
    title="Reciprocal rank@k",
    family="ranking",
    formula="1 / place of the first relevant item; 0 when none is in the first k",
    inputs=RANKING_INPUTS,
    empty=NO_RELEVANT,
    source=TREC,
    headline=True,
)
def reciprocal_rank(
    ranked: Sequence[str], judged: Mapping[str, int], k: int | None = None, rel_level: int = 1
) -> float | None:
    """1 / place of the first relevant item within `k`, 0.0 when there is none, None when R = 0.

    >>> reciprocal_rank(["a", "b", "c"], {"c": 1})
    0.3333333333333333
    """
    if not n_relevant(judged, rel_level):
        return None
    rank = first_relevant_rank(distinct(ranked)[:k], judged, rel_level)
    return 1.0 / rank if rank else 0.0


def n_retrieved_relevant(
    ranked: Sequence[str], judged: Mapping[str, int], k: int | None = None, rel_level: int = 1
) -> int | None:
    """How many of the first `k` are relevant; None when R = 0."""
    return sum(flags(ranked, judged, k, rel_level)) if n_relevant(judged, rel_level) else None


def _precision_sum(hits: Sequence[bool]) -> tuple[float, int]:
    total, found = 0.0, 0
    for rank, hit in enumerate(hits, 1):
        if hit:
            found += 1
            total += found / rank
    return total, found


@metric(
    name="average_precision",
    title="Average precision",
    family="ranking",
    formula="(1/R) · Σ over relevant places i of precision@i",
    inputs=RANKING_INPUTS,
    empty=NO_RELEVANT,
    source=TREC,
)
@metric(
    name="average_precision_at_k",
    title="Average precision@k",
    family="ranking",
    formula="(1/R) · Σ over relevant places i ≤ k of precision@i",
    inputs=RANKING_INPUTS,
    empty=NO_RELEVANT,
    source=TREC + ", map_cut",
)
def average_precision(
    ranked: Sequence[str], judged: Mapping[str, int], k: int | None = None, rel_level: int = 1
) -> float | None:
    """Mean over all R relevant items of the precision where each stands (0 where it was not retrieved within
    `k`); None when R = 0. The denominator is R, not the number retrieved.

    >>> average_precision(["a", "x", "b"], {"a": 1, "b": 1, "c": 1})
    0.5555555555555555
    """
    total = n_relevant(judged, rel_level)
    return _precision_sum(flags(ranked, judged, k, rel_level))[0] / total if total else None


@metric(
    name="ap_mink_at_k",
    title="Average precision@k over min(R, k)",
    family="ranking",
    formula="(1/min(R, k)) · Σ over relevant places i ≤ k of precision@i",
    inputs=RANKING_INPUTS,
    empty=NO_RELEVANT,
    source="Kaggle MAP@K; not the measure of trec_eval",
)
def ap_mink_at_k(
    ranked: Sequence[str], judged: Mapping[str, int], k: int, rel_level: int = 1
) -> float | None:
    """Average precision whose denominator is min(R, k), so that a full first page scores 1; None when R = 0.

    >>> ap_mink_at_k(["a"], {"a": 1, "b": 1}, 1)
    1.0
    """
    total = min(n_relevant(judged, rel_level), k)
    return _precision_sum(flags(ranked, judged, k, rel_level))[0] / total if total else None


@metric(
    name="ragas_context_precision",
    title="Context precision (RAGAS)",
    family="ranking",
    formula="(1/relevant retrieved in the first k) · Σ over relevant places i ≤ k of precision@i; 0 when none was retrieved",
    inputs=RANKING_INPUTS,
    empty=NO_RELEVANT,
    source="Es et al. 2023, RAGAS; cannot see missed evidence",
)
def ragas_context_precision(
    ranked: Sequence[str], judged: Mapping[str, int], k: int | None = None, rel_level: int = 1
) -> float | None:
    """Average precision over the relevant items that were retrieved, as RAGAS has it (without its 1e-10): 0.0
    when none was, None when R = 0.

    >>> ragas_context_precision(["a"], {"a": 1, "b": 1})
    1.0
    """
    if not n_relevant(judged, rel_level):
        return None
    total, found = _precision_sum(flags(ranked, judged, k, rel_level))
    return total / found if found else 0.0


@lru_cache(maxsize=4)
def _discounts(n: int) -> tuple[float, ...]:
    return tuple(math.log2(rank + 1) for rank in range(1, n + 1))


def discount(rank: int) -> float:
    """log2(rank + 1), ranks from 1."""
    return _discounts(1024)[rank - 1] if rank <= 1024 else math.log2(rank + 1)


def dcg(grades: Sequence[int | float], gain: Gain = "linear") -> float:
    """Σ gain(grade) / log2(place + 1); negative grades gain nothing. `exp` gains 2^grade − 1."""
    total = 0.0
    for rank, grade in enumerate(grades, 1):
        if grade > 0:
            total += (grade if gain == "linear" else 2.0**grade - 1.0) / discount(rank)
    return total


def ndcg_of_grades(
    grades: Sequence[int | float], ideal: Sequence[int | float], k: int | None = None, gain: Gain = "linear"
) -> float | None:
    """nDCG from the grades in ranked order and the grades of everything judged (any order); None when none of
    them gains anything."""
    best = dcg(sorted((grade for grade in ideal if grade > 0), reverse=True)[:k], gain)
    return dcg(list(grades)[:k], gain) / best if best else None


@metric(
    name="ndcg_at_k",
    title="nDCG@k",
    family="ranking",
    formula="Σ_{i≤k} grade_i / log2(i + 1), divided by the same sum over all judged items in the best order, cut at k",
    inputs=RANKING_INPUTS,
    empty=NO_RELEVANT,
    source="Järvelin & Kekäläinen 2002; trec_eval ndcg_cut (linear gain)",
    headline=True,
)
def ndcg_at_k(
    ranked: Sequence[str], judged: Mapping[str, int], k: int | None = None, gain: Gain = "linear"
) -> float | None:
    """Normalised discounted cumulative gain; the ideal comes from all judged items, retrieved or not. None when
    no grade is above 0.

    >>> round(ndcg_at_k(["d1", "d2", "d3", "d4", "d5"], {"d1": 0, "d2": 2, "d4": 1, "d6": 3}, 5), 6)
    0.355436
    """
    return ndcg_of_grades([judged.get(item, 0) for item in distinct(ranked)], list(judged.values()), k, gain)


@metric(
    name="ndcg_exp_at_k",
    title="nDCG@k, exponential gain",
    family="ranking",
    formula="as nDCG@k with gain 2^grade − 1; never compared with linear gain",
    inputs=RANKING_INPUTS,
    empty=NO_RELEVANT,
    source="Burges et al. 2005",
)
def ndcg_exp_at_k(ranked: Sequence[str], judged: Mapping[str, int], k: int | None = None) -> float | None:
    """nDCG with gain 2^grade − 1.

    >>> round(ndcg_exp_at_k(["d1", "d2", "d3", "d4", "d5"], {"d1": 0, "d2": 2, "d4": 1, "d6": 3}, 5), 6)
    0.247367
    """
    return ndcg_at_k(ranked, judged, k, "exp")
