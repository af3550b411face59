"""From checks and labels to a verdict: the one place where PASS, WEAK, FAIL and ERROR are decided.

PASS needs at least one check that was made. Nothing that could not be looked at counts in favour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.records import Check, Verdict

BY_LABEL: Mapping[str, Verdict] = {
    "correct": Verdict.PASS,
    "partially_correct": Verdict.WEAK,
    "needs_manual_review": Verdict.WEAK,
    "incorrect": Verdict.FAIL,
    "unsupported": Verdict.FAIL,
}
_BY_OUTCOME = {"held": Verdict.PASS, "weak": Verdict.WEAK, "error": Verdict.ERROR}


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict with the reasons for it and the names of the checks that could not be made."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    flaky: bool = False


def of_label(label: str | None) -> Ruling:
    """The verdict of an answer's label; without a label nothing was checked: WEAK, `unchecked`.

    >>> of_label("correct").verdict.value, of_label(None).verdict.value
    ('PASS', 'WEAK')
    """
    if label is None:
        return Ruling(Verdict.WEAK, ("unchecked",), ("answer",))
    return Ruling(BY_LABEL[label])


def of_checks(checks: Sequence[Check]) -> Ruling:
    """The worst of the checks that were made.

    A hard check that failed is FAIL, a soft one WEAK; only checks that could not be made: WEAK, `unchecked`;
    some made and held, others not made: PASS with `unchecked` filled.
    """
    unchecked = tuple(check.name for check in checks if check.outcome == "unchecked")
    made = [check for check in checks if check.outcome != "unchecked"]
    if not made:
        return Ruling(Verdict.WEAK, ("unchecked",), unchecked)
    rulings = [_of_check(check) for check in made]
    worst = Verdict.worst(rulings) or Verdict.WEAK
    reasons = tuple(
        check.name for check, verdict in zip(made, rulings, strict=True) if verdict == worst != Verdict.PASS
    )
    return Ruling(worst, reasons, unchecked)


def _of_check(check: Check) -> Verdict:
    if check.outcome == "failed":
        return Verdict.FAIL if check.hard else Verdict.WEAK
    return _BY_OUTCOME[check.outcome]


def worst(rulings: Iterable[Ruling]) -> Ruling:
    """The severest ruling with all its reasons; what was unchecked anywhere stays unchecked. None at all: WEAK."""
    every = list(rulings)
    severest = Verdict.worst(ruling.verdict for ruling in every)
    unchecked = tuple(dict.fromkeys(name for ruling in every for name in ruling.unchecked))
    if severest is None:
        return Ruling(Verdict.WEAK, ("unchecked",))
    reasons = (reason for ruling in every if ruling.verdict == severest for reason in ruling.reasons)
    return Ruling(severest, tuple(dict.fromkeys(reasons)), unchecked)


def of_repeats(verdicts: Sequence[Verdict], min_pass_rate: float | None = None) -> Ruling:
    """One verdict for the repeats of a case.

    Without `min_pass_rate` the worst of them; with it, PASS when the share of PASS among all repeats reaches it.
    Repeats that differ mark the case flaky. ERROR among them is never outvoted by a pass rate that is not reached.
    """
    severest = Verdict.worst(verdicts)
    if severest is None:
        return Ruling(Verdict.WEAK, ("unchecked",))
    flaky = len(set(verdicts)) > 1
    if min_pass_rate is not None and verdicts.count(Verdict.PASS) / len(verdicts) >= min_pass_rate:
        return Ruling(Verdict.PASS, (), (), flaky)
    return Ruling(severest, ("flaky",) if flaky else (), (), flaky)


def of_votes(votes: Sequence[float], weak: float, passing: float) -> Ruling:
    """The verdict of a judge's votes in [0, 1]: by their mean, but WEAK `judge_unstable` where they straddle a
    threshold. No vote at all is ERROR: a missing verdict never passes."""
    if not votes:
        return Ruling(Verdict.ERROR, ("no_judgement",))
    each = [_of_score(vote, weak, passing) for vote in votes]
    if len(set(each)) > 1:
        return Ruling(Verdict.WEAK, ("judge_unstable",))
    return Ruling(each[0])


def _of_score(score: float, weak: float, passing: float) -> Verdict:
    return Verdict.PASS if score >= passing else Verdict.WEAK if score >= weak else Verdict.FAIL
