"""Exercises of abstention: of one case, and of the rates over many."""

from __future__ import annotations

import random

from core.evaluation.summary import pass_rate
from core.metrics import abstention_rates
from core.metrics.outcomes import abstention_scores
from tests.metrics.properties.exercise import Arguments, Exercise


def _cases(rng: random.Random) -> Arguments:
    return ([(rng.random() < 0.6, rng.random() < 0.4) for _ in range(rng.randint(0, 8))],)


def _shuffled(arguments: Arguments, rng: random.Random) -> Arguments:
    return (rng.sample(arguments[0], len(arguments[0])),)


def _twice(arguments: Arguments, rng: random.Random) -> Arguments:
    return (arguments[0] * 2,)


def _one_right_more(arguments: Arguments, rng: random.Random) -> Arguments:
    return ([*arguments[0], (False, True), (True, False)],)


_RIGHT = [(False, True), (True, False)]
_SAME = {"cases in another order": _shuffled, "all cases twice": _twice}
_BETTER = {"two right decisions more": _one_right_more}


def _rate(function: object, nothing: list[tuple[bool, bool]]) -> Exercise:
    return Exercise(
        function,  # type: ignore[arg-type]
        _cases,
        perfect=((_RIGHT,),),
        without_gold=(([],), (nothing,)),
        same=_SAME,
        better=_BETTER,
    )


def _outcome(
    name: str, perfect: tuple[bool, bool], best: float | None = None, *others: tuple[bool | None, bool | None]
) -> Exercise:
    return Exercise(
        lambda answerable, abstained: abstention_scores(answerable, abstained)[name],
        lambda rng: (rng.random() < 0.5, rng.random() < 0.5),
        perfect=(perfect,),
        best=best,
        without_gold=((True, None), *others),
        because="one case: there is no order, nothing repeats and there are two values only",
    )


EXERCISES: dict[str, Exercise] = {
    "abstention_precision": _rate(abstention_rates.abstention_precision, [(True, False), (False, False)]),
    "abstention_recall": _rate(abstention_rates.abstention_recall, [(True, True)]),
    "over_answering_rate": _rate(abstention_rates.over_answering_rate, [(True, True)]),
    "false_refusal_rate": _rate(abstention_rates.false_refusal_rate, [(False, True)]),
    "abstained": _outcome("abstained", (False, True), 1.0, (None, None)),
    "abstention_correct": _outcome("abstention_correct", (False, True), 1.0, (None, True)),
    "over_answered": _outcome("over_answered", (False, True), 0.0, (True, True), (None, False)),
    "false_refusal": _outcome("false_refusal", (True, False), 0.0, (False, True), (None, True)),
    "pass_rate": Exercise(
        pass_rate,
        lambda rng: ([rng.choice(["PASS", "WEAK", "FAIL", "ERROR"]) for _ in range(rng.randint(0, 6))],),
        perfect=((["PASS", "PASS", "ERROR"],),),
        without_gold=(([],), (["ERROR"],)),
        same={**_SAME, "one more error": lambda a, rng: ([*a[0], "ERROR"],)},
        better={"one more pass": lambda a, rng: ([*a[0], "PASS"],)},
    ),
}
