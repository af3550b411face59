"""The classification evaluator: verdicts, worked values, and a diagnosis that never contradicts itself."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest

from core.contracts import ScoringContext
from core.corpus import Catalog
from core.evaluation.classification import Classification
from core.evaluation.classification_diagnosis import MODES
from core.inputs.catalog import load_catalog
from core.metrics.code_tree import CodeTree, relation
from core.metrics.hierarchical_ranking import IdealGains, hierarchical_ndcg
from core.metrics.hierarchy import hierarchical_f1
from core.records import Case, Failure, Hit, Output, Result, Verdict
from tests.real_data import real_data

GOLD = "45213100"
# statistics.md 12: prediction → hP, hR, hF, LCA distance, deepest official level, relation
WORKED = {
    "45213000": (1.0, 0.8, 0.888889, 1, "category", "ancestor", 0.5),
    "45211000": (0.75, 0.6, 0.666667, 3, "class", "same_branch", 0.5),
    "45000000": (1.0, 0.2, 0.333333, 4, "division", "ancestor", 0.25),
    "45233140": (0.333333, 0.4, 0.363636, 7, "group", "same_branch", 0.25),
    "30192000": (0.0, 0.0, 0.0, 9, "no_overlap", "unrelated", 0.0),
}


@pytest.fixture(scope="module")
def official() -> Catalog:
    return load_catalog(real_data("cpv", "cpv_2008_en_de.csv")).catalog


@pytest.fixture(scope="module")
def pairs_scheme() -> Catalog:
    return load_catalog(real_data("cpv", "cpv_2008_en_de.csv"), scheme="two_digit_steps").catalog


def _score(
    catalog: Catalog | None,
    ranked: list[str],
    gold: tuple[str, ...] = (GOLD,),
    *,
    scores: list[float | None] | None = None,
    confidence: float | None = None,
    top_k: int = 5,
) -> Result:
    given = scores or [None] * len(ranked)
    hits = tuple(
        Hit(id=code, rank=rank, score=score)
        for rank, (code, score) in enumerate(zip(ranked, given, strict=True), 1)
    )
    case = Case(id="q", query="new office building in the town centre", gold_codes=gold)
    output = Output(case_id="q", hits=hits, confidence=confidence)
    return Classification().evaluate(case, output, ScoringContext(catalog=catalog, top_k=top_k))


@pytest.mark.parametrize("predicted", sorted(WORKED))
def test_worked_values(official: Catalog, pairs_scheme: Catalog, predicted: str) -> None:
    hp, hr, hf, distance, level, kind, published = WORKED[predicted]
    result = _score(official, [predicted])
    assert result.scores["hierarchical_precision_top1"] == pytest.approx(hp, abs=1e-6)
    assert result.scores["hierarchical_recall_top1"] == pytest.approx(hr, abs=1e-6)
    assert result.scores["hierarchical_f1_top1"] == pytest.approx(hf, abs=1e-6)
    assert result.scores["lca_distance_top1"] == distance
    assert result.artifacts["hierarchy_match_label_top1"] == level
    assert result.artifacts["error_relation"] == kind
    old = _score(pairs_scheme, [predicted])
    assert old.scores["hierarchy_score_top1"] == published
    assert old.scores["cpv_hierarchy_similarity_top1"] == published
    assert old.artifacts["hierarchy_scheme"] == "two_digit_steps"


def test_verdicts(official: Catalog) -> None:
    assert _score(official, [GOLD]).verdict is Verdict.PASS
    assert _score(official, ["45213000", GOLD]).verdict is Verdict.FAIL
    assert _score(official, []).verdict is Verdict.FAIL
    without = _score(official, [GOLD], ())
    assert (without.verdict, without.unchecked) == (Verdict.WEAK, ("exact_code",))
    assert without.scores["exact_top1_match"] is None
    assert without.undefined["exact_top1_match"] == "no_gold"


def test_a_failed_request_is_an_error_and_no_zero(official: Catalog) -> None:
    failure = Failure(where="system", kind="timeout", message="no answer within 1 s")
    case = Case(id="q", query="x", gold_codes=(GOLD,))
    result = Classification().evaluate(
        case, Output(case_id="q", failure=failure), ScoringContext(catalog=official)
    )
    assert result.verdict is Verdict.ERROR
    assert result.scores["exact_top1_match"] is None
    assert result.undefined["exact_top1_match"] == "system_error"


def test_levels_that_the_gold_does_not_have_do_not_apply(official: Catalog) -> None:
    scores = _score(official, ["45213100"], ("45000000",)).scores
    assert scores["same_division_top1"] == 1.0
    assert scores["same_group_top1"] is None
    assert _score(official, ["45000000"], ("45213100",)).scores["same_group_top1"] == 0.0


def test_padding_zeros_are_no_shared_digits(official: Catalog, pairs_scheme: Catalog) -> None:
    assert _score(official, ["33100000"], ("33190000",)).scores["cpv_common_prefix_length_top1"] == 3.0
    assert _score(official, ["33100000"], ("33190000",)).scores["same_group_top1"] == 1.0
    assert (
        _score(pairs_scheme, ["33100000"], ("33190000",)).artifacts["hierarchy_match_label_top1"]
        == "division"
    )


def test_a_list_without_the_gold_code_stays_below_one(official: Catalog) -> None:
    near = _score(official, ["45213000", "30192000", "33100000"]).scores["ndcg_at_k"]
    assert near is not None
    assert 0 < near < 0.5
    assert _score(None, ["45213000"]).scores["ndcg_at_k"] is None


@pytest.mark.parametrize("gold", ["45213100", "03000000", "30192121", "45000000", "98395000"])
def test_the_ideal_is_that_of_the_whole_list(official: Catalog, gold: str) -> None:
    tree = CodeTree("official", official)
    gains = sorted(
        (hierarchical_f1(tree.path(code.code), tree.path(gold)) or 0.0 for code in official.codes),
        reverse=True,
    )
    assert IdealGains(tree).of(gold, 8) == pytest.approx(gains[:8])


def test_the_best_possible_list_scores_exactly_one(official: Catalog) -> None:
    tree = CodeTree("official", official)
    best = sorted(
        official.by_code, key=lambda code: -(hierarchical_f1(tree.path(code), tree.path(GOLD)) or 0.0)
    )
    assert hierarchical_ndcg(best[:8], GOLD, 8, tree, IdealGains(tree)) == 1.0


def test_several_gold_codes_strict_any_and_set(official: Catalog) -> None:
    result = _score(official, ["30192000"], (GOLD, "30192000"))
    assert result.verdict is Verdict.FAIL
    assert result.scores["exact_top1_match"] == 0.0
    assert result.scores["exact_any_top1"] == 1.0
    assert result.scores["hit_any_at_k"] == 1.0
    assert result.relevance == {"30192000": 1}
    assert 0 < (result.scores["hierarchical_f1_set_top1"] or 0) < 1


def test_a_gold_code_at_rank_two_is_a_ranking_error_however_near_the_first_is(official: Catalog) -> None:
    result = _score(official, ["45213000", GOLD])
    assert result.diagnosis is not None
    assert (
        result.artifacts["failure_mode"]
        == result.diagnosis.primary_reason
        == "gold_present_but_not_ranked_first"
    )
    assert result.artifacts["likely_bottleneck"] == "reranker_or_prompt_selection"


def test_mode_bottleneck_and_reasons_never_contradict_each_other(official: Catalog) -> None:
    codes = [code.code for code in official.codes if code.code.startswith(("452", "301", "331"))]
    rng = random.Random(3)
    seen = set()
    for _ in range(600):
        gold = rng.choice(codes)
        ranked = rng.sample([*rng.sample(codes, 8), gold, gold[:4] + "0000"], rng.randint(0, 5))
        result = _score(official, list(dict.fromkeys(ranked)), (gold,), confidence=rng.choice([None, 0.95]))
        mode = MODES[result.artifacts["failure_mode"]]
        seen.add(mode.name)
        assert result.diagnosis is not None
        assert result.artifacts["likely_bottleneck"] == mode.bottleneck
        assert result.diagnosis.primary_reason == mode.primary
        assert (mode.name == "ok") == (result.verdict is Verdict.PASS) == (mode.bottleneck == "none")
        assert (mode.name == "gold_present_but_not_ranked_first") == (
            result.scores["gold_present_at_k"] == 1.0 and result.verdict is Verdict.FAIL
        )
        assert (mode.name == "no_candidates_returned") == (not ranked)
    assert seen == set(MODES)


def test_unknown_codes_and_missing_scores(official: Catalog) -> None:
    result = _score(official, ["99999999", "45213000"])
    assert result.artifacts["error_relation"] == "invalid_code"
    assert result.scores["hierarchical_f1_top1"] == 0.0
    assert result.scores["score_margin_top1_top2"] is None
    assert result.undefined["score_margin_top1_top2"] == "no_scores"
    assert result.scores["high_confidence_wrong"] is None
    assert _score(official, ["45213000"], confidence=0.9).scores["high_confidence_wrong"] == 1.0


def test_the_margin_is_judged_on_the_scale_of_the_scores(official: Catalog) -> None:
    wide = _score(official, [GOLD, "45213000"], scores=[0.032, 0.016])
    assert wide.scores["low_margin_decision"] == 0.0
    assert _score(official, [GOLD, "45213000"], scores=[25.0, 24.9]).scores["low_margin_decision"] == 1.0


def test_hierarchical_f1_is_wu_palmer(official: Catalog) -> None:
    tree = CodeTree("official", official)
    rng = random.Random(1)
    codes = rng.sample(sorted(official.by_code), 60)
    for a, b in pairwise(codes):
        p, g = tree.path(a), tree.path(b)
        shared = len(set(p) & set(g))
        assert hierarchical_f1(p, g) == pytest.approx(2 * shared / (len(p) + len(g)))
        assert relation(p, g) != "exact"


def test_codes_without_a_tree_stand_alone(tmp_path: Path) -> None:
    result = _score(None, ["Billing", "Refund"], ("Refund",))
    assert result.verdict is Verdict.FAIL
    assert result.scores["gold_rank"] == 2.0
    assert result.scores["hierarchical_f1_top1"] == 0.0
    assert _score(None, ["Refund"], ("Refund",)).verdict is Verdict.PASS
