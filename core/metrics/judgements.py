"""What judgements say about a ranking besides its quality: how many of its items were judged at all, whether
items repeat, and a measure that looks at judged items only. Conventions as in `core.metrics.ranking`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.contracts import metric
from core.metrics.ranking import NO_RELEVANT, RANKING_INPUTS, TREC, distinct, n_relevant


@metric(
    name="bpref",
    title="bpref",
    family="ranking",
    formula="(1/R) · Σ over retrieved relevant r of 1 − min(judged non-relevant above r, R) / min(R, N); N judged non-relevant",
    inputs=RANKING_INPUTS,
    empty=NO_RELEVANT,
    source="Buckley & Voorhees 2004; " + TREC,
)
def bpref(ranked: Sequence[str], judged: Mapping[str, int], rel_level: int = 1) -> float | None:
    """How rarely judged non-relevant items stand above relevant ones; unjudged items do not matter. None when
    R = 0.

    >>> bpref(["n", "r", "u"], {"r": 1, "n": 0, "m": 0, "s": 1})
    0.25
    """
    total = n_relevant(judged, rel_level)
    if not total:
        return None
    bound = min(total, sum(1 for grade in judged.values() if 0 <= grade < rel_level))
    above, score = 0, 0.0
    for item in distinct(ranked):
        grade = judged.get(item, -1)
        if 0 <= grade < rel_level:
            above += 1
        elif grade >= rel_level:
            score += 1.0 - min(above, total) / bound if above else 1.0
    return score / total


@metric(
    name="judged_at_k",
    title="Judged@k",
    family="ranking",
    formula="judged in the first k / places filled within k",
    inputs=RANKING_INPUTS,
    empty="None when nothing was retrieved or nothing is judged",
    source="ir_measures; Sakai 2007",
    direction=0,
)
def judged_at_k(ranked: Sequence[str], judged: Mapping[str, int], k: int | None = None) -> float | None:
    """Share of the first `k` retrieved items that somebody judged (0 counts, negative does not); None for an
    empty list or no judgements. Below 0.8 the other figures are lower bounds.

    >>> judged_at_k(["d1", "d2", "d3"], {"d1": 0, "d2": 2}, 2)
    1.0
    """
    top = distinct(ranked)[:k]
    if not top or not judged:
        return None
    return sum(1 for item in top if judged.get(item, -1) >= 0) / len(top)


@metric(
    name="duplicate_rate_at_k",
    title="Duplicates@k",
    family="ranking",
    direction=-1,
    formula="places in the first k that repeat an earlier id / places filled within k",
    inputs="ranked ids",
    empty="None when nothing was retrieved",
    source="Plumbline",
)
def duplicate_rate_at_k(ranked: Sequence[str], k: int | None = None) -> float | None:
    """Share of the first `k` places that repeat an earlier id; None for an empty list.

    >>> duplicate_rate_at_k(["a", "a", "b", "b"])
    0.5
    """
    top = list(ranked)[:k]
    return 1.0 - len(set(top)) / len(top) if top else None
