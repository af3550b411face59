"""Exercises of the classification metrics: paths in a tree, candidate lists, classes."""

from __future__ import annotations

import random
from collections.abc import Callable

from core.metrics import candidates, class_tables, hierarchical_ranking, hierarchy
from core.metrics.code_tree import Path
from tests.metrics.properties.exercise import Arguments, Exercise

CODES = ("45000000", "45210000", "45213100", "45233140", "30192000", "33100000", "09310000")
_COUNT = "a count or a flag: it has no best value, no gold of its own, and repetition is what it counts"
GOLD = ("45", "452", "4521")


def _path(rng: random.Random) -> Path:
    digits = "".join(rng.choice("12") for _ in range(rng.randint(1, 5)))
    return tuple(digits[:n] for n in range(1, len(digits) + 1))


def _two_paths(rng: random.Random) -> Arguments:
    return _path(rng), _path(rng)


def _nearer(arguments: Arguments, rng: random.Random) -> Arguments:
    """The gold itself in place of the prediction."""
    return (arguments[1], *arguments[1:])


def _renamed(arguments: Arguments, rng: random.Random) -> Arguments:
    """The same tree with other names for its nodes."""
    return tuple(tuple("x" + node for node in path) for path in arguments)


def _of_paths(function: Callable[..., float | None], **changes: object) -> Exercise:
    fields: dict[str, object] = {
        "perfect": ((GOLD, GOLD), (("4",), ("4",))),
        "without_gold": ((GOLD, ()), ((), ())),
        "same": {"nodes by other names": _renamed},
        "better": {"the gold itself": _nearer},
    }
    return Exercise(function, _two_paths, **(fields | changes))  # type: ignore[arg-type]


def _ranked_paths(rng: random.Random) -> Arguments:
    return [_path(rng) for _ in range(rng.randint(0, 6))], _path(rng), rng.randint(1, 5)


def _gold_first(arguments: Arguments, rng: random.Random) -> Arguments:
    ranked, gold, *rest = arguments
    return ([gold, *ranked], gold, *rest)


def _of_lists(function: Callable[..., float | None]) -> Exercise:
    return Exercise(
        function,
        _ranked_paths,
        perfect=(([GOLD, ("3",)], GOLD, 2), ([GOLD], GOLD, 1)),
        without_gold=(([GOLD], (), 2),),
        better={"the gold in front": _gold_first},
    )


def _codes(rng: random.Random) -> Arguments:
    return rng.sample(CODES, rng.randint(0, 5)), rng.choice(CODES), rng.randint(1, 5)


def _repeated(arguments: Arguments, rng: random.Random) -> Arguments:
    ranked, *rest = arguments
    return ([*ranked, *ranked], *rest)


def _code_first(arguments: Arguments, rng: random.Random) -> Arguments:
    ranked, gold, *rest = arguments
    return ([gold, *(code for code in ranked if code != gold)], gold, *rest)


def _first_and_gold(rng: random.Random) -> Arguments:
    return rng.choice([None, *CODES]), rng.sample(CODES, rng.randint(1, 3))


def _hit_any(ranked: list[str], gold: str, k: int) -> float | None:
    return candidates.hit_any(ranked, [gold] if gold else [], k)


def _scores(rng: random.Random) -> Arguments:
    return (sorted((rng.random() for _ in range(rng.randint(0, 6))), reverse=True),)


def _returned(rng: random.Random) -> Arguments:
    return ([rng.choice("abc") for _ in range(rng.randint(0, 6))],)


def _shuffled(arguments: Arguments, rng: random.Random) -> Arguments:
    values = list(arguments[0])
    return (rng.sample(values, len(values)),)


def _counted(function: Callable[..., float | None], **changes: object) -> Exercise:
    fields: dict[str, object] = {"same": {"another order": _shuffled}, "because": _COUNT}
    return Exercise(function, _returned, **(fields | changes))  # type: ignore[arg-type]


