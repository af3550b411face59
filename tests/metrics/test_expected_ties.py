"""Figures averaged over ties equal the mean over all orders, for every measure that has one."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from core.cli.rank import rank
from core.metrics import expected_ties, judgements, ranking

GRADES = st.lists(st.sampled_from([-1, 0, 0, 1, 2]), min_size=1, max_size=6)
EXACT = {
    "P": lambda ids, judged, k: ranking.precision_at_k(ids, judged, k),
    "recall": lambda ids, judged, k: ranking.recall_at_k(ids, judged, k),
    "success": lambda ids, judged, k: ranking.success_at_k(ids, judged, k),
    "Rprec": lambda ids, judged, k: ranking.r_precision(ids, judged),
    "bpref": lambda ids, judged, k: judgements.bpref(ids, judged),
    "map": lambda ids, judged, k: ranking.average_precision(ids, judged),
    "map_cut": lambda ids, judged, k: ranking.average_precision(ids, judged, k),
    "recip_rank": lambda ids, judged, k: ranking.reciprocal_rank(ids, judged),
    "recip_rank_cut": lambda ids, judged, k: ranking.reciprocal_rank(ids, judged, k),
    "ndcg": lambda ids, judged, k: ranking.ndcg_at_k(ids, judged),
    "ndcg_cut": lambda ids, judged, k: ranking.ndcg_at_k(ids, judged, k),
}


def test_every_measure_is_compared() -> None:
    assert EXACT.keys() == expected_ties.MEASURES.keys()


@pytest.mark.parametrize("name", sorted(EXACT))
@given(grades=GRADES, cuts=st.lists(st.integers(0, 6), max_size=2), k=st.integers(1, 7))
def test_it_is_the_mean_over_all_orders(name: str, grades: list[int], cuts: list[int], k: int) -> None:
    ids = [f"d{i}" for i in range(len(grades))]
    judged = {i: grade for i, grade in zip(ids, grades, strict=True) if grade >= 0} | {"elsewhere": 1}
    edges = [0, *sorted({cut for cut in cuts if 0 < cut < len(ids)}), len(ids)]
    groups = [ids[a:b] for a, b in itertools.pairwise(edges)]
    orders = itertools.product(*(itertools.permutations(group) for group in groups))
    values = [EXACT[name]([i for part in order for i in part], judged, k) for order in orders]
    whole = None if name in ("map", "recip_rank", "ndcg", "Rprec", "bpref") else k
    assert expected_ties.MEASURES[name](groups, judged, whole, 1) == pytest.approx(sum(values) / len(values))


@pytest.mark.parametrize("name", sorted(EXACT))
def test_nothing_relevant_is_none(name: str) -> None:
    assert expected_ties.MEASURES[name]([["a", "b"]], {"a": 0}, 2, 1) is None


def test_rank_averages_over_ties(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n1 0 b 0\n2 0 a 0\n", encoding="utf-8")
    (tmp_path / "r").write_text("1 Q0 a 1 1.0 x\n1 Q0 b 2 1.0 x\n2 Q0 a 1 1.0 x\n", encoding="utf-8")
    files = [str(tmp_path / "q"), str(tmp_path / "r")]
    told = CliRunner().invoke(rank, [*files, "-m", "map,P@1,recip_rank,num_ret", "--ties", "expected", "-q"])
    assert told.exit_code == 0, told.output
    values = {tuple(line.split()[:2]): line.split()[2] for line in told.stdout.splitlines()}
    assert values["map", "1"] == values["recip_rank", "1"] == "0.7500"
    assert values["P@1", "1"] == "0.5000"
    assert values["map", "2"] == "0.0000"
    assert values["num_ret", "all"] == "3"
    refused = CliRunner().invoke(rank, [*files, "-m", "infAP", "--ties", "expected"])
    assert "infAP" in str(refused.exception)
