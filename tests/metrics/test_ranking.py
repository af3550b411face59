"""Ranking metrics of one case: worked values, conventions, and agreement with an independent library."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from core.metrics import judgements, ranking, ties
from core.metrics.ranking_batch import batch_scores, grid_of

WORKED_RUN = ["d1", "d2", "d3", "d4", "d5"]
WORKED = {"d1": 0, "d2": 2, "d4": 1, "d6": 3}


def test_worked_values() -> None:
    assert ranking.ndcg_at_k(WORKED_RUN, WORKED, 5) == pytest.approx(0.355436, abs=5e-7)
    assert ranking.ndcg_exp_at_k(WORKED_RUN, WORKED, 5) == pytest.approx(0.247367, abs=5e-7)
    assert ranking.average_precision(WORKED_RUN, WORKED) == pytest.approx(1 / 3)
    assert ranking.reciprocal_rank(WORKED_RUN, WORKED) == 0.5
    assert ranking.precision_at_k(WORKED_RUN, WORKED, 5) == 0.4
    assert ranking.recall_at_k(WORKED_RUN, WORKED, 5) == pytest.approx(2 / 3)
    assert ranking.success_at_k(WORKED_RUN, WORKED, 1) == 0.0
    assert judgements.judged_at_k(WORKED_RUN, WORKED, 5) == 0.6


def test_worked_ties() -> None:
    judged = {"a": 1, "b": 0, "c": 2}
    tied = [("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 1.0)]
    orders = [ranking.ndcg_at_k(list(order), judged, 3) for order in itertools.permutations("abcd")]
    defined = [value for value in orders if value is not None]
    assert min(defined) == pytest.approx(0.190047, abs=5e-7)
    assert max(defined) == 1.0
    assert ties.expected_ndcg_at_k([["a", "b", "c", "d"]], judged, 3) == pytest.approx(0.607465, abs=5e-7)
    assert ties.expected_ndcg_at_k([["a", "b", "c", "d"]], judged, 3) == pytest.approx(
        float(np.mean(defined))
    )
    assert ranking.ndcg_at_k(ties.ordered(tied), judged, 3) == pytest.approx(0.479625, abs=5e-7)
    spread = ties.tie_spread([item for item, _ in tied], [1.0] * 4, judged, 3)
    assert spread == pytest.approx(max(defined) - min(defined))


def test_expected_ndcg_is_the_mean_over_all_orders_inside_several_groups() -> None:
    judged = {"a": 3, "c": 1, "e": 2, "x": 1}
    groups = [["a", "b"], ["c"], ["d", "e", "f"]]
    orders = itertools.product(*(itertools.permutations(group) for group in groups))
    values = [ranking.ndcg_at_k([i for part in order for i in part], judged, 4) for order in orders]
    mean = float(np.mean([value for value in values if value is not None]))
    assert ties.expected_ndcg_at_k(groups, judged, 4) == pytest.approx(mean)


@pytest.mark.parametrize(("lead", "tied"), [(1e-7, False), (1e-8, True)])
def test_single_precision_sees_a_lead_of_1e_7_and_not_of_1e_8(lead: float, tied: bool) -> None:
    scored = [("b", 0.5), ("a", 0.5 + lead)]
    assert ties.ordered(scored, precision="double") == ["a", "b"]
    assert ties.ordered(scored, precision="single") == (["b", "a"] if tied else ["a", "b"])


def test_ties_fall_to_the_id_that_comes_last_by_code_point() -> None:
    assert ties.ordered([("Z", 1.0), ("a", 1.0), ("é", 1.0), ("10", 1.0), ("9", 1.0)]) == [
        "é",
        "a",
        "Z",
        "9",
        "10",
    ]
    assert ties.ordered([("a", 1.0), ("b", 2.0)], "given") == ["a", "b"]


def test_the_ideal_comes_from_all_judged_items_not_from_the_retrieved_ones() -> None:
    judged = {f"d{i}": 1 for i in range(10)}
    assert ranking.recall_at_k(["d0"], judged, 5) == 0.1
    found = ranking.ndcg_at_k(["d0"], judged, 5)
    assert found is not None
    assert found == pytest.approx(1 / sum(1 / np.log2(i + 1) for i in range(1, 6)))


def test_an_item_counts_once_however_often_it_is_returned() -> None:
    judged = {"a": 2, "b": 1}
    once, twice = ["a", "x", "b"], ["a", "a", "x", "a", "b", "b"]
    for function in (
        ranking.ndcg_at_k,
        ranking.recall_at_k,
        ranking.average_precision,
        ranking.reciprocal_rank,
    ):
        assert function(twice, judged, 3) == function(once, judged, 3)
    assert ranking.recall_at_k(["a", "a"], judged, 5) == 0.5
    assert judgements.duplicate_rate_at_k(twice) == 0.5


def test_nothing_relevant_is_undefined_and_never_zero() -> None:
    for judged in ({}, {"a": 0}, {"a": -1}):
        for function in (
            ranking.recall_at_k,
            ranking.precision_at_k,
            ranking.success_at_k,
            ranking.ap_mink_at_k,
        ):
            assert function(["a"], judged, 5) is None
        for other in (
            ranking.ndcg_at_k,
            ranking.average_precision,
            ranking.reciprocal_rank,
            ranking.r_precision,
        ):
            assert other(["a"], judged) is None
        assert judgements.bpref(["a"], judged) is None


def test_a_short_list_is_filled_with_non_relevant_places() -> None:
    assert ranking.precision_at_k(["a"], {"a": 1}, 10) == 0.1
    assert ranking.reciprocal_rank([], {"a": 1}) == 0.0


def test_names_that_sound_alike_stay_apart() -> None:
    judged = {"a": 1, "b": 1, "c": 1}
    assert ranking.average_precision(["a"], judged, 1) == pytest.approx(1 / 3)
    assert ranking.ap_mink_at_k(["a"], judged, 1) == 1.0
    assert ranking.ragas_context_precision(["a"], judged, 1) == 1.0


def _random_query(rng: random.Random) -> tuple[dict[str, float], dict[str, int]]:
    pool = [f"d{i}" for i in range(30)]
    run = {item: rng.choice([0.1, 0.2, 0.5, 0.9]) for item in rng.sample(pool, rng.randint(1, 20))}
    judged = {item: rng.randint(0, 3) for item in rng.sample(pool, rng.randint(1, 12))}
    return run, judged


def test_equals_pytrec_eval_on_random_tied_rankings() -> None:
    ir_measures = pytest.importorskip(
        "ir_measures", reason="the oracle ir-measures (extra: dev) is not installed"
    )
    from ir_measures import AP, RR, Bpref, P, R, Rprec, Success, nDCG

    rng = random.Random(7)
    queries = {f"q{i}": _random_query(rng) for i in range(200)}
    run = {name: scores for name, (scores, _) in queries.items()}
    qrels = {name: judged for name, (_, judged) in queries.items()}
    oracle = {
        nDCG @ 5: lambda r, j: ranking.ndcg_at_k(r, j, 5),
        nDCG: ranking.ndcg_at_k,
        AP: ranking.average_precision,
        AP @ 5: lambda r, j: ranking.average_precision(r, j, 5),
        RR: ranking.reciprocal_rank,
        P @ 5: lambda r, j: ranking.precision_at_k(r, j, 5),
        R @ 5: lambda r, j: ranking.recall_at_k(r, j, 5),
        Rprec: ranking.r_precision,
        Success @ 3: lambda r, j: ranking.success_at_k(r, j, 3),
        Bpref: judgements.bpref,
    }
    compared = 0
    for value in ir_measures.iter_calc(list(oracle), qrels, run):
        ours = oracle[value.measure](ties.ordered(run[value.query_id].items()), qrels[value.query_id])
        assert (ours or 0.0) == pytest.approx(value.value, abs=1e-12), (value, run[value.query_id])
        compared += 1
    assert compared == 200 * len(oracle)


@pytest.mark.parametrize("order", ["given", "trec"])
def test_the_batch_equals_the_single_case(order: str) -> None:
    rng = random.Random(3)
    queries = [_random_query(rng) for _ in range(150)] + [
        ({}, {"d1": 1}),
        ({"d1": 1.0}, {}),
        ({"d1": 1.0}, {"d1": 0}),
    ]
    runs, judged = [run for run, _ in queries], [grades for _, grades in queries]
    grid, entries = grid_of(runs, judged, order)  # type: ignore[arg-type]
    found = batch_scores(grid, entries, k=5)
    for row, (run, grades) in enumerate(queries):
        ranked = ties.ordered(run.items(), order)  # type: ignore[arg-type]
        expected = _single(ranked, grades)
        assert bool(found["defined"][row]) == (expected["recall_at_k"] is not None)
        for name, value in expected.items():
            if value is not None:
                assert found[name][row] == pytest.approx(value, abs=1e-12), (name, run, grades)


def _single(ranked: Sequence[str], judged: Mapping[str, int]) -> dict[str, float | None]:
    return {
        "ndcg_at_k": ranking.ndcg_at_k(ranked, judged, 5),
        "mrr_at_k": ranking.reciprocal_rank(ranked, judged, 5),
        "recall_at_k": ranking.recall_at_k(ranked, judged, 5),
        "precision_at_k": ranking.precision_at_k(ranked, judged, 5),
        "hit_at_k": ranking.success_at_k(ranked, judged, 5),
        "average_precision": ranking.average_precision(ranked, judged),
        "r_precision": ranking.r_precision(ranked, judged),
    }
