"""Which configurations a sweep holds."""

from __future__ import annotations

import json

import pytest

from core.errors import ConfigError
from core.sweep_grid import load_sweep, read_configs


def test_the_auto_grid_has_the_published_forty(corpus):
    design = load_sweep(corpus, chunking="auto", retriever="auto")
    assert len(design.configurations) == 40
    assert len({c.name for c in design.configurations}) == 40
    assert {"chunking", "chunk_size", "overlap", "retriever"} <= set(design.factors)


def test_points_that_differ_only_where_nothing_applies_are_one(corpus):
    design = load_sweep(corpus, factors={"rerank_top_n": [0, 20], "rerank_weight": [0.25, 0.5]})
    assert len(design.configurations) == 3


@pytest.mark.parametrize(
    "factor", ["top_k", "rerank_weight", "hybrid_alpha", "context_mode", "answer_sentences", "abstain_below"]
)
def test_every_design_setting_can_be_a_factor_and_tells_folders_apart(corpus, factor):
    values = {"top_k": [2, 4], "rerank_weight": [0.2, 0.6], "hybrid_alpha": [0.3, 0.7], "context_mode": ["ranked", "dedupe_section"], "answer_sentences": [1, 2], "abstain_below": [0.2, 0.4]}[factor]  # fmt: skip
    base = corpus | {"rerank_top_n": 9, "retriever": "hybrid", "abstain_on_weak_evidence": True}
    design = load_sweep(base, factors={factor: values})
    assert len({c.name for c in design.configurations}) == 2
    assert design.factors == (factor,)


def test_impossible_points_are_left_out_and_said(corpus):
    design = load_sweep(corpus, factors={"chunk_size": [30, 200], "overlap": [0, 60]})
    assert len(design.configurations) == 3
    assert "overlap (60) must be smaller than chunk_size (30)" in design.notices[0]


def test_problems_are_listed_with_the_nearest_name(corpus):
    with pytest.raises(ConfigError) as caught:
        load_sweep(corpus, factors={"topk": [1], "questions": ["a"]}, configs=[{"retreiver": "bm25"}])
    text = str(caught.value)
    assert "did you mean 'top_k'" in text
    assert "cannot be a factor" in text
    assert "did you mean 'retriever'" in text


def test_a_list_keeps_its_order_its_names_and_the_published_spellings(corpus):
    listed = [
        {"name": "plain", "strategy": "by_section", "retriever": "tfidf"},
        {"chunking": "fixed_words", "retriever": "bm25", "abstain_on_weak_evidence": "yes"},
    ]
    design = load_sweep(corpus, configs=listed, baseline="plain")
    assert [c.label for c in design.configurations] == ["plain", "custom_2"]
    assert design.configurations[1].settings.abstain_on_weak_evidence is True
    assert design.baseline == design.configurations[0].name


def test_a_file_may_hold_the_factors(corpus, tmp_path):
    path = tmp_path / "sweep.json"
    path.write_text(json.dumps(corpus | {"factors": {"top_k": [2, 3]}}), encoding="utf-8")
    design = load_sweep(path)
    assert [c.settings.top_k for c in design.configurations] == [2, 3]
    assert design.baseline == design.configurations[1].name, "the settings as given are the baseline"


@pytest.mark.parametrize("text", ["[]", '[{"a": 1', "nowhere.json", '{"a": 1}'])
def test_a_list_that_cannot_be_read_is_refused(text):
    with pytest.raises(ConfigError):
        read_configs(text)
