"""The ranking metrics of thousands of queries at once, on arrays.

No ranking is sorted: what decides every metric is the place of each judged item, and that is one more than the
number of items of its query that stand before it. So each judgement is looked up in the row of its own query,
and everything else is sums over judgements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Order = Literal["given", "trec"]
_BLOCK = 4_000_000  # compared cells at a time, so that memory stays bounded


@dataclass(frozen=True, slots=True)
class Grid:
    """Rankings of n queries. `items` is (n × depth) of item codes, −1 where a row is shorter; `scores` is alike,
    or None when the columns are in ranking order. Codes of a `trec` order must rise with the ids by code point."""

    items: Any
    scores: Any | None = None


@dataclass(frozen=True, slots=True)
class Judgements:
    """One entry a judgement: the row of its query, the code of its item, its grade. No (row, item) twice."""

    row: Any
    item: Any
    grade: Any


def grid_of(
    runs: Sequence[Mapping[str, float]], judged: Sequence[Mapping[str, int]], order: Order = "trec"
) -> tuple[Grid, Judgements]:
    """Arrays from dicts of scores and of grades by id, one of each for a query (empty ones where there is none).

    `given` takes the ids in the order of the dicts and ignores the scores.
    """
    names = sorted({item for run in runs for item in run} | {item for grades in judged for item in grades})
    code = {name: place for place, name in enumerate(names)}
    depth = max((len(run) for run in runs), default=0)
    items = np.full((len(runs), depth), -1, dtype=np.int32)
    scores = np.full((len(runs), depth), -np.inf) if order == "trec" else None
    for row, run in enumerate(runs):
        items[row, : len(run)] = [code[item] for item in run]
        if scores is not None:
            scores[row, : len(run)] = list(run.values())
    rows = np.repeat(np.arange(len(judged)), [len(grades) for grades in judged])
    of_item = np.array([code[item] for grades in judged for item in grades], dtype=np.int32)
    grade = np.array([value for grades in judged for value in grades.values()], dtype=np.int64)
    return Grid(items, scores), Judgements(rows, of_item, grade)


def places(grid: Grid, judgements: Judgements) -> Any:
    """Place of each judged item in its ranking, from 1; 0 where it was not retrieved."""
    n, depth = len(judgements.row), grid.items.shape[1]
    found = np.zeros(n, dtype=np.int64)
    step = max(1, _BLOCK // max(1, depth))
    for begin in range(0, n if depth else 0, step):
        part = slice(begin, begin + step)
        row, item = judgements.row[part], judgements.item[part]
        same = grid.items[row] == item[:, None]
        column = same.argmax(axis=1)
        present = same[np.arange(len(row)), column]
        found[part] = np.where(present, _rank(grid, row, item, column), 0)
    return found


def _rank(grid: Grid, row: Any, item: Any, column: Any) -> Any:
    if grid.scores is None:
        return column + 1
    own = grid.scores[row, column][:, None]
    rivals = grid.scores[row]
    before = (rivals > own) | ((rivals == own) & (grid.items[row] > item[:, None]))
    return before.sum(axis=1) + 1


def batch_scores(
    grid: Grid, judgements: Judgements, k: int = 10, rel_level: int = 1, place: Any | None = None
) -> dict[str, Any]:
    """`ndcg_at_k, mrr_at_k, recall_at_k, precision_at_k, hit_at_k, average_precision, r_precision` of every query, each
    an array of n floats, and `defined` (n booleans): False where nothing is relevant; the values there mean
    nothing. `place` takes the result of `places` when it is known.

    Equal to the single-case functions of `core.metrics.ranking` to rounding.
    """
    n = grid.items.shape[0]
    place = places(grid, judgements) if place is None else place
    row, grade = judgements.row, judgements.grade
    relevant = grade >= rel_level
    total = np.bincount(row[relevant], minlength=n)
    hit = relevant & (place > 0)
    order = np.lexsort((place[hit], row[hit]))
    hit_row, hit_place = row[hit][order], place[hit][order]
    nth = _nth_of_row(hit_row)
    safe = np.maximum(total, 1)
    within = hit_place <= k
    top = np.bincount(hit_row[within], minlength=n)
    first = nth == 1
    reciprocal = np.zeros(n)
    reciprocal[hit_row[first & within]] = 1.0 / hit_place[first & within]
    return {
        "ndcg_at_k": _ndcg(row, place, grade, n, k),
        "mrr_at_k": reciprocal,
        "recall_at_k": top / safe,
        "precision_at_k": top / k,
        "hit_at_k": (top > 0).astype(float),
        "average_precision": np.bincount(hit_row, weights=nth / hit_place, minlength=n) / safe,
        "r_precision": np.bincount(hit_row[hit_place <= total[hit_row]], minlength=n) / safe,
        "defined": total > 0,
    }


def _nth_of_row(rows: Any) -> Any:
    """1, 2, 3… within each run of equal values of a sorted array."""
    if not len(rows):
        return np.zeros(0)
    at = np.arange(len(rows))
    starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
    return at - np.repeat(starts, np.diff(np.r_[starts, len(rows)])) + 1


def _ndcg(row: Any, place: Any, grade: Any, n: int, k: int) -> Any:
    gains = grade > 0
    seen = gains & (place > 0) & (place <= k)
    dcg = np.bincount(row[seen], weights=grade[seen] / np.log2(place[seen] + 1), minlength=n)
    order = np.lexsort((-grade[gains], row[gains]))
    ideal_row, ideal_grade = row[gains][order], grade[gains][order]
    nth = _nth_of_row(ideal_row)
    cut = nth <= k
    ideal = np.bincount(ideal_row[cut], weights=ideal_grade[cut] / np.log2(nth[cut] + 1), minlength=n)
    return np.divide(dcg, ideal, out=np.zeros(n), where=ideal > 0)