def _level(rng: random.Random) -> Arguments:
    return rng.choice([None, "45", "30"]), rng.choice([None, "45", "30"])


def _same_level() -> Exercise:
    return Exercise(
        hierarchy.same_level,
        _level,
        perfect=(("45", "45"),),
        without_gold=(("45", None), (None, None)),
        better={"the gold itself": _nearer},
    )


def _relation(kind: str) -> Exercise:
    def called(relation: str | None) -> float | None:
        return candidates.is_error_kind(relation, kind)

    kinds = (None, "exact", "ancestor", "descendant", "sibling", "same_branch", "unrelated")
    return Exercise(
        called,
        lambda rng: (rng.choice(kinds),),
        perfect=(("exact",),),
        without_gold=((None,),),
        because="takes one word, so nothing in it can be reordered, repeated or bettered",
    )


def _pairs(rng: random.Random) -> Arguments:
    return ([(rng.choice("abc"), rng.choice(["a", "b", "c", None])) for _ in range(rng.randint(1, 9))],)


def _one_corrected(arguments: Arguments, rng: random.Random) -> Arguments:
    pairs = list(arguments[0])
    at = rng.randrange(len(pairs))
    pairs[at] = (pairs[at][0], pairs[at][0])
    return (pairs,)


def _of_classes(function: Callable[..., float | None], **changes: object) -> Exercise:
    fields: dict[str, object] = {
        "perfect": (([("a", "a"), ("b", "b")],),),
        "without_gold": (([],),),
        "same": {"cases in another order": _shuffled},
        "better": {"one case put right": _one_corrected},
    }
    return Exercise(function, _pairs, **(fields | changes))  # type: ignore[arg-type]


def _prefix(rng: random.Random) -> Arguments:
    return rng.choice(CODES), rng.choice(CODES)


