"""The offline judge: the same contract, no network, and no say without a usable fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.contracts import Judge, Material
from core.errors import ConfigError
from core.judge import create_judge
from core.judge.fitting import Fit
from tests.judge.judging import CONTEXT, answer, claim

FIT = Fit(
    threshold=0.6, balanced_accuracy=0.9, low=0.8, high=0.95, auroc=0.95, length_only=0.55, n=40, n_supported=20,
    folds=5, seed=0, usable=True,
)  # fmt: skip


def local(**spec: object) -> Judge:
    return create_judge({"provider": "local", **spec}, cache_dir=None)


def test_without_a_fit_it_scores_and_decides_nothing() -> None:
    used = local()
    good = used.judge("claim_support", claim())
    bad = used.judge("claim_support", claim("Pigs fly over the campus"))
    assert not used.decides
    assert (good.label, good.provider) == ("score_only", "local")
    assert good.score is not None
    assert bad.score is not None
    assert good.score > 0.9 > 0.4 > bad.score
    assert "not a verdict" in good.reasoning
    assert good.usage is not None
    assert (good.usage.calls, good.usage.cost_usd) == (0, 0.0)


@pytest.mark.parametrize("as_file", [True, False])
def test_with_a_usable_fit_it_decides(as_file: bool, tmp_path: Path) -> None:
    file = tmp_path / "fit.json"
    file.write_text(FIT.model_dump_json(), encoding="utf-8")
    used = local(fitted=str(file) if as_file else FIT.model_dump())
    judged = used.judge("faithfulness", answer("The exam lasts 90 minutes. Pigs fly over the campus."))
    assert used.decides
    assert (judged.label, judged.score) == ("1/2", 0.5)
    assert [each.label for each in judged.statements] == ["supported", "unsupported"]
    assert judged.statements[0].evidence_quote in CONTEXT


def test_an_unusable_fit_decides_nothing() -> None:
    used = local(fitted=FIT.model_copy(update={"usable": False}).model_dump())
    assert not used.decides
    assert used.judge("claim_support", claim()).label == "score_only"


def test_a_changed_fact_is_not_support() -> None:
    used = local(fitted=FIT.model_dump())
    assert used.judge("claim_support", claim("The exam lasts 120 minutes")).score == 0.0
    assert used.judge("claim_support", claim("The exam lasts 90 minutes")).score == 1.0


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("I'm sorry, I have no information about that.", 1.0),
        ("Dazu kann ich leider keine Auskunft geben.", 1.0),
        ("You cannot exceed 80 credits.", 0.0),
    ],
)
def test_refusals(text: str, refused: float) -> None:
    assert local().judge("refusal", Material({"question": "How many?", "answer": text})).score == refused


@pytest.mark.parametrize("rubric", ["relevance", "pushback"])
def test_what_it_has_no_scorer_for_it_cannot_tell(rubric: str) -> None:
    judged = local().judge(rubric, Material({"question": "q", "answer": "a", "premise": "p"}))
    assert (judged.label, judged.score) == ("cannot_tell", None)


def test_empty_material_and_fingerprints() -> None:
    used = local()
    assert used.judge("claim_support", claim(" ")).label == "not_applicable"
    assert used.judge("claim_support", claim("?!")).score is None
    assert used.fingerprint("faithfulness") != local(fitted=FIT.model_dump()).fingerprint("faithfulness")


@pytest.mark.parametrize("content", ["{}", "no JSON", json.dumps({**FIT.model_dump(), "n": 12})])
def test_a_fit_that_cannot_be_used_is_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "fit.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match="judge fit"):
        local(fitted=str(file))
    with pytest.raises(ConfigError, match="judge fit"):
        local(fitted=str(tmp_path / "absent.json"))


def test_a_model_is_refused_rather_than_ignored() -> None:
    with pytest.raises(ConfigError, match="asks no model"):
        local(model="claude-sonnet-4-6")
