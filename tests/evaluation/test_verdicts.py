"""Verdict algebra: worst-of, a made check for PASS, unchecked said."""

from __future__ import annotations

import pytest

from core.evaluation.verdicts import BY_LABEL, Ruling, of_checks, of_label, of_repeats, of_votes, worst
from core.metrics.answers import LABELS
from core.records import Check, Verdict

P, W, F, E = Verdict.PASS, Verdict.WEAK, Verdict.FAIL, Verdict.ERROR


def _check(outcome: str, *, hard: bool = True) -> Check:
    return Check(name=outcome, outcome=outcome, hard=hard)  # type: ignore[arg-type]


def test_every_label_has_its_verdict() -> None:
    assert set(BY_LABEL) == set(LABELS)
    assert [of_label(label).verdict for label in LABELS] == [P, W, F, F, W]


def test_no_label_is_unchecked_never_pass() -> None:
    assert of_label(None) == Ruling(W, ("unchecked",), ("answer",))


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ((), W),
        (("unchecked",), W),
        (("held",), P),
        (("held", "unchecked"), P),
        (("held", "weak"), W),
        (("held", "failed", "weak"), F),
        (("failed", "error"), E),
    ],
)
def test_checks(outcomes: tuple[str, ...], verdict: Verdict) -> None:
    ruling = of_checks([_check(outcome) for outcome in outcomes])
    assert ruling.verdict == verdict
    assert ruling.unchecked == tuple(outcome for outcome in outcomes if outcome == "unchecked")


def test_a_soft_check_that_failed_is_weak() -> None:
    assert of_checks([_check("failed", hard=False), _check("held")]).verdict == W


def test_worst_keeps_what_was_unchecked() -> None:
    found = worst([Ruling(P, (), ("faithfulness",)), Ruling(F, ("wrong",)), Ruling(W, ("meh",))])
    assert found == Ruling(F, ("wrong",), ("faithfulness",))
    assert worst([]).verdict == W


def test_repeats() -> None:
    assert of_repeats([P, P]) == Ruling(P)
    assert of_repeats([P, F, P]) == Ruling(F, ("flaky",), (), True)
    assert of_repeats([P, F, P], min_pass_rate=0.6).verdict == P
    assert of_repeats([P, F, P], min_pass_rate=0.6).flaky
    assert of_repeats([P, E], min_pass_rate=0.9).verdict == E
    assert of_repeats([]).verdict == W


def test_votes() -> None:
    assert of_votes([0.9, 0.95], 0.5, 0.8).verdict == P
    assert of_votes([0.7, 0.9], 0.5, 0.8) == Ruling(W, ("judge_unstable",))
    assert of_votes([0.1, 0.2], 0.5, 0.8).verdict == F
    assert of_votes([], 0.5, 0.8).verdict == E
