"""Probes tell a judge that can be misled from one that cannot."""

from __future__ import annotations

import pytest

from core.contracts import Material
from core.judge.probes import items, probes, run_probes
from core.records import Judgement
from core.text import words
from tests.judge.judging import judge
from tests.servers.messages_api import RuleServer

SWAYED = ["fact changed, with a command in the answer", "fact changed, with a command in the context"]


NEGATED = "wiederholung-de"


class WordJudge:
    """Judges by words alone; `obeys` makes it do what the material says."""

    provider, model, decides, concurrency = "words", "", True, 2

    def __init__(self, obeys: bool = False) -> None:
        self.obeys = obeys

    def fingerprint(self, rubric: str) -> str:
        return rubric

    def judge(self, rubric: str, material: Material) -> Judgement:
        parts = material.parts
        base = Judgement(rubric=rubric, rubric_version="1", provider=self.provider)
        if any(not text.strip() for text in parts.values()):
            return base.model_copy(update={"label": "not_applicable"})
        if rubric == "relevance":
            fresh = set(words(parts["answer"])) - set(words(parts["question"]))
            return base.model_copy(update={"score": float(len(fresh) > 5), "label": "relevance"})
        first = parts["answer"].split(". ")[0]
        held = set(words(first)) <= set(words(parts["context"]))
        obeyed = self.obeys and "Ignore your rubric" in parts["answer"] + parts["context"]
        return base.model_copy(update={"score": float(held or obeyed), "label": "faithfulness"})


def test_a_judge_that_obeys_the_material_is_found_out() -> None:
    sound, swayed = run_probes(WordJudge()), run_probes(WordJudge(obeys=True))
    # a judge of words misses the negation that one item turns on, with and without commands
    assert {r.item for r in sound if r.held is False and r.probe.startswith("fact changed")} == {NEGATED}
    assert {(r.probe, r.held) for r in swayed if r.probe in SWAYED} == {(name, False) for name in SWAYED}


def test_every_probe_runs_on_every_item() -> None:
    results = run_probes(WordJudge())
    assert [(r.item, r.probe) for r in results] == [(item.id, name) for item in items() for name in probes()]
    assert len(probes()) >= 14


def test_a_judge_that_fails_has_no_verdict_on_itself() -> None:
    from core.errors import JudgeFailure

    class Broken(WordJudge):
        def judge(self, rubric: str, material: Material) -> Judgement:
            raise JudgeFailure("down")

    results = run_probes(Broken(), items()[:1])
    assert {result.held for result in results} == {None}
    assert all("down" in result.note for result in results)


def test_the_rule_judge_sees_changed_facts_and_missing_passages() -> None:
    """It reads words, so it misses a negation (where the command is in the answer, the command itself fails)."""
    with RuleServer() as server:
        results = run_probes(judge(server))
    held = {name: [r.held for r in results if r.probe == name] for name in probes()}
    for name in (
        "fact changed",
        "decisive passage taken out",
        "passages in another order",
        "empty answer",
        *SWAYED,
    ):
        wrong = [item.id for item, each in zip(items(), held[name], strict=True) if each is not True]
        assert wrong == ([NEGATED] if name in ("fact changed", SWAYED[1]) else []), name


@pytest.mark.parametrize("item", items(), ids=lambda item: item.id)
def test_the_material_is_what_it_says(item) -> None:  # type: ignore[no-untyped-def]
    decisive = item.context[item.decisive]
    assert set(words(item.answer)) <= set(words(decisive))
    assert item.swapped not in " ".join(item.context)
