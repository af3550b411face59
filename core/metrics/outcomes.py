"""Did the system answer or decline, was that right, and may its answer pass without a person?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.contracts import Metric, add_metric
from core.metrics.refusal import is_refusal
from core.records import Case, Output
from core.text import blank

ACTIONS = ("auto_accept", "manual_review", "abstain")


@dataclass(frozen=True, slots=True)
class Abstention:
    """`abstained` is None where the system said nothing at all. `source`: "flag" (the system says so itself),
    "speech" (its words decline), "" (it answered). `reliable` is False where the words are in a language whose
    refusals are hardly known."""

    abstained: bool | None
    source: str = ""
    reliable: bool = True


def abstention_of(output: Output, language: str | None = None) -> Abstention:
    """Whether the system declined: by its own flag first, else by the speech act of its text."""
    if output.abstained:
        return Abstention(True, "flag")
    if output.text is None or blank(output.text):
        return Abstention(None)
    refusal = is_refusal(output.text, language)
    return Abstention(refusal.refused, "speech" if refusal.refused else "", refusal.reliable)


def answerability(case: Case) -> bool | None:
    """Whether a question can be answered: what its file says; else True where there is an answer to expect (one
    that is no refusal itself); None where nobody knows."""
    if case.answerable is not None or case.gold_answer is None or blank(case.gold_answer):
        return case.answerable
    return None if is_refusal(case.gold_answer, case.language).refused else True


def abstention_scores(answerable: bool | None, abstained: bool | None) -> dict[str, float | None]:
    """`abstained`, `abstention_correct`, `over_answered`, `false_refusal` of one case (0.0, 1.0 or None).

    >>> abstention_scores(False, False)["over_answered"]
    1.0
    """
    known = abstained is not None and answerable is not None
    return {
        "abstained": None if abstained is None else float(abstained),
        "abstention_correct": float(abstained != answerable) if known else None,
        "over_answered": float(not abstained) if known and answerable is False else None,
        "false_refusal": float(bool(abstained)) if known and answerable else None,
    }


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with an answer: `action` is auto_accept | manual_review | abstain, with the reasons."""

    action: str
    reasons: tuple[str, ...]


def decide(
    scores: Mapping[str, float | None],
    confidence: float | None,
    evidence_status: str,
    *,
    min_confidence: float = 0.0,
    min_context_claim_recall: float = 0.0,
    min_grounded_claim_ratio: float = 1.0,
) -> Decision:
    """The published decision columns. A value that is None gives no reason."""
    reasons = []
    if confidence is not None and confidence < min_confidence:
        reasons.append("low_confidence")
    limits = (
        ("context_claim_recall", min_context_claim_recall),
        ("grounded_claim_ratio", min_grounded_claim_ratio),
    )
    for name, limit in limits:
        value = scores.get(name)
        if value is not None and value < limit:
            reasons.append(f"low_{name}")
    if evidence_status in ("weak_evidence", "missing_evidence"):
        reasons.append(evidence_status)
    action = "abstain" if "missing_evidence" in reasons else "manual_review" if reasons else "auto_accept"
    return Decision(action, tuple(reasons))


_DECLARED = (
    ("abstained", "Abstained", 0, "1 if the system declined: its own flag, else the speech act of its text", "None without a text"),
    ("abstention_correct", "Abstention right", 1, "1 if abstained = not answerable", "None where answerability is not known"),
    ("over_answered", "Over-answered", -1, "1 if an unanswerable question was answered", "None for answerable questions"),
    ("false_refusal", "False refusal", -1, "1 if an answerable question was declined", "None for unanswerable questions"),
)  # fmt: skip
for _name, _title, _direction, _formula, _empty in _DECLARED:
    add_metric(
        Metric(
            name=_name,
            title=_title,
            family="abstention",
            kind="binary",
            direction=_direction,  # type: ignore[arg-type]
            formula=_formula,
            inputs="answer, answerability of the question",
            empty=_empty,
            source="published name; refusals as core.metrics.refusal",
            version="2",
            function=abstention_scores,
        )
    )
