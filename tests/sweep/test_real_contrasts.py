"""The contrasts that must give controlled comparisons on real questions (issue 6)."""

from __future__ import annotations

import importlib.util

import pandas as pd
import pytest

from core.sweep import run_sweep
from core.sweep_grid import load_sweep
from tests.real_data import real_data

CONTRASTS = {
    "rerank_top_n": {"rerank_top_n": 24},
    "abstain_on_weak_evidence": {"abstain_on_weak_evidence": True},
    "chunking_strategy": {"chunking": "by_section"},
}
DENSE = importlib.util.find_spec("sentence_transformers") is not None


def _settings(tmp_path):
    pdfs = real_data("ulm_examination_regulations_de", "pdf")
    return {
        "docs": [str(next(pdfs.glob("2013-03-12_rahmenpr*.pdf")))], "docs_root": str(pdfs),
        "questions": str(real_data("ulm_questions", "questions_by_file.json")),
        "output_dir": str(tmp_path / "out"), "cache_dir": str(tmp_path / "cache"), "limit": 12,
    }  # fmt: skip


@pytest.mark.real_data
def test_single_choices_give_controlled_comparisons(tmp_path):
    listed = [{"name": "base"}, *({"name": name, **change} for name, change in CONTRASTS.items())]
    _held(tmp_path, listed, set(CONTRASTS))


@pytest.mark.real_data
@pytest.mark.dense
@pytest.mark.skipif(not DENSE, reason="the optional extra `dense` is not installed")
def test_hybrid_against_bm25_is_controlled(tmp_path):
    result = _held(tmp_path, [{"name": "base"}, {"name": "hybrid", "retriever": "hybrid"}], {"retriever"})
    pairs = pd.read_csv(result.folder / "paired_comparison_summary.csv")
    assert "hybrid_alpha" in pairs["entails"][0]


def _held(tmp_path, listed, factors):
    result = run_sweep(load_sweep(_settings(tmp_path), configs=listed), jobs=1, ladder=False)
    assert not result.failed
    rows = pd.read_csv(result.folder / "paired_design_comparisons.csv")
    controlled = rows[rows["comparison_type"] == "controlled"]
    assert set(controlled["factor"]) == factors
    assert (controlled["question_id"].notna()).all()
    return result
