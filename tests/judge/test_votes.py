from __future__ import annotations

import pytest

from core.judge.votes import combine, duplicate_sample, flip_rate, flips_within, self_agreement, straddles
from core.records import Judgement


def vote(label: str, score: float | None) -> Judgement:
    return Judgement(rubric="r", rubric_version="1", provider="p", label=label, score=score)


@pytest.mark.parametrize(
    ("scores", "median"),
    [
        ([1.0, 0.0, 1.0], 1.0),
        ([1.0, 0.0], 0.0),
        ([1.0, 0.5, 0.0], 0.5),
        ([1.0, None, 1.0], 1.0),
        ([1.0, None], None),
        ([None], None),
    ],
)
def test_combination_of_labels(scores: list[float | None], median: float | None) -> None:
    combined = combine([vote(str(score), score) for score in scores], discrete=True)
    assert combined.score == median
    assert combined.votes == tuple(score for score in scores if score is not None)
    assert len(combined.vote_labels) == len(scores)


def test_scores_of_statements_take_the_true_median() -> None:
    assert combine([vote("a", 0.4), vote("b", 0.8)], discrete=False).score == pytest.approx(0.6)


def test_the_order_of_votes_changes_nothing_but_their_list() -> None:
    votes = [vote("yes", 1.0), vote("partly", 0.5), vote("no", 0.0)]
    assert combine(votes, discrete=True).score == combine(votes[::-1], discrete=True).score == 0.5
    assert combine(votes, discrete=True).label == "partly"


def test_straddling() -> None:
    assert straddles(combine([vote("a", 1.0), vote("b", 0.0), vote("a", 1.0)], discrete=True), 0.85)
    assert not straddles(combine([vote("a", 1.0), vote("b", 0.9), vote("a", 1.0)], discrete=True), 0.85)
    assert straddles(
        combine([vote("a", 1.0), vote("a", 1.0), vote("cannot_tell", None)], discrete=True), 0.85
    )
    assert not straddles(vote("a", 1.0), 0.85)


def test_flip_rate() -> None:
    assert flip_rate(["a"]) is None
    assert flip_rate(["a", "a", "a"]) == 0.0
    assert flip_rate(["a", "b", "a", "a"]) == 0.25


def test_duplicate_sample() -> None:
    ids = [f"case{n}" for n in range(200)]
    chosen = duplicate_sample(ids, seed=3)
    assert len(chosen) == 20
    assert chosen == duplicate_sample(ids, seed=3) != duplicate_sample(ids, seed=4)
    assert chosen == sorted(chosen, key=ids.index)
    assert set(duplicate_sample(ids[::-1], seed=3)) == set(chosen)
    assert len(duplicate_sample(ids[:30])) == 10
    assert duplicate_sample(ids[:4]) == ids[:4]
    assert duplicate_sample(ids, share=0) == []


def test_self_agreement() -> None:
    pairs = [(vote("a", 1.0), vote("a", 1.0))] * 19 + [(vote("a", 1.0), vote("b", 0.0))]
    same, n, interval = self_agreement(pairs)
    assert (same, n) == (19, 20)
    assert interval is not None
    assert interval.low == pytest.approx(0.764, abs=1e-3)
    assert self_agreement([]) == (0, 0, None)


def test_votes_are_compared_with_the_votes_of_the_same_judgement_only() -> None:
    steady = [combine([vote("yes", 1.0)] * 3, discrete=True), combine([vote("no", 0.0)] * 3, discrete=True)]
    assert flips_within(steady) == 0.0
    flipping = combine([vote("yes", 1.0), vote("no", 0.0), vote("yes", 1.0)], discrete=True)
    assert flips_within([*steady, flipping]) == pytest.approx(1 / 9)
    assert flips_within([vote("yes", 1.0)]) is None  # asked once: nothing could flip
    unsure = combine([vote("yes", 1.0), vote("cannot_tell", None), vote("yes", 1.0)], discrete=True)
    assert flips_within([unsure]) == pytest.approx(1 / 3)
