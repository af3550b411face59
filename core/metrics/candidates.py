"""What a list of candidate codes says about itself: margin, entropy, diversity, and flags for the reader."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from core.contracts import Metric, add_metric, metric
from core.metrics.ranking import distinct

LOW_MARGIN = 0.05  # of the best score: a lead of less is a decision by a hair on any scale
DUPLICATE_PRESSURE = 0.34
SHORT_QUERY = 3
_FAMILY = "candidates"


@metric(
    name="gold_rank",
    title="Rank of the gold code",
    family=_FAMILY,
    kind="count",
    direction=-1,
    low=1.0,
    high=None,
    formula="place of the main gold code in the list, from 1",
    inputs="ranked codes; main gold code",
    empty="None when it is not in the list",
    source="published name",
)
def gold_rank(ranked: Sequence[str], gold: str | None) -> float | None:
    """Place of the gold code.

    >>> gold_rank(["a", "b"], "b")
    2.0
    """
    places = distinct(ranked)
    return float(places.index(gold) + 1) if gold in places else None


@metric(
    name="gold_present_at_k",
    title="Gold code among the first k",
    family=_FAMILY,
    kind="binary",
    formula="1 if the main gold code is among the first k, else 0",
    inputs="ranked codes; main gold code; k",
    empty="None without gold; 0 for an empty list",
    source="published name",
)
def gold_present(ranked: Sequence[str], gold: str | None, k: int) -> float | None:
    """1.0 when the gold code is among the first `k`.

    >>> gold_present(["a", "b"], "b", 1)
    0.0
    """
    return float(gold in distinct(ranked)[:k]) if gold else None


@metric(
    name="hit_any_at_k",
    title="Any gold code among the first k",
    family=_FAMILY,
    kind="binary",
    formula="1 if one of the gold codes is among the first k, else 0",
    inputs="ranked codes; all gold codes; k",
    empty="None without gold; 0 for an empty list",
    source="Plumbline",
)
def hit_any(ranked: Sequence[str], gold: Sequence[str], k: int) -> float | None:
    """1.0 when any gold code is among the first `k`.

    >>> hit_any(["a", "b"], ["c", "b"], 2)
    1.0
    """
    return float(any(code in gold for code in distinct(ranked)[:k])) if gold else None


@metric(
    name="score_margin_top1_top2",
    title="Margin of rank 1 over rank 2",
    family=_FAMILY,
    kind="unbounded",
    direction=0,
    low=None,
    high=None,
    formula="score of rank 1 − score of rank 2, on the system's own scale",
    inputs="scores, best first",
    empty="None for fewer than two scores",
    source="published name",
)
def score_margin(scores: Sequence[float | None]) -> float | None:
    """Lead of the first over the second; None where one of them has no score.

    >>> score_margin([0.75, 0.5])
    0.25
    """
    if len(scores) < 2 or scores[0] is None or scores[1] is None:
        return None
    return scores[0] - scores[1]


@metric(
    name="score_entropy_at_k",
    title="Entropy of the scores",
    family=_FAMILY,
    direction=0,
    formula="−Σ p ln p / ln n, p the positive scores of the first k scaled to sum 1",
    inputs="scores of the first k",
    empty="None for fewer than two positive scores",
    source="published name",
)
def score_entropy(scores: Sequence[float | None]) -> float | None:
    """0 for one score that has it all, 1 for equal scores.

    >>> score_entropy([0.5, 0.5])
    1.0
    """
    positive = [score for score in scores if score is not None and score > 0]
    if len(positive) < 2:
        return None
    total = math.fsum(positive)
    shares = [score / total for score in positive]
    entropy = -math.fsum(share * math.log(share) for share in shares if share > 0)
    return min(1.0, max(0.0, entropy / math.log(len(shares))))


@metric(
    name="duplicate_cpv_rate_at_k",
    title="Share of repeated codes",
    family=_FAMILY,
    direction=-1,
    formula="codes among the first k that stood before / codes among the first k",
    inputs="codes of the first k as returned",
    empty="None for an empty list",
    source="published name",
)
def duplicate_rate(returned: Sequence[str]) -> float | None:
    """Share of places that repeat a code.

    >>> duplicate_rate(["a", "a", "b", "c"])
    0.25
    """
    return duplicates(returned) / len(returned) if returned else None


def duplicates(returned: Sequence[str]) -> float:
    """How many places repeat a code that stood before."""
    return float(len(returned) - len(set(returned)))


def unique_count(values: Sequence[str]) -> float:
    """How many different values there are."""
    return float(len(set(values)))


_COUNT = partial(Metric, family=_FAMILY, kind="count", direction=0, high=None, source="published name")
add_metric(
    _COUNT(
        name="duplicate_cpv_at_k",
        title="Repeated codes",
        direction=-1,
        formula="places among the first k that repeat a code",
        inputs="codes of the first k as returned",
        empty="0 for an empty list",
        function=duplicates,
    )
)
add_metric(
    _COUNT(
        name="unique_cpv_at_k",
        title="Different codes",
        formula="different codes among the first k",
        inputs="codes of the first k",
        empty="0 for an empty list",
        function=unique_count,
    )
)
add_metric(
    _COUNT(
        name="unique_division_at_k",
        title="Different divisions",
        formula="different nodes of the first level among the first k",
        inputs="first-level nodes of the first k codes",
        empty="0 for an empty list",
        function=unique_count,
    )
)
add_metric(
    _COUNT(
        name="query_token_count",
        title="Words of the query",
        formula="words of the query",
        inputs="words of the query",
        empty="0 for an empty query",
        function=len,
    )
)


# --- flags ----------------------------------------------------------------------------------------------------


def high_confidence_wrong(correct: bool | None, confidence: float | None, high: float) -> float | None:
    """1.0 for a wrong answer with a confidence of at least `high`; None without gold or without a confidence.

    >>> high_confidence_wrong(False, 0.9, 0.85), high_confidence_wrong(False, None, 0.85)
    (1.0, None)
    """
    return None if correct is None or confidence is None else float(not correct and confidence >= high)


def low_margin(scores: Sequence[float | None]) -> float | None:
    """1.0 where the lead of the first is at most 5 % of its own score; None without a margin or at score 0.

    >>> low_margin([1.0, 0.99]), low_margin([0.02, 0.01])
    (1.0, 0.0)
    """
    margin = score_margin(scores)
    first = scores[0] if scores else None
    return None if margin is None or not first else float(margin <= LOW_MARGIN * abs(first))


def duplicate_pressure(returned: Sequence[str]) -> float | None:
    """1.0 where at least a third of the places repeat a code; None for an empty list.

    >>> duplicate_pressure(["a", "a"])
    1.0
    """
    rate = duplicate_rate(returned)
    return None if rate is None else float(rate >= DUPLICATE_PRESSURE)


def low_diversity(divisions: Sequence[str]) -> float | None:
    """1.0 where several candidates all stand in one division; None for fewer than two.

    >>> low_diversity(["45", "45"])
    1.0
    """
    return float(len(set(divisions)) <= 1) if len(divisions) > 1 else None


def short_query(words: Sequence[str]) -> float:
    """1.0 for a query of at most three words.

    >>> short_query(["road", "works"])
    1.0
    """
    return float(len(words) <= SHORT_QUERY)


_FLAG = partial(Metric, family="flags", kind="binary", direction=-1, source="published name")
for _flag in (
    _FLAG(
        name="high_confidence_wrong",
        title="Wrong with high confidence",
        formula="1 if the answer is wrong and its confidence is at least high_confidence, else 0",
        inputs="whether it is right; confidence; the limit",
        empty="None without gold or without a confidence (a score that is no probability is none)",
        function=high_confidence_wrong,
    ),
    _FLAG(
        name="low_margin_decision",
        title="Decided by a hair",
        formula="1 if rank 1 leads rank 2 by at most 5 % of its score, else 0",
        inputs="scores, best first",
        empty="None for fewer than two scores",
        function=low_margin,
    ),
    _FLAG(
        name="duplicate_candidate_pressure",
        title="Many repeated codes",
        formula="1 if the share of repeated codes is at least .34, else 0",
        inputs="codes of the first k as returned",
        empty="None for an empty list",
        function=duplicate_pressure,
    ),
    _FLAG(
        name="low_diversity_at_k",
        title="All candidates in one division",
        formula="1 if all candidates have the same first-level node, else 0",
        inputs="first-level nodes of the first k codes",
        empty="None for fewer than two candidates",
        function=low_diversity,
    ),
    _FLAG(
        name="short_or_ambiguous_query",
        title="Short query",
        formula="1 if the query has at most three words, else 0",
        inputs="words of the query",
        empty="1 for an empty query",
        function=short_query,
    ),
):
    add_metric(_flag)


# --- kinds of error -------------------------------------------------------------------------------------------

ERROR_KINDS = ("ancestor", "descendant", "sibling")


def is_error_kind(relation: str | None, kind: str) -> float | None:
    """1.0 when the prediction stands to the gold in that relation; None without gold.

    >>> is_error_kind("ancestor", "ancestor"), is_error_kind("exact", "ancestor")
    (1.0, 0.0)
    """
    return None if relation is None else float(relation == kind)


for _kind, _says in (
    ("ancestor", "too general: an ancestor of the gold"),
    ("descendant", "too specific: a descendant of the gold"),
    ("sibling", "a sibling of the gold (same direct parent)"),
):
    add_metric(
        Metric(
            name=f"{_kind}_error_top1",
            title=f"Rank 1 is {_says.split(':')[0].removesuffix(' (same direct parent)')}",
            family="hierarchy",
            kind="binary",
            direction=-1,
            formula=f"1 if rank 1 is {_says}, else 0",
            inputs="relation of the prediction to the gold",
            empty="None without gold",
            source="Plumbline",
            function=is_error_kind,
        )
    )
