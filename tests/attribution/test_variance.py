"""The variance decomposition against exact sums of squares, planted shares, and grids that are not balanced."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.attribution import attribute
from core.attribution.grid import build_grid
from core.attribution.reports import attribution_report
from core.attribution.trace import Configuration, Trace
from core.attribution.variance import variance_shares, variance_summary
from tests.simulation.measure import PLANS
from tests.simulation.sweeps import Plan, simulate


def table_of(scores, designs):
    """`scores`: repeats × configurations × questions."""
    repeats, c, q = scores.shape
    configurations = tuple(Configuration(f"c{i}", design) for i, design in enumerate(designs))
    frame = pd.DataFrame(
        [
            {"experiment": f"c{i}", "question_id": f"q{j:02d}", "question_type": "t", "cluster": None, "auto_correct": scores[r, i, j]}
            for r, i, j in itertools.product(range(repeats), range(c), range(q))
        ]
    )  # fmt: skip
    trace = Trace(frame, configurations)
    return variance_shares(build_grid(trace), frame).set_index("component")


GRID = [{"retriever": r, "top_k": k} for r in ("bm25", "tfidf") for k in (4, 8, 16)]


def test_a_balanced_grid_is_split_exactly():
    rng = np.random.default_rng(5)
    scores = rng.random((1, 6, 12))
    found = table_of(scores, GRID)
    y = scores[0]
    cells, grand = y.mean(axis=1).reshape(2, 3), y.mean()
    rows, columns = cells.mean(axis=1), cells.mean(axis=0)
    expected = {
        "question": 6 * ((y.mean(axis=0) - grand) ** 2).sum(),
        "configuration": 12 * ((cells - grand) ** 2).sum(),
        "retriever": 36 * ((rows - grand) ** 2).sum(),
        "top_k": 24 * ((columns - grand) ** 2).sum(),
        "retriever × top_k": 12 * ((cells - rows[:, None] - columns + grand) ** 2).sum(),
    }
    for name, value in expected.items():
        assert found.loc[name, "sum_of_squares"] == pytest.approx(value)
    whole = found[found["factor_a"].isna()]
    assert whole["sum_of_squares"].sum() == pytest.approx(((y - grand) ** 2).sum())
    assert whole["share_of_total"].sum() == pytest.approx(1)
    assert found["share_between_configurations"].sum() == pytest.approx(1)
    assert list(found["df"]) == [11, 5, 55, 1, 2, 2]
    # partial omega squared, with the question × retriever mean square as its error
    by_level = y.reshape(2, 3, 12).mean(axis=1)
    rest = by_level - by_level.mean(axis=1, keepdims=True) - by_level.mean(axis=0) + grand
    error = 3 * (rest**2).sum() / 11
    ss = expected["retriever"]
    assert found.loc["retriever", "partial_omega_squared"] == pytest.approx(
        max(0.0, (ss - error) / (ss + 71 * error))
    )


def test_planted_shares_are_found():
    plan = Plan({"retriever": {"bm25": 0.0, "tfidf": 0.3}, "top_k": {4: 0.0, 8: 0.1}}, n_questions=400, question_sd=0.2, factor_sd=0.0, noise_sd=0.1)  # fmt: skip
    found = {}
    for seed in range(5):
        trace = simulate(plan, seed)
        table = variance_shares(build_grid(trace), trace.frame).set_index("component")
        for name, value in table["share_of_total"].items():
            found.setdefault(name, []).append(value)
    # variances over cells: questions .2² (and a quarter of the noise in their mean), retriever (.3/2)², top_k (.1/2)²
    question, retriever, top_k, noise = 0.04, 0.0225, 0.0025, 0.01
    total = question + retriever + top_k + noise
    shares = {name: np.mean(values) for name, values in found.items()}
    assert shares["question"] == pytest.approx((question + noise / 4) / total, abs=0.03)
    assert shares["retriever"] == pytest.approx(retriever / total, abs=0.03)
    assert shares["top_k"] == pytest.approx(top_k / total, abs=0.01)
    assert shares["retriever × top_k"] < 0.005
    assert shares["question × configuration"] == pytest.approx(0.75 * noise / total, abs=0.02)


def test_a_factor_that_only_shifts_single_questions_explains_nothing():
    plan = replace(PLANS["balanced"], factors={"retriever": {"bm25": 0.0, "tfidf": 0.0}, "top_k": {4: 0.0, 8: 0.0}}, factor_sd=0.3, n_questions=60)  # fmt: skip
    values = []
    for seed in range(20):
        trace = simulate(plan, seed)
        table = variance_shares(build_grid(trace), trace.frame).set_index("component")
        values.append(table.loc["retriever", "partial_omega_squared"])
    assert min(values) >= 0
    assert np.median(values) < 0.01  # against the within-cell error it would look large


def test_chance_between_repeats_is_its_own_part():
    rng = np.random.default_rng(2)
    scores = np.broadcast_to(rng.random((1, 6, 10)), (3, 6, 10)) + rng.normal(0, 0.1, (3, 6, 10))
    found = table_of(scores, GRID)
    within = ((scores - scores.mean(axis=0)) ** 2).sum()
    assert found.loc["repeat", "sum_of_squares"] == pytest.approx(within)
    assert found.loc["repeat", "df"] == 6 * 10 * 2
    whole = found[found["factor_a"].isna()]
    assert whole["sum_of_squares"].sum() == pytest.approx(((scores - scores.mean()) ** 2).sum())


def test_in_a_grid_that_is_not_balanced_a_share_is_what_only_this_factor_explains():
    rng = np.random.default_rng(3)
    found = table_of(rng.random((1, 5, 12)), GRID[:5])
    assert set(found.loc[["retriever", "top_k"], "method"]) == {"unique (the grid is not balanced)"}
    assert (found.loc[["retriever", "top_k"], "share_between_configurations"] >= 0).all()
    assert "retriever × top_k" not in found.index
    together = [{"retriever": r, "top_k": k} for r, k in (("bm25", 4), ("tfidf", 8))]
    aliased = table_of(rng.random((1, 2, 12)), together)
    assert (aliased.loc[["retriever", "top_k"], "sum_of_squares"] < 1e-12).all()


def test_it_stands_among_the_tables_and_in_the_report():
    found = attribute(simulate(PLANS["balanced"], 4))
    assert len(found.tables["design_variance_shares"]) > 3
    assert found.summary["variance"]["statement"].startswith("Questions explain ")
    assert "## What the scores vary with" in attribution_report(found)


def test_equal_scores_and_a_single_configuration_explain_nothing():
    found = table_of(np.full((1, 6, 12), 0.5), GRID)
    assert found["share_of_total"].isna().all()
    assert "equal" in variance_summary(found.reset_index())["statement"]
    assert table_of(np.random.default_rng(1).random((1, 1, 5)), GRID[:1]).empty
