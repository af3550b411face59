"""From a judge's decisions to a Judgement: evidence checked, labels turned into scores, statements summed up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.judge.quotes import is_quoted
from core.judge.replies import Decision
from core.judge.rubrics import CANNOT_TELL, NO_CLAIM, Rubric
from core.records import JudgedStatement, Judgement

UNVERIFIED = "unverified"
NOT_APPLICABLE = "not_applicable"


def not_applicable(rubric: Rubric, empty: Sequence[str], judge: Mapping[str, str], subject: str) -> Judgement:
    """The judgement of material that has nothing to judge; the judge was not asked and nothing was spent."""
    return Judgement(
        rubric=rubric.name,
        rubric_version=rubric.version,
        subject=subject,
        label=NOT_APPLICABLE,
        reasoning=f"nothing to judge: {', '.join(empty)} empty",
        **judge,
    )


def conclude(
    rubric: Rubric, decisions: Sequence[Decision], parts: Mapping[str, str], statements: Sequence[str]
) -> Judgement:
    """A Judgement with label, score, reasoning and checked evidence; who judged and at what cost is added later.

    A label that needs evidence and whose quote is not in the material becomes `unverified`, without a score. Of
    statements: claims are those not labelled `no_claim`; the score is the mean over claims that were decided, where
    an unverified support counts 0. It is None when there is no claim, when more than half of the claims are
    `cannot_tell`, and when no decided claim could be verified.
    """
    source = parts.get(rubric.quote_from, "")
    if rubric.kind != "statements":
        label, score, verified = _checked(rubric, decisions[0], source)
        return Judgement(
            rubric=rubric.name,
            rubric_version=rubric.version,
            provider="",
            label=label,
            score=score,
            reasoning=decisions[0].reasoning,
            evidence_quote=decisions[0].quote,
            quote_verified=verified,
            flags=(UNVERIFIED,) if label == UNVERIFIED else (),
        )
    judged = []
    for number, (text, decision) in enumerate(zip(statements, decisions, strict=True), 1):
        label, score, verified = _checked(rubric, decision, source)
        judged.append(
            JudgedStatement(
                index=number,
                text=text,
                label=label,
                score=score,
                reasoning=decision.reasoning,
                evidence_quote=decision.quote,
                quote_verified=verified,
            )
        )
    return _summed(rubric, judged)


def _checked(rubric: Rubric, decision: Decision, source: str) -> tuple[str, float | None, bool | None]:
    """(label, score, whether the quote was found); None where no quote was needed and none given."""
    needed = rubric.kind != "score" and rubric.label(decision.label).quote
    if not rubric.quote_from or not (needed or decision.quote.strip()):
        return decision.label, decision.score, None
    verified = is_quoted(decision.quote, source)
    if needed and not verified:
        return UNVERIFIED, None, False
    return decision.label, decision.score, verified


def _summed(rubric: Rubric, judged: Sequence[JudgedStatement]) -> Judgement:
    claims = [each for each in judged if each.label != NO_CLAIM]
    undecided = [each for each in claims if each.label == CANNOT_TELL]
    counted = [each for each in claims if each.label != CANNOT_TELL]
    top = max(rubric.scores.values())
    held = [each for each in counted if each.score == top]
    label, score = f"{len(held)}/{len(counted)}", None
    if not claims:
        label = NO_CLAIM
    elif 2 * len(undecided) > len(claims):
        label = CANNOT_TELL
    elif all(each.label == UNVERIFIED for each in counted):
        label = UNVERIFIED
    else:
        score = sum(each.score or 0.0 for each in counted) / len(counted)
    short = [each for each in counted if each.score != top]
    checks = [each.quote_verified for each in judged if each.quote_verified is not None]
    return Judgement(
        rubric=rubric.name,
        rubric_version=rubric.version,
        provider="",
        label=label,
        score=score,
        reasoning=_in_words(held, counted, undecided, short),
        evidence_quote=next((each.evidence_quote for each in (short or judged) if each.evidence_quote), ""),
        quote_verified=all(checks) if checks else None,
        statements=tuple(judged),
        flags=(UNVERIFIED,) if any(each.label == UNVERIFIED for each in judged) else (),
    )


def _in_words(
    held: Sequence[JudgedStatement],
    counted: Sequence[JudgedStatement],
    undecided: Sequence[JudgedStatement],
    short: Sequence[JudgedStatement],
) -> str:
    if not counted and not undecided:
        return "the text makes no claim"
    text = f"{len(held)} of {len(counted)} claims hold"
    if undecided:
        text += f", {len(undecided)} could not be decided"
    return "; ".join([text, *(f"({each.index}) {each.label}: {each.reasoning}" for each in short[:5])])
