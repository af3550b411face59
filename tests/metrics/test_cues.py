"""The words that are looked up before a pattern is tried: no match of the pattern is without one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from core.metrics import polarity, refusal_patterns
from core.metrics.bounds import (
    ABOUT,
    ABOUT_HINTS,
    BOUND_HINTS,
    LESS_HINTS,
    MAX,
    MIN,
    MORE_HINTS,
    OR_LESS,
    OR_MORE,
)
from core.metrics.cues import Cue

CUES = {name: cue for name, cue in vars(polarity).items() if isinstance(cue, Cue)} | dict(polarity._MODALS)


def spelled(pattern: re.Pattern[str]) -> Iterator[str]:
    """Every text of a pattern; what repeats without end is taken as often as it must be."""
    return _sequence(list(re._parser.parse(pattern.pattern, pattern.flags)))  # type: ignore[attr-defined]


def _sequence(items: list[Any]) -> Iterator[str]:
    yield from map("".join, product(*(tuple(_one(str(op), argument)) for op, argument in items)))


def _one(op: str, argument: Any) -> Iterator[str]:
    match op:
        case "LITERAL":
            yield chr(argument)
        case "IN":
            yield next(chr(value) if str(kind) == "LITERAL" else " " for kind, value in argument)
        case "BRANCH":
            for branch in argument[1]:
                yield from _sequence(list(branch))
        case "SUBPATTERN":
            yield from _sequence(list(argument[-1]))
        case "MAX_REPEAT":
            low, high, inner = argument
            for times in {low, min(int(high), 1)} if low < 2 else {low}:
                yield from map("".join, product(*(tuple(_sequence(list(inner))) for _ in range(times))))
        case "AT" | "ASSERT" | "ASSERT_NOT":
            yield ""
        case _:
            raise AssertionError(op)


@pytest.mark.parametrize("cue", CUES.values(), ids=list(CUES))
def test_every_match_of_a_cue_has_a_trigger(cue: Cue) -> None:
    texts = list(spelled(cue.pattern))
    assert len(texts) > 2
    for text in texts:
        assert cue.pattern.search(text), text
        assert cue.occurs(text), text
        assert list(cue.finditer(text)), text


def test_every_refusal_hint_is_found() -> None:
    for text in spelled(refusal_patterns.HINT):
        assert refusal_patterns.HINT.search(text), text
        assert refusal_patterns.hinted(text), text


@pytest.mark.parametrize(
    ("pattern", "hints"),
    [
        (MIN, BOUND_HINTS),
        (MAX, BOUND_HINTS),
        (OR_MORE, MORE_HINTS),
        (OR_LESS, LESS_HINTS),
        (ABOUT, ABOUT_HINTS),
    ],
)
def test_every_limit_is_hinted(pattern: re.Pattern[str], hints: tuple[str, ...]) -> None:
    for text in spelled(pattern):
        assert any(hint in text.lower() for hint in hints), text