EXERCISES: dict[str, Exercise] = {
    "exact_top1_match": Exercise(
        hierarchy.exact_top1_match,
        _first_and_gold,
        perfect=(("a", ["a"]), ("a", ["a", "b"])),
        without_gold=(("a", []),),
        because="one prediction: nothing to reorder or repeat; the main gold code comes first by meaning",
    ),
    "exact_any_top1": Exercise(
        hierarchy.exact_any_top1,
        _first_and_gold,
        perfect=(("b", ["a", "b"]),),
        without_gold=(("a", []),),
        same={"gold in another order": lambda a, rng: (a[0], rng.sample(a[1], len(a[1])))},
    ),
    "hierarchical_precision_top1": _of_paths(hierarchy.hierarchical_precision),
    "hierarchical_recall_top1": _of_paths(hierarchy.hierarchical_recall),
    "hierarchical_f1_top1": _of_paths(hierarchy.hierarchical_f1),
    "hierarchy_score_top1": _of_paths(hierarchy.hierarchical_f1),
    "cpv_hierarchy_similarity_top1": _of_paths(hierarchy.hierarchy_similarity),
    "lca_distance_top1": _of_paths(hierarchy.lca_distance),
    "hierarchical_f1_set_top1": Exercise(
        hierarchy.hierarchical_f1_set,
        lambda rng: (_path(rng), [_path(rng) for _ in range(rng.randint(1, 3))]),
        perfect=((GOLD, [GOLD]),),
        without_gold=((GOLD, []), (GOLD, [()])),
        same={"gold in another order": lambda a, rng: (a[0], rng.sample(a[1], len(a[1])))},
    ),
    "best_hierarchy_score_at_k": _of_lists(hierarchy.best_hierarchy_score),
    "hierarchical_err_at_k": _of_lists(hierarchy.hierarchical_err),
    "ndcg_exact_at_k": Exercise(
        hierarchical_ranking.ndcg_exact_at_k,
        _codes,
        perfect=((["a", "b"], "a", 2),),
        without_gold=((["a"], None, 2),),
        same={"codes repeated": _repeated},
        better={"the gold code in front": _code_first},
    ),
    "gold_rank": Exercise(
        lambda ranked, gold, k: candidates.gold_rank(ranked, gold),
        _codes,
        perfect=((["a", "b"], "a", 2),),
        best=1.0,
        without_gold=((["a"], None, 2),),
        same={"codes repeated": _repeated},
        better={"the gold code in front": _code_first},
    ),
    "gold_present_at_k": Exercise(
        candidates.gold_present,
        _codes,
        perfect=((["a", "b"], "b", 2),),
        without_gold=((["a"], None, 2),),
        same={"codes repeated": _repeated},
        better={"the gold code in front": _code_first},
    ),
    "hit_any_at_k": Exercise(
        _hit_any,
        _codes,
        perfect=((["a", "b"], "b", 2),),
        without_gold=((["a"], "", 2),),
        same={"codes repeated": _repeated},
        better={"the gold code in front": _code_first},
    ),
    **{f"same_{name}_top1": _same_level() for name in ("division", "group", "class", "category")},
    "cpv_common_prefix_length_top1": Exercise(
        hierarchy.common_prefix_length,
        _prefix,
        perfect=(("45213100", "45213100"),),
        best=8.0,
        without_gold=(("45213100", None), ("45213100", "H1a")),
        better={"the gold itself": _nearer},
    ),
    "hierarchy_match_level_top1": Exercise(
        hierarchy.hierarchy_match_level,
        lambda rng: (rng.sample([2, 3, 4, 5, 6, 7, 8], rng.randint(0, 4)),),
        perfect=(([2, 3, 8],),),
        best=8.0,
        without_gold=((None,),),
        same={"another order": _shuffled},
    ),
    "score_margin_top1_top2": Exercise(
        candidates.score_margin,
        _scores,
        because="a difference on the system's own scale: it has no best value",
    ),
    "score_entropy_at_k": Exercise(
        candidates.score_entropy,
        _scores,
        same={"another order": _shuffled},
        because="neither much nor little entropy is good",
    ),
    "duplicate_cpv_rate_at_k": _counted(
        candidates.duplicate_rate, perfect=((["a", "b"],),), without_gold=(([],),)
    ),
    "duplicate_cpv_at_k": _counted(candidates.duplicates, perfect=((["a", "b"],),)),
    "unique_cpv_at_k": _counted(candidates.unique_count),
    "unique_division_at_k": _counted(candidates.unique_count),
    "query_token_count": _counted(lambda words: float(len(words))),
    "high_confidence_wrong": Exercise(
        candidates.high_confidence_wrong,
        lambda rng: (rng.choice([True, False, None]), rng.choice([None, rng.random()]), 0.85),
        perfect=((True, 0.99, 0.85), (False, 0.2, 0.85)),
        without_gold=((None, 0.9, 0.85), (False, None, 0.85)),
        better={"the answer put right": lambda a, rng: (None if a[0] is None else True, *a[1:])},
    ),
    "low_margin_decision": Exercise(
        candidates.low_margin,
        _scores,
        perfect=(([1.0, 0.2],),),
        without_gold=(([1.0],), ([],)),
        because=_COUNT,
    ),
    "duplicate_candidate_pressure": _counted(
        candidates.duplicate_pressure, perfect=((["a", "b"],),), without_gold=(([],),)
    ),
    "low_diversity_at_k": _counted(
        candidates.low_diversity, perfect=((["45", "30"],),), without_gold=((["45"],),)
    ),
    "short_or_ambiguous_query": _counted(candidates.short_query, perfect=((["a", "b", "c", "d"],),)),
    **{f"{kind}_error_top1": _relation(kind) for kind in candidates.ERROR_KINDS},
    "macro_f1": _of_classes(
        class_tables.macro_f1,
        better={},
        because="a case put right can bring in a class that is otherwise always missed, which lowers the mean",
    ),
    "micro_f1": _of_classes(class_tables.micro_f1),
}
