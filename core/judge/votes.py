"""Several judgements of the same thing: what they come to, how often they flip, whether they straddle a threshold.

Votes lessen chance, not bias (statistics.md 3.4): they are one judgement of one case, never several cases.
"""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from collections.abc import Sequence

from core.records import Judgement
from core.statistics.intervals import Interval, wilson


def combine(judgements: Sequence[Judgement], *, discrete: bool) -> Judgement:
    """One judgement from the votes: the most frequent label, the median score.

    `discrete`: scores are codes of labels, so the lower of the two middle ones is taken, never their mean. When
    half of the votes or more have no score, neither has the whole. The text shown is that of the first vote with
    the label that won (the worst one where labels tie).
    """
    if not judgements:
        raise ValueError("no votes")
    scored = [each for each in judgements if each.score is not None]
    labels = tuple(each.label for each in judgements)
    if 2 * len(scored) <= len(judgements):
        shown = next(each for each in judgements if each.score is None)
        score = None
    else:
        values = [each.score for each in scored if each.score is not None]
        score = statistics.median_low(values) if discrete else statistics.median(values)
        # the vote nearest to the median speaks; at a tie the lower one, so that nothing looks better than it is
        shown = min(scored, key=lambda each: (abs((each.score or 0.0) - score), each.score or 0.0))
    usage = [each.usage for each in judgements if each.usage is not None]
    flags = {flag for each in judgements for flag in each.flags}
    return shown.model_copy(
        update={
            "score": score,
            "votes": tuple(each.score for each in judgements if each.score is not None),
            "vote_labels": labels,
            "flags": tuple(sorted(flags | ({"votes_differ"} if flip_rate_of(judgements) else set()))),
            "usage": sum(usage[1:], usage[0]) if usage else None,
            "latency_ms": _total([each.latency_ms for each in judgements]),
            "retries": sum(each.retries for each in judgements),
            "cached": all(each.cached for each in judgements),
        }
    )


def flip_rate(votes: Sequence[object]) -> float | None:
    """Share of votes that differ from the most frequent one; None for fewer than two."""
    if len(votes) < 2:
        return None
    return 1 - max(Counter(votes).values()) / len(votes)


def flip_rate_of(judgements: Sequence[Judgement]) -> float:
    """Flip rate of judgements by label and score; 0.0 for a single one."""
    return flip_rate([(each.label, each.score) for each in judgements]) or 0.0


def flips_within(judgements: Sequence[Judgement]) -> float | None:
    """Mean flip rate of the votes behind each judgement, in [0, 1]; None where nothing was voted on. Different
    judgements are never compared with each other."""
    rates = [
        flip_rate(list(zip(each.vote_labels, each.votes, strict=True)))
        if len(each.vote_labels) == len(each.votes)
        else flip_rate(each.vote_labels)
        for each in judgements
    ]
    known = [rate for rate in rates if rate is not None]
    return sum(known) / len(known) if known else None


def straddles(judgement: Judgement, threshold: float) -> bool:
    """Whether the votes lie on both sides of a threshold (below, and at or above): the verdict is then WEAK with
    the reason `judge_unstable`, whatever the median says. A vote without a score beside one with a score counts
    as the other side."""
    sides = {vote >= threshold for vote in judgement.votes}
    undecided = len(judgement.vote_labels) > len(judgement.votes) > 0
    return len(sides) > 1 or undecided


def duplicate_sample(
    ids: Sequence[str], *, share: float = 0.1, minimum: int = 10, seed: int = 0
) -> list[str]:
    """Which judgements to ask for a second time in order to measure self-agreement: a share of them, at least
    `minimum`, at most all, drawn without replacement; in the order given."""
    wanted = min(len(ids), max(minimum, math.ceil(share * len(ids)))) if share > 0 else 0
    chosen = set(random.Random(seed).sample(sorted(ids), wanted))
    return [each for each in ids if each in chosen]


def self_agreement(pairs: Sequence[tuple[Judgement, Judgement]]) -> tuple[int, int, Interval | None]:
    """(same label and score, pairs, Wilson interval of the rate) of things judged twice."""
    same = sum((a.label, a.score) == (b.label, b.score) for a, b in pairs)
    return same, len(pairs), wilson(same, len(pairs)) if pairs else None


def _total(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
