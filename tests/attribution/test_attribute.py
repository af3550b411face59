"""The attribution as a whole: every published table, its arithmetic, and what must never be said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core import sweep_files
from core.attribution import attribute
from core.attribution.grid import QUALITY, build_grid
from core.attribution.pairs import find_pairs
from core.attribution.reports import attribution_report
from core.attribution.structure import gain, model
from core.attribution.trace import Trace
from core.sweep_files import artifacts, write_attribution
from tests.simulation.measure import PLANS, TREE
from tests.simulation.sweeps import Plan, simulate

PUBLISHED = {
    "paired_design_comparisons.csv", "design_factor_effects.csv", "task_type_attribution.csv", "failure_attribution.csv",
    "group_failure_explanations.csv", "component_attribution.csv", "failure_taxonomy.csv", "design_trace.csv",
    "design_pareto_frontier.csv", "cost_latency_attribution.csv", "design_attribution_report.md",
    "design_attribution_summary.json", "quality_advisor.json", "quality_report.md",
}  # fmt: skip


@pytest.fixture(scope="module")
def balanced():
    trace = simulate(PLANS["balanced"], 3)
    return trace, attribute(trace)


def test_every_published_file_is_written_and_has_its_header(balanced, tmp_path):
    _, found = balanced
    written = write_attribution(tmp_path, found, {"top_k": 8})
    assert set(written) >= PUBLISHED
    for name in written:
        if name.endswith(".csv"):
            assert len(pd.read_csv(tmp_path / name).columns) >= 4


def test_a_single_run_gives_every_table_with_a_header(tmp_path):
    trace = simulate(PLANS["balanced"], 1)
    one = trace.configurations[:1]
    frame = trace.frame[trace.frame["experiment"] == "c000"].assign(experiment="c000")
    found = attribute(Trace(frame, one, trace.parents))
    write_attribution(tmp_path, found)
    assert list(pd.read_csv(tmp_path / "design_factor_effects.csv").columns)[:2] == ["factor", "value"]
    assert found.summary["n_controlled_comparisons"] == 0
    assert len(pd.read_csv(tmp_path / "failure_attribution.csv")) == int((frame["verdict"] == "FAIL").sum())


def test_nothing_at_all_is_no_crash(tmp_path):
    found = attribute(Trace(simulate(PLANS["balanced"], 1).frame.iloc[:0], ()))
    assert set(write_attribution(tmp_path, found)) >= PUBLISHED


def test_formulas_in_texts_are_neutralised(tmp_path):
    trace = simulate(PLANS["balanced"], 1)
    found = attribute(Trace(trace.frame.assign(question="=1+1"), trace.configurations, trace.parents))
    artifacts(found)["failure_attribution.csv"](tmp_path / "f.csv")
    assert set(pd.read_csv(tmp_path / "f.csv")["question"]) == {"'=1+1"}


def test_large_tables_are_written_like_small_ones(tmp_path):
    small = pd.DataFrame(
        {"a": ["=1", None, 'x,"y"'], "b": [1.5, None, 3.0], "c": [True, False, True], "d": [1, 2, 3]}
    )
    large = pd.concat([small] * 200, ignore_index=True).astype({"a": "category"})
    sweep_files.table_writer(small)(tmp_path / "small.csv")
    sweep_files.table_writer(large)(tmp_path / "large.csv")
    read = [pd.read_csv(tmp_path / name, nrows=3) for name in ("small.csv", "large.csv")]
    pd.testing.assert_frame_equal(*read)


def test_on_a_balanced_grid_the_model_gives_the_effects_of_matched_pairs():
    trace = simulate(PLANS["balanced"], 5)
    grid = build_grid(trace)
    effects = attribute(trace).tables["design_factor_effects"].set_index(["factor", "value"])["effect"]
    for row in model(grid).to_dict("records"):
        if (
            row["factor"] != "rerank"
        ):  # its coefficient holds the child at one value, the matched pairs at all
            assert row["coefficient"] == pytest.approx(effects[row["factor"], row["value"]], abs=1e-9)


def test_shapley_shares_add_up_to_the_gain():
    trace = simulate(PLANS["balanced"], 6)
    grid = build_grid(trace)
    pairs = find_pairs(grid)
    last = len(grid.configurations) - 1
    shares = gain(grid, pairs, 0, last)
    assert set(shares["method"]) == {"shapley"}
    assert shares["share"].sum() == pytest.approx(shares["total_delta"].iloc[0])
    total = np.nanmean(grid.scores[QUALITY][last] - grid.scores[QUALITY][0])
    assert shares["total_delta"].iloc[0] == pytest.approx(total)


def test_missing_mixtures_give_a_waterfall_that_says_so():
    trace = simulate(Plan({"a": {1: 0.0, 2: 0.1}, "b": {1: 0.0, 2: 0.1}}), 0)
    kept = tuple(c for c in trace.configurations if c.design != {"a": 1, "b": 2})
    grid = build_grid(Trace(trace.frame, kept, {}))
    shares = gain(grid, find_pairs(grid), 0, len(kept) - 1)
    assert set(shares["method"]) == {"one at a time, forward"}


def test_aliased_factors_are_named():
    trace = simulate(Plan({"a": {1: 0.0, 2: 0.1}, "b": {1: 0.0, 2: 0.1}}), 0)
    kept = tuple(c for c in trace.configurations if c.design["a"] == c.design["b"])
    found = attribute(Trace(trace.frame, kept, {}))
    row = found.tables["design_factor_model"].iloc[1]
    assert not row["identifiable"]
    assert row["aliased_with"] == "a=2"
    assert found.tables["design_factor_effects"]["effect"].isna().all()
    assert "always changes together with a=2" in attribution_report(found)


def test_the_fix_of_a_failure_is_one_change_of_its_own_configuration(balanced):
    trace, found = balanced
    designs = {c.name: c.design for c in trace.configurations}
    fixed = found.tables["failure_attribution"].dropna(subset=["best_observed_fix_factor"])
    assert len(fixed)
    for row in fixed.to_dict("records"):
        name = {"chunking_strategy": "chunking"}.get(
            row["best_observed_fix_factor"], row["best_observed_fix_factor"]
        )
        current = designs[row["experiment"]].get(name)
        assert str(row["best_observed_fix_value"]) != str(current).lower()
        assert row["best_observed_fix_gained"] - row["best_observed_fix_lost"] >= 3


def test_controlled_pairs_have_a_row_per_question_and_others_one_row(balanced):
    trace, found = balanced
    table = found.tables["paired_design_comparisons"]
    assert found.summary["n_controlled_comparisons_in_one_row"] == 0
    controlled = table[table["comparison_type"] == "controlled"]
    assert len(controlled) == found.summary["n_controlled_comparisons"] * len(set(trace.frame["question_id"]))
    assert (table[table["comparison_type"] != "controlled"]["n_questions"] > 1).all()


def test_the_winner_is_told_with_its_ties_its_luck_and_what_can_be_seen(balanced):
    _, found = balanced
    winner = found.summary["winner"]
    assert winner["best"] in winner["tied_with_best"]
    assert winner["corrected_quality"] <= winner["apparent_quality"]
    assert winner["detectable_difference"] > 0
    assert "new questions" in winner["statement"]
    ranking = found.tables["configuration_ranking"]
    assert (ranking["rank_low"] <= ranking["rank"]).all()
    assert (ranking["rank"] <= ranking["rank_high"]).all()
    assert ranking["band"].is_monotonic_increasing


def test_a_strong_effect_is_found_with_its_sign_and_the_rest_is_not():
    plan = Plan({"retriever": {"bm25": 0.0, "hybrid": 0.2}, "top_k": {4: 0.0, 8: 0.0}}, n_questions=80)
    effects = attribute(simulate(plan, 4)).tables["design_factor_effects"].set_index(["factor", "value"])
    assert effects.loc[("retriever", "hybrid"), "p_max_t"] <= 0.01
    assert effects.loc[("retriever", "hybrid"), "effect"] > 0.1
    assert effects.loc[("top_k", "8"), "p_max_t"] > 0.05


def test_qualitative_interactions_warn_about_the_main_effect():
    plan = Plan(
        {"a": {1: -0.1, 2: 0.1}, "b": {1: 0.0, 2: 0.0}},
        n_questions=100,
        interaction=(("a", 2), ("b", 2), -0.45),
    )
    found = attribute(simulate(plan, 2))
    assert "a" in found.summary["effects_in_doubt"]
    assert "changes sign with another setting" in attribution_report(found)


def test_numbers_do_not_depend_on_the_order_of_rows(balanced):
    trace, found = balanced
    shuffled = trace.frame.sample(frac=1, random_state=1)
    again = attribute(
        Trace(
            shuffled.sort_values("question_id", kind="stable"),
            trace.configurations,
            trace.parents,
            trace.baseline,
        )
    )
    pd.testing.assert_frame_equal(
        found.tables["design_factor_effects"], again.tables["design_factor_effects"]
    )


def test_children_of_a_parent_are_no_factor_of_their_own():
    plan = Plan(
        {"rerank": {False: 0.0, True: 0.05}, "weight": {0.25: 0.0}, "top_k": {4: 0.0, 8: 0.0}}, **TREE
    )
    effects = attribute(simulate(plan, 0)).tables["design_factor_effects"]
    assert set(effects["factor"]) == {"rerank", "top_k"}
    assert effects.dropna(subset=["effect"]).set_index("factor").loc["rerank", "entails"] == "weight"
