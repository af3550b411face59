"""Exercises of the ranking, span and document metrics."""

from __future__ import annotations

import random
from collections.abc import Callable

from core.metrics import judgements, ranking, retrieval_scores, spans, ties
from core.metrics.relevance import evidence_recall
from core.metrics.spans import GoldSpan
from tests.metrics.properties.exercise import Arguments, Exercise

Function = Callable[..., float | None]


# --- rankings -------------------------------------------------------------------------------------------------


def _ranking(rng: random.Random) -> Arguments:
    pool = [f"d{i}" for i in range(15)]
    judged = {item: rng.choice([-1, 0, 0, 1, 2, 3]) for item in rng.sample(pool, rng.randint(1, 10))}
    return rng.sample(pool, rng.randint(0, 12)), judged, rng.randint(1, 8)


def _shuffled_judgements(arguments: Arguments, rng: random.Random) -> Arguments:
    ranked, judged, *rest = arguments
    return (ranked, dict(rng.sample(list(judged.items()), len(judged))), *rest)


def _repeated(arguments: Arguments, rng: random.Random) -> Arguments:
    ranked, *rest = arguments
    longer = list(ranked)
    for item in rng.sample(ranked, min(3, len(ranked))):
        longer.insert(rng.randint(longer.index(item) + 1, len(longer)), item)
    return (longer, *rest)


def _with_irrelevant_queries(arguments: Arguments, rng: random.Random) -> Arguments:
    """Judgements of items that other questions are about: unjudged here."""
    ranked, judged, *rest = arguments
    return (ranked, {**judged, "elsewhere": -1}, *rest)


def _moved_up(arguments: Arguments, rng: random.Random) -> Arguments:
    ranked, judged, *rest = arguments
    better = list(ranked)
    steps = [
        i for i in range(1, len(better)) if judged.get(better[i], 0) > max(0, judged.get(better[i - 1], 0))
    ]
    if steps:
        at = rng.choice(steps)
        better[at - 1], better[at] = better[at], better[at - 1]
    return (better, judged, *rest)


_PERFECT = (["a", "b", "c"], {"a": 3, "b": 3, "c": 1, "n": 0}, 3)
_NO_GOLD = ((["a", "b"], {}, 3), (["a"], {"a": 0}, 3), ([], {"x": -1}, 3))
_SAME = {
    "judgements in another order": _shuffled_judgements,
    "items repeated": _repeated,
    "unjudged items": _with_irrelevant_queries,
}


def _ranked(function: Function, *, takes_k: bool = True, **changes: object) -> Exercise:
    def called(ranked: list[str], judged: dict[str, int], k: int) -> float | None:
        return function(ranked, judged, k) if takes_k else function(ranked, judged)

    fields: dict[str, object] = {
        "perfect": (_PERFECT, (["a"], {"a": 1}, 1)),
        "without_gold": _NO_GOLD,
        "same": _SAME,
        "better": {"a better item one place up": _moved_up},
    }
    return Exercise(called, _ranking, **(fields | changes))  # type: ignore[arg-type]


def _tied(rng: random.Random) -> Arguments:
    ranked, judged, k = _ranking(rng)
    return ranked, sorted((rng.choice([0.1, 0.2, 0.3]) for _ in ranked), reverse=True), judged, k


def _order_inside_ties(arguments: Arguments, rng: random.Random) -> Arguments:
    ranked, scores, judged, k = arguments
    order = sorted(range(len(ranked)), key=lambda i: (-scores[i], rng.random()))
    return [ranked[i] for i in order], scores, judged, k


# --- spans ----------------------------------------------------------------------------------------------------


def _ranges(rng: random.Random) -> Arguments:
    def some(most: int) -> list[tuple[int, int]]:
        starts = [rng.randint(0, 90) for _ in range(rng.randint(0, most))]
        return [(start, start + rng.randint(1, 20)) for start in starts]

    return some(3), some(5)


def _shuffled_ranges(arguments: Arguments, rng: random.Random) -> Arguments:
    return tuple(rng.sample(ranges, len(ranges)) for ranges in arguments)


def _repeated_ranges(arguments: Arguments, rng: random.Random) -> Arguments:
    return tuple([*ranges, *ranges[:2]] for ranges in arguments)


def _gold_added(arguments: Arguments, rng: random.Random) -> Arguments:
    gold, retrieved = arguments
    return gold, [*retrieved, *gold]


_SPAN_PERFECT = (([(5, 9), (20, 30)], [(5, 9), (20, 30)]), ([(0, 4), (2, 6)], [(0, 6)]))
_SPAN_SAME = {"ranges in another order": _shuffled_ranges, "ranges repeated": _repeated_ranges}


def _span(function: Function, **changes: object) -> Exercise:
    fields: dict[str, object] = {
        "perfect": _SPAN_PERFECT,
        "without_gold": (([], [(0, 5)]), ([], [])),
        "same": _SPAN_SAME,
    }
    return Exercise(function, _ranges, **(fields | changes))  # type: ignore[arg-type]


def _evidence(rng: random.Random) -> Arguments:
    gold, retrieved = _ranges(rng)
    named = [GoldSpan(rng.choice("ab"), *span, index) for index, span in enumerate(gold)]
    return named, {"a": retrieved, "b": retrieved[:2]}


def _more_retrieved(arguments: Arguments, rng: random.Random) -> Arguments:
    gold, retrieved = arguments
    return gold, {path: [*ranges, (rng.randint(0, 90), 100)] for path, ranges in retrieved.items()}


# --- documents and reference text -----------------------------------------------------------------------------


def _documents(rng: random.Random) -> Arguments:
    return (
        [rng.choice("abc") for _ in range(rng.randint(0, 6))],
        rng.sample("abc", rng.randint(0, 2)),
        rng.randint(1, 6),
    )


