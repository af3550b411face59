"""Rates of declining to answer, over many cases.

Each case gives (answerable, abstained). Every rate is a mean over the cases it is about, so it gets an interval
like any other rate; a rate about no case is None.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.contracts import metric

Answered = Sequence[tuple[bool, bool]]

_INPUTS = "answerable and abstained of each case"
_SOURCE = "the 2 × 2 table of abstention; Rajpurkar et al. 2018 (SQuAD 2.0)"


def rate_values(answerable: bool, abstained: bool) -> dict[str, float | None]:
    """What one case adds to each rate: 0.0, 1.0, or None where the rate is not about it."""
    return {
        "abstention_precision": float(not answerable) if abstained else None,
        "abstention_recall": None if answerable else float(abstained),
        "over_answering_rate": None if answerable else float(not abstained),
        "false_refusal_rate": float(abstained) if answerable else None,
    }


def _rate(name: str, cases: Answered) -> float | None:
    values = [value for case in cases if (value := rate_values(*case)[name]) is not None]
    return sum(values) / len(values) if values else None


@metric(
    name="abstention_precision",
    title="Abstention precision",
    family="abstention",
    kind="binary",
    formula="unanswerable and abstained / abstained",
    inputs=_INPUTS,
    empty="None when nothing was abstained from",
    source=_SOURCE,
)
def abstention_precision(cases: Answered) -> float | None:
    """Share of the abstentions that were right; None without any.

    >>> abstention_precision([(False, True), (True, True), (True, False)])
    0.5
    """
    return _rate("abstention_precision", cases)


@metric(
    name="abstention_recall",
    title="Abstention recall",
    family="abstention",
    kind="binary",
    formula="unanswerable and abstained / unanswerable",
    inputs=_INPUTS,
    empty="None without unanswerable questions",
    source=_SOURCE,
)
def abstention_recall(cases: Answered) -> float | None:
    """Share of the unanswerable questions that were declined; None without any.

    >>> abstention_recall([(False, True), (False, False)])
    0.5
    """
    return _rate("abstention_recall", cases)


@metric(
    name="over_answering_rate",
    title="Over-answering rate",
    family="abstention",
    kind="binary",
    direction=-1,
    formula="unanswerable and answered / unanswerable",
    inputs=_INPUTS,
    empty="None without unanswerable questions",
    source=_SOURCE,
)
def over_answering_rate(cases: Answered) -> float | None:
    """Share of the unanswerable questions that were answered all the same; None without any.

    >>> over_answering_rate([(False, True), (False, False)])
    0.5
    """
    return _rate("over_answering_rate", cases)


@metric(
    name="false_refusal_rate",
    title="False refusal rate",
    family="abstention",
    kind="binary",
    direction=-1,
    formula="answerable and abstained / answerable",
    inputs=_INPUTS,
    empty="None without answerable questions",
    source=_SOURCE,
)
def false_refusal_rate(cases: Answered) -> float | None:
    """Share of the answerable questions that were declined; None without any.

    >>> false_refusal_rate([(True, True), (True, False)])
    0.5
    """
    return _rate("false_refusal_rate", cases)
