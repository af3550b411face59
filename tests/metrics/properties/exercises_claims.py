"""Exercises of the claim and citation metrics, over random claim tables and cited statements."""

from __future__ import annotations

import random

from core.metrics.citations import CITATION_METRICS, Cited, citation_scores
from core.metrics.claim_metrics import CLAIM_METRICS, claim_scores
from core.metrics.claims import ClaimTable
from core.metrics.support import Label, Support
from core.records import Hit
from tests.metrics.properties.exercise import Arguments, Change, Exercise

LABELS: tuple[Label, ...] = ("supported", "contradicted", "not_enough_info")


def _support(label: Label) -> Support:
    return Support(label=label, score=1.0 if label == "supported" else 0.2, start=0, end=1)


def claim_table(rng: random.Random) -> ClaimTable:
    """A random table of up to four gold and answer claims and three chunks."""
    n_gold, n_answer, n_chunks = rng.randint(0, 4), rng.randint(0, 4), rng.randint(0, 3)

    def rows(n: int) -> tuple[tuple[Support, ...], ...]:
        return tuple(
            tuple(_support(rng.choice(LABELS)) for _ in range(n_chunks)) for _ in range(n if n_chunks else 0)
        )

    def labels(n: int, other: int) -> tuple[Label, ...]:
        return tuple(rng.choice(LABELS) for _ in range(n if other else 0))

    return ClaimTable(
        gold=tuple(f"gold {i}" for i in range(n_gold)),
        answer=tuple(f"answer {i}" for i in range(n_answer)),
        chunk_ids=tuple(f"c{i}" for i in range(n_chunks)),
        gold_in_answer=labels(n_gold, n_answer),
        answer_in_gold=labels(n_answer, n_gold),
        gold_in_chunks=rows(n_gold),
        answer_in_chunks=rows(n_answer),
    )


def _uniform(label: Label, n_gold: int = 2, n_answer: int = 3, n_chunks: int = 2) -> ClaimTable:
    row = tuple(_support(label) for _ in range(n_chunks))
    return ClaimTable(
        gold=tuple(f"gold {i}" for i in range(n_gold)),
        answer=tuple(f"answer {i}" for i in range(n_answer)),
        chunk_ids=tuple(f"c{i}" for i in range(n_chunks)),
        gold_in_answer=(label,) * n_gold,
        answer_in_gold=(label,) * n_answer,
        gold_in_chunks=(row,) * n_gold,
        answer_in_chunks=(row,) * n_answer,
    )


def _permuted(arguments: Arguments, rng: random.Random) -> Arguments:
    table: ClaimTable = arguments[0]
    gold, answer = (
        rng.sample(range(len(table.gold)), len(table.gold)),
        rng.sample(range(len(table.answer)), len(table.answer)),
    )
    chunks = rng.sample(range(len(table.chunk_ids)), len(table.chunk_ids))

    def rows(
        old: tuple[tuple[Support, ...] | None, ...], order: list[int]
    ) -> tuple[tuple[Support, ...] | None, ...]:
        return tuple(tuple((old[i] or ())[c] for c in chunks) for i in order) if old else ()

    return (
        ClaimTable(
            gold=tuple(table.gold[i] for i in gold),
            answer=tuple(table.answer[i] for i in answer),
            chunk_ids=tuple(table.chunk_ids[c] for c in chunks),
            gold_in_answer=tuple(table.gold_in_answer[i] for i in gold) if table.gold_in_answer else (),
            answer_in_gold=tuple(table.answer_in_gold[i] for i in answer) if table.answer_in_gold else (),
            gold_in_chunks=rows(table.gold_in_chunks, gold),
            answer_in_chunks=rows(table.answer_in_chunks, answer),
        ),
    )


_NOTHING = (_uniform("supported", n_gold=0, n_answer=0, n_chunks=0),)
_PERFECT = (_uniform("supported"),)
_BEST = {
    "attributed_answer_claim_count": 3.0,
    "attributed_gold_claim_count": 2.0,
    "self_knowledge": 0.0,
    "citation_count": 1.0,
}


def _claim(name: str) -> Exercise:
    return Exercise(
        lambda table: claim_scores(table)[0][name],
        lambda rng: (claim_table(rng),),
        perfect=(_PERFECT,),
        best=_BEST.get(name),
        without_gold=(_NOTHING,),
        same={"claims and chunks in another order": _permuted},
    )


# --- citations ------------------------------------------------------------------------------------------------

_FACTS = ("The thesis takes 6 months.", "The register closes in May.", "Students need level B2.")
_SOURCES = {f"s{i}": fact for i, fact in enumerate(_FACTS)}
_RETRIEVED = tuple(Hit(id=name, rank=i, text=text) for i, (name, text) in enumerate(_SOURCES.items(), 1))


def _statements(rng: random.Random) -> Arguments:
    def one() -> Cited:
        sources = tuple(rng.sample(sorted(_SOURCES), rng.randint(0, 2)))
        return Cited(rng.choice(_FACTS), sources, ("ghost",) if rng.random() < 0.2 else ())

    return ([one() for _ in range(rng.randint(0, 4))],)


def _shuffled(arguments: Arguments, rng: random.Random) -> Arguments:
    return (rng.sample(arguments[0], len(arguments[0])),)


def _twice(arguments: Arguments, rng: random.Random) -> Arguments:
    return (arguments[0] * 2,)


def _citation(name: str) -> Exercise:
    is_count = name.endswith("_count")
    same: dict[str, Change] = {"sentences in another order": _shuffled}

    def function(statements: list[Cited]) -> float | None:
        return citation_scores(statements, _SOURCES, _RETRIEVED)[0][name]

    return Exercise(
        function,
        _statements,
        perfect=(([Cited(_FACTS[0], ("s0",), ())],),),
        best=_BEST.get(name),
        without_gold=(([],),),
        same=same if is_count else same | {"every sentence twice": _twice},
    )


EXERCISES: dict[str, Exercise] = {name: _claim(name) for name in CLAIM_METRICS}
EXERCISES |= {name: _citation(name) for name in CITATION_METRICS}
