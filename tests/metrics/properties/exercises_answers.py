"""Exercises of the metrics that compare texts."""

from __future__ import annotations

import random
from collections.abc import Callable

from core.metrics import context_overlap, entities, overlap, support
from tests.metrics.properties.exercise import Arguments, Change, Exercise

Function = Callable[..., float | None]
_WORDS = [
    "thesis",
    "examination",
    "six",
    "6",
    "12",
    "months",
    "register",
    "not",
    "Ulm",
    "students",
    "2013",
    "must",
]
_SENTENCE = "The thesis must be handed in within 6 months."


def _text(rng: random.Random, most: int = 8) -> str:
    return " ".join(rng.choices(_WORDS, k=rng.randint(0, most)))


def _pair(rng: random.Random) -> Arguments:
    return _text(rng), _text(rng)


def _spaced(arguments: Arguments, rng: random.Random) -> Arguments:
    return tuple(f"  {text.replace(' ', '  ')}\n" for text in arguments)


def _shouted(arguments: Arguments, rng: random.Random) -> Arguments:
    return tuple(text.upper() for text in arguments)


def _answer_is_the_gold(arguments: Arguments, rng: random.Random) -> Arguments:
    return (arguments[1], arguments[1])


_RULE = (
    "without gold the evaluator does not call it; for two empty texts it follows SQuAD 2.0 (its `empty` rule)"
)
_SAME: dict[str, Change] = {"white space": _spaced, "capitals": _shouted}


def _compared(function: Function, **changes: object) -> Exercise:
    fields: dict[str, object] = {
        "perfect": ((_SENTENCE, _SENTENCE), ("6 Monate", "6 Monate"), ("B2", "B2")),
        "same": _SAME,
        "better": {"the gold itself": _answer_is_the_gold},
        "because": _RULE,
    }
    return Exercise(function, _pair, **(fields | changes))  # type: ignore[arg-type]


def _passages(rng: random.Random) -> Arguments:
    return tuple(_text(rng) or "six" for _ in range(rng.randint(1, 3))), tuple(
        _text(rng, 20) for _ in range(rng.randint(1, 4))
    )


def _shuffled(arguments: Arguments, rng: random.Random) -> Arguments:
    return tuple(
        tuple(rng.sample(part, len(part))) if isinstance(part, tuple) else part for part in arguments
    )


def _repeated(arguments: Arguments, rng: random.Random) -> Arguments:
    return (arguments[0], (*arguments[1], *arguments[1][:1]))


def _more_context(arguments: Arguments, rng: random.Random) -> Arguments:
    return (arguments[0], (*arguments[1], _text(rng, 20)))


_CONTEXT_SAME: dict[str, Change] = {"passages in another order": _shuffled, "a passage repeated": _repeated}


def _one_and_passages(rng: random.Random) -> Arguments:
    return _text(rng), tuple(_text(rng, 20) for _ in range(rng.randint(0, 4)))


def _in_context(function: Function) -> Exercise:
    return Exercise(
        function,
        _one_and_passages,
        perfect=((_SENTENCE, (_SENTENCE,)), (_SENTENCE, ("The thesis must be handed in", "within 6 months"))),
        without_gold=((_SENTENCE, ()), ("", (_SENTENCE,))),
        same=_CONTEXT_SAME,
        better={"one more passage": _more_context},
    )


EXERCISES: dict[str, Exercise] = {
    "exact_match": _compared(overlap.exact_match),
    "token_f1": _compared(overlap.token_f1),
    "rouge_l": _compared(overlap.rouge_l),
    "answer_proxy": _compared(overlap.answer_proxy),
    "gold_answer_overlap": _compared(
        overlap.gold_answer_overlap, without_gold=(("six", ""), ("", " ")), because=""
    ),
    "answer_gold_support": _compared(overlap.answer_gold_support, without_gold=(("", "six"),), because=""),
    "answer_has_gold_substring": _compared(
        overlap.answer_has_gold_substring, without_gold=(("six", ""), ("", "")), because=""
    ),
    "answer_entity_precision": _compared(
        entities.answer_entity_precision,
        perfect=(("In 1889 in Ulm", "In 1889 in Ulm"),),
        without_gold=(("", "In 1889"), ("it is so", "In 1889")),
        same={"white space": _spaced},
        because="capitals are how names are recognised",
    ),
    "context_entities_recall": Exercise(
        entities.context_entities_recall,
        _one_and_passages,
        perfect=(("In 1889", ("Built in 1889.", "Elsewhere.")),),
        without_gold=(("", ("Built in 1889.",)), ("In 1889", ())),
        same=_CONTEXT_SAME,
        better={"one more passage": _more_context},
    ),
    "proxy_faithfulness": _in_context(context_overlap.proxy_faithfulness),
    "proxy_context_relevance": _in_context(context_overlap.proxy_context_relevance),
    "grounding_proxy": Exercise(
        support.grounding_proxy,
        _passages,
        perfect=(
            ((_SENTENCE,), (_SENTENCE,)),
            ((_SENTENCE, "B2 is needed."), ("B2 is needed. " + _SENTENCE,)),
        ),
        without_gold=(((), (_SENTENCE,)), ((_SENTENCE,), ())),
        same=_CONTEXT_SAME,
        better={"one more passage": _more_context},
    ),
}
