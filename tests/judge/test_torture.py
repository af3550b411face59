"""No malformed reply becomes a score, in either interface, whichever way the form is enforced."""

from __future__ import annotations

import pytest

from core.contracts import Material
from core.judge import torture
from core.llm.loopback import LoopbackServer
from core.records import Judgement
from tests.judge.judging import PROVIDERS, judge


@pytest.mark.parametrize("structured", ["tool", "json_schema"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_no_malformed_reply_gives_a_score(provider: str, structured: str) -> None:
    cases = torture.suite()
    outcomes = torture.run(
        lambda server: judge(server, provider, structured=structured, rubrics=torture.RUBRICS), cases
    )
    assert len(outcomes) == len(cases) >= 90
    assert [outcome for outcome in outcomes if not outcome.held] == []
    declined = {outcome.name for outcome in outcomes if outcome.calls != 2}
    assert declined == {"message: a declined request", "message: declined with a form"}


@pytest.mark.parametrize("structured", ["tool", "json_schema"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_well_formed_reply_beside_them_does(provider: str, structured: str) -> None:
    (outcome,) = torture.run(
        lambda server: judge(server, provider, structured=structured, rubrics=torture.RUBRICS),
        [torture.suite_control()],
    )
    assert (outcome.calls, outcome.detail) == (1, "gave label 'supported', score 1.0")


def test_names_are_distinct() -> None:
    names = [case.name for case in torture.suite()]
    assert len(set(names)) == len(names)


class Guesser:
    """A judge that takes anything for a pass."""

    provider, model, decides, concurrency = "guess", "", True, 1

    def judge(self, rubric: str, material: Material) -> Judgement:
        return Judgement(rubric=rubric, rubric_version="", provider=self.provider, label="pass", score=1.0)

    def fingerprint(self, rubric: str) -> str:
        return ""


class Crasher(Guesser):
    """A judge that lets its own errors out."""

    def judge(self, rubric: str, material: Material) -> Judgement:
        raise KeyError("label")


@pytest.mark.parametrize("made", [Guesser, Crasher])
def test_the_suite_finds_out_a_judge_that_guesses_or_crashes(made: type[Guesser]) -> None:
    def build(server: LoopbackServer) -> Guesser:
        return made()

    outcomes = torture.run(build, torture.suite()[:5])
    assert [outcome.held for outcome in outcomes] == [False] * 5
