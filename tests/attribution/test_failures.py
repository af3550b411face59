"""Why a case failed: the cascade, and what the oracle ladder proves beyond its placebo."""

from __future__ import annotations

import pytest

from core.attribution.failures import COUNTERFACTUAL, OBSERVED, attribute_failure, is_failure
from core.attribution.fixes import next_ablation
from core.attribution.taxonomy import MECHANISMS, taxonomy
from core.attribution.trace import Configuration
from core.settings import RunSettings, check
from tests.simulation.sweeps import PLANTED

FAIL = {"verdict": "FAIL", "auto_flag": "incorrect", "expected_answerable": True}


@pytest.mark.parametrize("mechanism", [m for m in PLANTED if m != "distracted"])
def test_recorded_facts_decide(mechanism):
    facts, _ = PLANTED[mechanism]
    assert attribute_failure(FAIL | facts)[0] == mechanism


def test_a_ranking_problem_is_not_blamed_on_chunking_by_its_name():
    row = FAIL | {
        "primary_error_reason": "wrong_chunks_ranked_high",
        "evidence_recall": 0.0,
        "evidence_deep_rank": 12.0,
    }
    assert MECHANISMS[attribute_failure(row)[0]][0] == "candidate_ranking"


def test_high_confidence_alone_is_no_calibration_failure_when_a_step_is_known():
    row = FAIL | {"evidence_recall": 0.0, "prediction_confidence": 0.99}
    assert attribute_failure(row)[0] == "not_retrieved"


def test_the_first_rung_that_repairs_names_the_step():
    ladder = {
        "placebo": 0.0,
        "deep": 0.0,
        "oracle_ranking": 1.0,
        "oracle_retrieval": 1.0,
        "gold_context": 1.0,
    }
    found = attribute_failure(FAIL | {"evidence_recall": 1.0, "answer_claim_recall": 0.0}, ladder)
    assert found[0] == "ranked_low"
    assert found[2] == COUNTERFACTUAL


def test_what_comes_right_by_itself_proves_nothing():
    ladder = {"placebo": 0.8, "deep": 1.0, "gold_context": 1.0}
    assert attribute_failure(FAIL | {"evidence_recall": 0.0}, ladder)[2] == OBSERVED


def test_still_wrong_with_the_evidence_alone_is_generation():
    ladder = {
        "placebo": 0.0,
        "deep": 0.0,
        "oracle_ranking": 0.0,
        "oracle_retrieval": 0.0,
        "gold_context": 0.0,
    }
    mechanism, words, level = attribute_failure(FAIL | {"evidence_recall": 0.0}, ladder)
    assert (MECHANISMS[mechanism][0], level) == ("answer_generation", COUNTERFACTUAL)
    assert "only the evidence" in words


def test_nothing_known_is_said_to_be_nothing_known():
    assert attribute_failure({"verdict": "FAIL", "auto_flag": "fail"})[0] == "undetermined"


def test_what_counts_as_a_failure():
    assert is_failure({"verdict": "FAIL"})
    assert is_failure({"verdict": "WEAK", "auto_flag": "partially_correct"})
    assert not is_failure({"verdict": "WEAK", "auto_flag": "needs_manual_review"})
    assert not is_failure({"verdict": "PASS"})


def test_every_mechanism_has_a_component_with_advice():
    for component, _ in MECHANISMS.values():
        assert taxonomy()[component].recommendation


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"chunk_size": 80, "overlap": 60},
        {"answer_sentences": 10, "top_k": 900},
        {"retriever": "hybrid", "hybrid_alpha": 0.4, "chunking": "by_section"},
        {"retriever": "bm25", "retriever_options": {"k1": 1.2}},
        {"rerank_top_n": 32, "abstain_on_weak_evidence": True},
    ],
)
def test_every_proposed_change_can_be_run(settings):
    chosen = RunSettings(**settings)
    configuration = Configuration("c", chosen.design(), settings=chosen.model_dump(mode="json"))
    proposed = [next_ablation(configuration, component, {}) for component in taxonomy()]
    changes = [change for change in proposed if change is not None]
    assert len(changes) >= 4
    for change in changes:
        changed = RunSettings(**{**settings, change["setting"]: change["value"]})
        assert changed.design() != chosen.design(), "it changes something that matters"
        assert not [p for p in check(changed) if p.where not in ("docs", "questions")]
