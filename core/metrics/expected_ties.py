"""Ranking figures averaged over all orders of items with equal scores (McSherry & Najork 2008), in closed form.

Only the number of relevant and of judged non-relevant items of each group of ties matters. Each function returns
None where nothing is relevant, as its counterpart in `core.metrics.ranking` does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from core.metrics.ties import expected_ndcg_at_k

Groups = Sequence[Sequence[str]]


class _Tied(NamedTuple):
    """A group: places before it, its items, the relevant and the judged non-relevant among them."""

    before: int
    n: int
    relevant: int
    nonrelevant: int


def _tied(groups: Groups, judged: Mapping[str, int], rel_level: int) -> list[_Tied]:
    found, before = [], 0
    for group in groups:
        grades = [judged.get(item, -1) for item in group]
        relevant = sum(grade >= rel_level for grade in grades)
        found.append(_Tied(before, len(group), relevant, sum(0 <= grade < rel_level for grade in grades)))
        before += len(group)
    return found


def _n_relevant(judged: Mapping[str, int], rel_level: int) -> int:
    return sum(grade >= rel_level for grade in judged.values())


def _found_at(groups: Groups, judged: Mapping[str, int], k: int, rel_level: int) -> float:
    """Relevant items expected among the first k."""
    inside = ((each, min(each.n, max(0, k - each.before))) for each in _tied(groups, judged, rel_level))
    return math.fsum(places * each.relevant / each.n for each, places in inside)


def precision_at_k(groups: Groups, judged: Mapping[str, int], k: int, rel_level: int = 1) -> float | None:
    return _found_at(groups, judged, k, rel_level) / k if _n_relevant(judged, rel_level) else None


def recall_at_k(groups: Groups, judged: Mapping[str, int], k: int, rel_level: int = 1) -> float | None:
    total = _n_relevant(judged, rel_level)
    return _found_at(groups, judged, k, rel_level) / total if total else None


def r_precision(groups: Groups, judged: Mapping[str, int], rel_level: int = 1) -> float | None:
    """Of groups of tied ids, best first.

    >>> r_precision([["a", "b", "c", "d"]], {"a": 1, "b": 1, "c": 0})
    0.5
    """
    total = _n_relevant(judged, rel_level)
    return _found_at(groups, judged, total, rel_level) / total if total else None


def success_at_k(groups: Groups, judged: Mapping[str, int], k: int, rel_level: int = 1) -> float | None:
    if not _n_relevant(judged, rel_level):
        return None
    missed = 1.0
    for each in _tied(groups, judged, rel_level):
        places = min(each.n, max(0, k - each.before))
        missed *= math.comb(each.n - each.relevant, places) / math.comb(each.n, places)
    return 1.0 - missed


def reciprocal_rank(
    groups: Groups, judged: Mapping[str, int], k: int | None = None, rel_level: int = 1
) -> float | None:
    """Of groups of tied ids, best first; 0.0 when no relevant one is within `k`.

    >>> reciprocal_rank([["a", "b"]], {"a": 1})
    0.75
    """
    if not _n_relevant(judged, rel_level):
        return None
    for each in _tied(groups, judged, rel_level):
        if each.relevant:
            ways = math.comb(each.n, each.relevant)
            return math.fsum(
                math.comb(each.n - place, each.relevant - 1) / ways / (each.before + place)
                for place in range(1, each.n - each.relevant + 2)
                if k is None or each.before + place <= k
            )
    return 0.0


def average_precision(
    groups: Groups, judged: Mapping[str, int], k: int | None = None, rel_level: int = 1
) -> float | None:
    """Of groups of tied ids, best first; the denominator is R, as everywhere.

    >>> average_precision([["a", "b"]], {"a": 1})
    0.75
    """
    total = _n_relevant(judged, rel_level)
    if not total:
        return None
    terms, above = [], 0
    for each in _tied(groups, judged, rel_level):
        if each.relevant:
            among = (each.relevant - 1) / (each.n - 1) if each.n > 1 else 0.0
            terms += [
                each.relevant / each.n * (above + 1 + (place - 1) * among) / (each.before + place)
                for place in range(1, each.n + 1)
                if k is None or each.before + place <= k
            ]
        above += each.relevant
    return math.fsum(terms) / total


def bpref(groups: Groups, judged: Mapping[str, int], rel_level: int = 1) -> float | None:
    total = _n_relevant(judged, rel_level)
    if not total:
        return None
    bound = min(total, sum(0 <= grade < rel_level for grade in judged.values()))
    score, above = [], 0
    for each in _tied(groups, judged, rel_level):
        if (
            each.relevant
        ):  # any number of the group's non-relevant items is above a relevant one, equally often
            worth = [
                1.0 - min(n, total) / bound if n else 1.0 for n in range(above, above + each.nonrelevant + 1)
            ]
            score.append(each.relevant * math.fsum(worth) / len(worth))
        above += each.nonrelevant
    return math.fsum(score) / total


# names of `core.metrics.trec.MEASURES` → the expected value for one cut-off (None: the whole ranking)
_Expected = Callable[[Groups, Mapping[str, int], int | None, int], float | None]
MEASURES: dict[str, _Expected] = {
    "P": lambda groups, judged, k, level: precision_at_k(groups, judged, k or 1, level),
    "recall": lambda groups, judged, k, level: recall_at_k(groups, judged, k or 1, level),
    "success": lambda groups, judged, k, level: success_at_k(groups, judged, k or 1, level),
    "Rprec": lambda groups, judged, _, level: r_precision(groups, judged, level),
    "bpref": lambda groups, judged, _, level: bpref(groups, judged, level),
    "map": average_precision,
    "map_cut": average_precision,
    "recip_rank": reciprocal_rank,
    "recip_rank_cut": reciprocal_rank,
    "ndcg": lambda groups, judged, k, _: expected_ndcg_at_k(groups, judged, k),
    "ndcg_cut": lambda groups, judged, k, _: expected_ndcg_at_k(groups, judged, k),
}
