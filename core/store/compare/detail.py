"""What changed in one case: the answer by word, claims, chunks that entered, left or moved, reasons, scores."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.contracts import Metric
from core.records import Hit, Output, Result
from core.store.runs import Store

Operation = Literal["same", "removed", "added"]
_PIECES = re.compile(r"\s+|\w+|[^\w\s]")
_LONG = 4_000  # pieces beyond which only a common beginning and end are looked for


@dataclass(frozen=True, slots=True)
class ChunkChange:
    """A hit in one of the rankings. `move` is entered | left | up | down | stayed; ranks are None where it is not."""

    chunk_id: str
    title: str
    move: str
    rank_a: int | None
    rank_b: int | None
    grade_a: int | None
    grade_b: int | None


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A claim whose label against one target differs, or that only one side has (None on the other)."""

    claim_type: str
    claim: str
    target: str
    label_a: str | None
    label_b: str | None


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """A score of the two sides; `improvement` is positive where the candidate is better, None without direction."""

    metric: str
    a: float | None
    b: float | None
    delta: float | None
    improvement: float | None


@dataclass(frozen=True, slots=True)
class CaseDifference:
    """One case in two runs. Where a run has no output or result, its part is empty."""

    case_a: str
    case_b: str
    answer: tuple[tuple[Operation, str], ...]
    chunks: tuple[ChunkChange, ...]
    claims: tuple[ClaimChange, ...]
    scores: tuple[ScoreChange, ...]
    reasons_a: tuple[str, ...]
    reasons_b: tuple[str, ...]


def case_difference(
    store: Store, a: str, b: str, case_a: str, case_b: str | None = None, *, repeat: int = 0
) -> CaseDifference:
    """Compare one case of two runs. `case_b` where the id differs (a case matched by content)."""
    other = case_b or case_a
    left, right = store.output(a, case_a, repeat), store.output(b, other, repeat)
    before, after = store.result(a, case_a, repeat), store.result(b, other, repeat)
    return CaseDifference(
        case_a=case_a,
        case_b=other,
        answer=tuple(word_difference(_text(left), _text(right))),
        chunks=tuple(chunk_changes(_hits(left), _hits(right), before, after)),
        claims=tuple(claim_changes(before, after)),
        scores=tuple(score_changes(before, after, store.metrics(b))),
        reasons_a=_reasons(before),
        reasons_b=_reasons(after),
    )


def _text(output: Output | None) -> str:
    return (output.text or "") if output else ""


def _hits(output: Output | None) -> tuple[Hit, ...]:
    return output.hits if output else ()


def _reasons(result: Result | None) -> tuple[str, ...]:
    if result is None:
        return ()
    diagnosis = result.diagnosis
    said = (diagnosis.primary_reason, diagnosis.explanation) if diagnosis else ()
    return tuple(text for text in (*result.reasons, *said) if text)


def word_difference(a: str, b: str) -> list[tuple[Operation, str]]:
    """Runs of text that are the same, removed or added, in reading order. Joined without "added" they give `a`,
    without "removed" `b`.

    >>> word_difference("6 Semester", "8 Semester")
    [('removed', '6'), ('added', '8'), ('same', ' Semester')]
    """
    left, right = _PIECES.findall(a), _PIECES.findall(b)
    if max(len(left), len(right)) > _LONG:
        return _ends(left, right)
    found: list[tuple[Operation, str]] = []
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for operation, i1, i2, j1, j2 in matcher.get_opcodes():
        if operation == "equal":
            found.append(("same", "".join(left[i1:i2])))
            continue
        if i2 > i1:
            found.append(("removed", "".join(left[i1:i2])))
        if j2 > j1:
            found.append(("added", "".join(right[j1:j2])))
    return found


def _ends(left: Sequence[str], right: Sequence[str]) -> list[tuple[Operation, str]]:
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    parts: list[tuple[Operation, str]] = [
        ("same", "".join(left[:start])),
        ("removed", "".join(left[start : len(left) - end])),
        ("added", "".join(right[start : len(right) - end])),
        ("same", "".join(left[len(left) - end :])),
    ]
    return [part for part in parts if part[1]]


def chunk_changes(
    a: Sequence[Hit], b: Sequence[Hit], before: Result | None = None, after: Result | None = None
) -> list[ChunkChange]:
    """Hits of both rankings, by the candidate's rank, then those that left."""
    in_a, in_b = {hit.id: hit for hit in a}, {hit.id: hit for hit in b}
    order = [*in_b, *(name for name in in_a if name not in in_b)]
    grades_a, grades_b = (result.relevance if result else {} for result in (before, after))
    changes = []
    for name in order:
        one, two = in_a.get(name), in_b.get(name)
        if one is None:
            move = "entered"
        elif two is None:
            move = "left"
        else:
            move = "stayed" if one.rank == two.rank else "up" if two.rank < one.rank else "down"
        changes.append(
            ChunkChange(
                chunk_id=name,
                title=(two or one).title if two or one else "",  # type: ignore[union-attr]
                move=move,
                rank_a=one.rank if one else None,
                rank_b=two.rank if two else None,
                grade_a=grades_a.get(name),
                grade_b=grades_b.get(name),
            )
        )
    return changes


def claim_changes(before: Result | None, after: Result | None) -> list[ClaimChange]:
    """Claims whose label changed against the same target, and claims of one side only."""

    def table(result: Result | None) -> dict[tuple[str, str, str], str]:
        claims = result.claims if result else ()
        return {
            (claim.claim_type, claim.claim, claim.target): claim.label
            for claim in claims
            if not claim.target.startswith(("chunk:", "source:"))
        }

    one, two = table(before), table(after)
    return [
        ClaimChange(*key, one.get(key), two.get(key))
        for key in dict.fromkeys([*one, *two])
        if one.get(key) != two.get(key)
    ]


def score_changes(
    before: Result | None, after: Result | None, metrics: Mapping[str, Metric]
) -> list[ScoreChange]:
    """Scores that differ, by name."""
    one, two = (result.scores if result else {} for result in (before, after))
    changes = []
    for name in sorted({*one, *two}):
        a, b = one.get(name), two.get(name)
        if a == b:
            continue
        delta = b - a if a is not None and b is not None else None
        direction = metrics[name].direction if name in metrics else 0
        improvement = delta * direction if delta is not None and direction else None
        changes.append(ScoreChange(name, a, b, delta, improvement))
    return changes
