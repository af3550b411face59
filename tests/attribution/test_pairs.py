"""Controlled, confounded and replicate pairs over complete settings with applicability."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.attribution.grid import QUALITY, build_grid
from core.attribution.pairs import CONFOUNDED, CONTROLLED, REPLICATE, contrasts, find_pairs
from core.attribution.trace import Configuration, Trace, settings_tree
from core.settings import RunSettings


def trace_of_designs(designs, scores=None):
    configurations = tuple(Configuration(f"c{i}", design) for i, design in enumerate(designs))
    rng = np.random.default_rng(0)
    rows = [
        {
            "experiment": c.name, "question_id": f"q{q}", "question_type": "fact", "cluster": None, "repeat": 0, "verdict": "PASS",
            "auto_flag": "correct", "auto_correct": float(scores[i][q]) if scores is not None else float(rng.random() < 0.5),
        }
        for i, c in enumerate(configurations)
        for q in range(20)
    ]  # fmt: skip
    return Trace(pd.DataFrame(rows), configurations, settings_tree(), baseline="c0")


def kinds(*changes):
    designs = [RunSettings(docs=("d",), questions="q", **change).design() for change in changes]
    grid = build_grid(trace_of_designs(designs))
    pairs = find_pairs(grid)
    return grid, pairs, [pairs.kind(p) for p in range(len(pairs.left))]


@pytest.mark.parametrize(
    ("left", "right", "factor", "entails"),
    [
        ({}, {"rerank_top_n": 32}, "rerank_top_n", {"rerank_weight"}),
        ({}, {"retriever": "hybrid"}, "retriever", {"hybrid_alpha", "hybrid_fusion", "embedding_model"}),
        ({}, {"abstain_on_weak_evidence": True}, "abstain_on_weak_evidence", {"abstain_below"}),
        ({}, {"chunking": "by_section"}, "chunking", {"chunk_size", "overlap"}),
        ({}, {"top_k": 4}, "top_k", set()),
        ({"rerank_top_n": 8}, {"rerank_top_n": 8, "rerank_weight": 0.5}, "rerank_weight", set()),
    ],
)
def test_one_choice_is_controlled_and_brings_its_children(left, right, factor, entails):
    grid, pairs, found = kinds(left, right)
    assert found == [CONTROLLED]
    assert grid.factors[pairs.factor[0]].name == factor
    assert {f.name for f, e in zip(grid.factors, pairs.entailed[:, 0], strict=True) if e} >= entails


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({}, {"rerank_top_n": 32, "top_k": 4}),
        ({"rerank_top_n": 8}, {"rerank_top_n": 16, "rerank_weight": 0.5}),
        ({}, {"chunk_size": 100, "overlap": 10}),
    ],
)
def test_two_choices_are_confounded(left, right):
    _, _, found = kinds(left, right)
    assert found == [CONFOUNDED]


def test_a_setting_that_does_not_apply_changes_nothing():
    _, _, found = kinds({}, {"rerank_weight": 0.9})
    assert found == [REPLICATE]


def test_a_contrast_gathers_its_blocks_whichever_side_comes_first():
    designs = [{"a": a, "b": b} for a, b in [(1, 1), (2, 1), (2, 2), (1, 2)]]
    scores = np.array([[0.0] * 20, [1.0] * 20, [1.0] * 20, [0.0] * 20])
    grid = build_grid(trace_of_designs(designs, scores))
    found = {c.factor.name: c for c in contrasts(grid, find_pairs(grid))}
    assert found["a"].blocks == 2
    assert found["a"].differences(grid.scores[QUALITY]) == pytest.approx(np.ones(20))
    assert found["b"].differences(grid.scores[QUALITY]) == pytest.approx(np.zeros(20))


def test_one_quality_scale_for_every_configuration():
    """A metric that one configuration lacks is left out for all: nobody is better by what was not measured."""
    trace = trace_of_designs([{"a": 1}, {"a": 2}], np.zeros((2, 20)))
    frame = trace.frame.copy()
    frame["grounded_claim_ratio"] = [1.0 if e == "c0" else None for e in frame["experiment"]]
    frame["mrr_at_k"] = 0.5
    grid = build_grid(Trace(frame, trace.configurations, trace.parents))
    assert "grounding_score" not in grid.scale
    assert "grounded_claim_ratio" in grid.left_out
    assert grid.scores[QUALITY] == pytest.approx(np.full((2, 20), 0.25))


def test_repeats_are_averaged_before_anything_is_counted():
    trace = trace_of_designs([{"a": 1}, {"a": 2}], np.zeros((2, 20)))
    again = trace.frame.assign(repeat=1, auto_correct=1.0)
    grid = build_grid(Trace(pd.concat([trace.frame, again]), trace.configurations, trace.parents))
    assert len(grid.questions) == 20
    assert grid.scores[QUALITY] == pytest.approx(np.full((2, 20), 0.5))


def test_censored_configurations_stay_out():
    trace = trace_of_designs([{"a": 1}, {"a": 2}, {"a": 3}])
    stopped = tuple(Configuration(c.name, c.design, censored=c.name == "c2") for c in trace.configurations)
    assert build_grid(Trace(trace.frame, stopped, trace.parents)).names == ["c0", "c1"]
