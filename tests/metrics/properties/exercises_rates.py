"""Exercises of the rates over many cases."""

from __future__ import annotations

import random

from core.evaluation.summary import pass_rate
from core.metrics import abstention_rates
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


EXERCISES: dict[str, Exercise] = {
    "abstention_precision": _rate(abstention_rates.abstention_precision, [(True, False), (False, False)]),
    "abstention_recall": _rate(abstention_rates.abstention_recall, [(True, True)]),
    "over_answering_rate": _rate(abstention_rates.over_answering_rate, [(True, True)]),
    "false_refusal_rate": _rate(abstention_rates.false_refusal_rate, [(False, True)]),
    "pass_rate": Exercise(
        pass_rate,
        lambda rng: ([rng.choice(["PASS", "WEAK", "FAIL", "ERROR"]) for _ in range(rng.randint(0, 6))],),
        perfect=((["PASS", "PASS", "ERROR"],),),
        without_gold=(([],), (["ERROR"],)),
        same={**_SAME, "one more error": lambda a, rng: ([*a[0], "ERROR"],)},
        better={"one more pass": lambda a, rng: ([*a[0], "PASS"],)},
    ),
}
