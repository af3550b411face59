"""Sweeps from settings to folders: sharing, failing, resuming, racing."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from core.cli.run import run as run_command
from core.cli.sweep import sweep
from core.errors import ConfigError, InputError
from core.store.runs import Store
from core.sweep import run_sweep
from core.sweep_grid import load_sweep
from core.sweep_plan import plan_sweep
from core.sweep_work import batches_of
from tests.sweep.conftest import FACTORS


def test_every_configuration_is_a_sealed_run_with_its_folder(swept):
    design, result, corpus = swept
    store = Store(Path(corpus["output_dir"]) / "plumbline.db", readonly=True)
    runs = store.runs(sweep_id=result.sweep_id)
    assert {run.name for run in runs} == {c.name for c in design.configurations}
    assert {run.status for run in runs} == {"sealed"}
    for run in runs:
        assert (result.folder / run.name / "run_summary.json").exists()
    assert not result.failed


def test_stages_run_once_for_each_distinct_input(swept):
    _, result, _ = swept
    assert result.counts["chunk"] == 2 * 12  # two chunkings of twelve documents
    assert result.counts["tokenise"] == 2
    assert result.counts["index"] == 4


def test_on_top_lie_the_ranking_the_best_and_the_summary(swept):
    _, result, _ = swept
    summary = json.loads((result.folder / "run_summary.json").read_text(encoding="utf-8"))
    assert len(summary["experiments"]) == 8
    assert summary["sweep_id"] == result.sweep_id
    table = pd.read_csv(result.folder / "experiment_ranking.csv")
    assert len(table) == 8
    assert sorted(table["rank"]) == list(range(1, 9))
    assert table["score_total"].notna().all()
    assert table["quality_rank"].is_monotonic_increasing
    best = json.loads((result.folder / "best_config.json").read_text(encoding="utf-8"))
    assert best["experiment"] == table["experiment"][0]
    assert best["recommendation"]["experiment"] in best["winner"]["tied_with_best"]
    assert "Take **" in (result.folder / "best_config.md").read_text(encoding="utf-8")


def test_controlled_pairs_are_found_where_one_choice_differs(swept):
    _, result, _ = swept
    table = pd.read_csv(result.folder / "paired_comparison_summary.csv")
    controlled = table[table["comparison_type"] == "controlled"]
    assert controlled["factor"].value_counts().to_dict() == {
        "chunking_strategy": 4,
        "rerank_top_n": 4,
        "retriever": 4,
    }
    assert (
        controlled[controlled["factor"] == "chunking_strategy"]["entails"] == "chunk_size;chunk_overlap"
    ).all()


def test_the_ladder_explains_failures_of_the_best_one(swept):
    _, result, _ = swept
    failures = pd.read_csv(result.folder / "failure_attribution.csv")
    ladder = pd.read_csv(result.folder / "oracle_ladder.csv").set_index("rung")
    best = result.attribution.summary["target_experiment"]
    assert set(ladder["experiment"]) == {best}, "of the configuration whose failures are explained"
    explained = next(run for run in result.runs if run.name == best)
    changed = json.loads((result.folder / "settings.json").read_text(encoding="utf-8"))
    assert changed == explained.settings, "the commands of the advice start from the same configuration"
    assert ladder.loc["placebo", "gained"] == ladder.loc["placebo", "lost"] == 0
    assert ladder.loc["closed_book", "pass_rate"] <= ladder.loc["gold_context", "pass_rate"]
    assert set(failures["evidence_level"]) <= {"observed", "counterfactual"}


def test_the_store_keeps_the_tables_under_the_sweep(swept):
    _, result, corpus = swept
    store = Store(Path(corpus["output_dir"]) / "plumbline.db", readonly=True)
    assert len(store.attribution(result.sweep_id, "experiment_ranking")) == 8
    assert store.attribution(result.sweep_id, "design_factor_effects")


def test_processes_give_the_same_numbers(swept, tmp_path):
    design = load_sweep(swept[2], factors=FACTORS, run_name="parallel", output_dir=str(tmp_path / "two"))
    result = run_sweep(design, jobs=2)
    left, right = (r.attribution.tables["design_factor_effects"] for r in (swept[1], result))
    timed = ["mean_latency_ms"]
    pd.testing.assert_frame_equal(left.drop(columns=timed), right.drop(columns=timed))


def test_a_failing_configuration_is_a_record_and_the_others_go_on(corpus):
    listed = [{"name": "good"}, {"name": "bad", "retriever": "dense", "embedding_model": "no-such-model"}]
    result = run_sweep(load_sweep(corpus, configs=listed), jobs=1)
    assert [run.name.split("-")[0] for run in result.runs] == ["good"]
    assert [f.name.split("-")[0] for f in result.failed] == ["bad"]
    assert "no-such-model" in result.failed[0].message


def test_the_commands_of_the_advice_can_be_run(swept):
    _, result, _ = swept
    commands = [
        each["command"] for each in result.attribution.advisor["top_recommendations"] if each["command"]
    ]
    assert commands
    for command in commands:
        words = shlex.split(command)
        assert words[:2] == ["plumbline", "run"]
        done = CliRunner().invoke(run_command, [*words[2:], "--plan"])
        assert done.exit_code == 0, (command, done.output)


def test_missing_inputs_stop_everything_before_it_starts(corpus):
    Path(corpus["questions"]).write_text("{}", encoding="utf-8")
    design = load_sweep(corpus, factors={"top_k": [1, 2]})
    with pytest.raises(InputError):
        run_sweep(design, jobs=1)


def test_a_stopped_sweep_is_taken_up_again_without_asking_twice(corpus):
    design = load_sweep(corpus, factors={"top_k": [1, 2, 3]}, run_name="again")
    whole = run_sweep(design, jobs=1)
    store = Store(Path(corpus["output_dir"]) / "plumbline.db")
    before = {run.id for run in store.runs(sweep_id=whole.sweep_id)}
    again = run_sweep(design, jobs=1, resume="again")
    assert again.sweep_id == whole.sweep_id
    assert {run.id for run in store.runs(sweep_id=whole.sweep_id)} == before
    assert again.counts.get("index", 0) <= 1, "only the oracle ladder may search again"


def test_a_stopped_sweep_goes_on_where_it_stopped(corpus):
    design = load_sweep(corpus, factors={"top_k": [1, 2, 3]}, run_name="halfway")
    seen = []

    def stop(event):
        seen.append(event)
        if event.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweep(design, jobs=1, on_event=stop)
    store = Store(Path(corpus["output_dir"]) / "plumbline.db")
    (first,) = store.runs(status="sealed")
    result = run_sweep(design, jobs=1, resume="halfway")
    assert len(result.runs) == 3
    assert first.id in {run.id for run in result.runs}


def test_other_configurations_cannot_resume_a_sweep(corpus):
    run_sweep(load_sweep(corpus, factors={"top_k": [1, 2]}, run_name="mine"), jobs=1, ladder=False)
    with pytest.raises(ConfigError, match="other configurations"):
        run_sweep(load_sweep(corpus, factors={"top_k": [1, 5]}), jobs=1, resume="mine")


def test_two_sweeps_of_one_name_never_share_a_folder(corpus):
    design = load_sweep(corpus, factors={"top_k": [1, 2]}, run_name="same")
    folders = {run_sweep(design, jobs=1, ladder=False).folder for _ in range(2)}
    assert len(folders) == 2


def test_a_race_marks_what_it_stopped_and_keeps_it_out_of_effects(corpus):
    # a context of one character holds no answer: hopeless from the start
    design = load_sweep(corpus, factors={"max_context_chars": [1, 4000], "top_k": [2, 3]}, run_name="race")
    result = run_sweep(design, jobs=1, racing=True)
    censored = set(result.attribution.summary["censored_experiments"])
    hopeless = {c.name for c in design.configurations if c.settings.max_context_chars == 1}
    passes = {run.name: run.verdicts.get("PASS", 0) for run in result.runs}
    if max(passes.values()) > 12:
        assert censored == hopeless
    assert not censored & set(result.attribution.tables["configuration_ranking"]["experiment"])


def test_batches_share_chunks_and_fill_the_processes(corpus):
    design = load_sweep(corpus, chunking="auto", retriever="auto")
    batches = batches_of(design.configurations, 2)
    assert len(batches) == 10
    assert {len(batch) for batch in batches} == {4}
    single = load_sweep(corpus, factors={"top_k": [1, 2, 3, 4]})
    assert [len(batch) for batch in batches_of(single.configurations, 2)] == [2, 2]


def test_the_plan_counts_what_is_shared(corpus):
    plan = plan_sweep(
        load_sweep(corpus, chunking="auto", retriever="auto", auto_retrievers=["tfidf", "bm25"])
    )
    assert plan.stages["chunking (all documents)"] == (10, 20)
    assert plan.stages["counting terms"] == (10, 20)
    assert plan.stages["questions asked"] == (500, 500)
    assert plan.calls is None


def test_the_command(corpus, tmp_path):
    config = tmp_path / "sweep.json"
    config.write_text(json.dumps(corpus), encoding="utf-8")
    runner = CliRunner()
    planned = runner.invoke(sweep, [str(config), "--factor", "top_k=2,3", "--plan"], standalone_mode=False)
    assert "2 configurations × 25 questions" in planned.output
    assert not Path(corpus["output_dir"]).exists()
    done = runner.invoke(
        sweep,
        [str(config), "--factor", "top_k=2,3", "--jobs", "1", "--run-name", "cli"],
        standalone_mode=False,
    )
    assert done.exception is None, done.exception
    assert "scores best on these" in done.output
    assert (Path(corpus["output_dir"]) / "cli" / "design_attribution_report.md").exists()