def _targets_first(arguments: Arguments, rng: random.Random) -> Arguments:
    documents, targets, k = arguments
    return sorted(documents, key=lambda path: path not in targets), targets, k


def _shuffled_targets(arguments: Arguments, rng: random.Random) -> Arguments:
    documents, targets, k = arguments
    return documents, rng.sample(targets, len(targets)), k


_DOCUMENT = {
    "random_arguments": _documents,
    "without_gold": ((["a"], [], 3),),
    "same": {"targets in another order": _shuffled_targets},
    "better": {"target documents first": _targets_first},
}


def _texts(rng: random.Random) -> Arguments:
    vocabulary = ["thesis", "months", "exam", "six", "6", "12", "register", "students"]
    texts = [" ".join(rng.choices(vocabulary, k=rng.randint(0, 8))) for _ in range(rng.randint(0, 4))]
    return (
        texts,
        " ".join(rng.choices(vocabulary, k=rng.randint(0, 5))),
        tuple(rng.sample(vocabulary, rng.randint(0, 2))),
    )


def _shuffled_texts(arguments: Arguments, rng: random.Random) -> Arguments:
    texts, *rest = arguments
    return (rng.sample(texts, len(texts)), *rest)


EXERCISES: dict[str, Exercise] = {
    "success_at_k": _ranked(ranking.success_at_k),
    "hit_at_k": _ranked(ranking.success_at_k),
    "precision_at_k": _ranked(ranking.precision_at_k),
    "recall_at_k": _ranked(ranking.recall_at_k),
    "r_precision": _ranked(ranking.r_precision, takes_k=False),
    "mrr_at_k": _ranked(ranking.reciprocal_rank),
    "average_precision": _ranked(ranking.average_precision, takes_k=False),
    "average_precision_at_k": _ranked(ranking.average_precision),
    "ap_mink_at_k": _ranked(ranking.ap_mink_at_k),
    "ragas_context_precision": _ranked(ranking.ragas_context_precision),
    "ndcg_at_k": _ranked(ranking.ndcg_at_k),
    "ndcg_exp_at_k": _ranked(ranking.ndcg_exp_at_k),
    "bpref": _ranked(judgements.bpref, takes_k=False),
    "judged_at_k": _ranked(
        judgements.judged_at_k,
        without_gold=((["a"], {}, 3), ([], {"a": 1}, 3)),
        better={},
        because="neither higher nor lower is better, so nothing makes it better",
    ),
    "duplicate_rate_at_k": Exercise(
        lambda ranked, judged, k: judgements.duplicate_rate_at_k(ranked, k),
        _ranking,
        perfect=(_PERFECT,),
        without_gold=(([], {}, 3),),
        same={"judgements in another order": _shuffled_judgements},
        because="repeated items are what it measures; it has no gold, so an empty ranking stands for it",
    ),
    "first_relevant_rank": _ranked(
        ranking.first_relevant_rank,
        takes_k=False,
        best=1.0,
        without_gold=((["a"], {}, 3), (["a"], {"a": 0}, 3)),
    ),
    "n_relevant_chunks": Exercise(
        lambda ranked, judged, k: ranking.n_relevant(judged),
        _ranking,
        same=_SAME,
        because="a count of the pool: 0 is a finding there, and retrieval_scores gives None where the pool is unknown",
    ),
    "n_retrieved_relevant_chunks": _ranked(
        ranking.n_retrieved_relevant, perfect=((["a"], {"a": 1}, 1),), best=1.0
    ),
    "tie_spread": Exercise(
        ties.tie_spread,
        _tied,
        perfect=((["a", "b"], [2.0, 1.0], {"a": 1}, 2),),
        without_gold=((["a", "b"], [1.0, 1.0], {}, 2), (["a"], [None], {"a": 1}, 2)),
        same={"another order inside the ties": _order_inside_ties},
    ),
    "char_recall": _span(spans.char_recall, better={"the gold retrieved too": _gold_added}),
    "char_precision": _span(spans.char_precision),
    "char_iou": _span(spans.char_iou),
    "evidence_recall": Exercise(
        evidence_recall,
        _evidence,
        perfect=(([GoldSpan("a", 0, 9, 0), GoldSpan("b", 0, 9, 1)], {"a": [(0, 5)], "b": [(4, 9)]}),),
        without_gold=(([], {"a": [(0, 5)]}),),
        better={"more retrieved": _more_retrieved},
    ),
    "target_doc_retrieved_at_k": Exercise(
        retrieval_scores.target_doc_retrieved_at_k,
        perfect=((["a"], ["a"], 1),),
        **_DOCUMENT,  # type: ignore[arg-type]
    ),
    "first_target_doc_rank": Exercise(
        retrieval_scores.first_target_doc_rank,
        perfect=((["a"], ["a"], 1),),
        best=1.0,
        **_DOCUMENT,  # type: ignore[arg-type]
    ),
    "n_retrieved_target_doc_chunks": Exercise(
        retrieval_scores.n_retrieved_target_doc_chunks,
        perfect=((["a"], ["a"], 1),),
        best=1.0,
        **_DOCUMENT,  # type: ignore[arg-type]
    ),
    "ragas_recall_at_k": Exercise(
        retrieval_scores.ragas_recall,
        _texts,
        perfect=((["The thesis takes 6 months. See there."], "The thesis takes 6 months.", ("6 months",)),),
        without_gold=((["text"], None, ()), (["text"], "", ()), (["text"], "  ", ("",))),
        same={"texts in another order": _shuffled_texts},
        better={"one more text": lambda a, rng: ([*a[0], "thesis 6 months"], *a[1:])},
    ),
}
