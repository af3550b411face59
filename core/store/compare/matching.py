"""Which case of one run is which of the other, and what became of it."""

from __future__ import annotations

from collections import Counter

from core.store.compare.loading import SEVERITY, Asked, Table
from core.store.compare.records import Pair, Side, Status


def match(a: Table, b: Table) -> list[Pair]:
    """Pairs in the order of the candidate's file, then what is only in the baseline.

    Cases are matched by id; what is left by content, where exactly one case on each side has it.
    """
    left = {case.case_id: case for case in a.cases}
    partner: dict[str, tuple[Asked, str]] = {}
    for case in b.cases:
        if case.case_id in left:
            partner[case.case_id] = (left.pop(case.case_id), "id")
    open_b = [case for case in b.cases if case.case_id not in partner]
    in_a, in_b = Counter(case.content for case in left.values()), Counter(case.content for case in open_b)
    by_content = {case.content: case for case in left.values() if in_a[case.content] == 1}
    for case in open_b:
        found = by_content.get(case.content)
        if found is not None and in_b[case.content] == 1:
            partner[case.case_id] = (found, "content")
            del left[found.case_id]
    pairs = [
        _pair(a, b, *partner[case.case_id], case) if case.case_id in partner else _only(case, b, "b")
        for case in b.cases
    ]
    return [*pairs, *(_only(case, a, "a") for case in left.values())]


def _only(case: Asked, table: Table, side: str) -> Pair:
    found = table.sides.get(case.case_id) or _unscored(case.case_id)
    return Pair(
        status="only_in_a" if side == "a" else "only_in_b",
        position=case.position,
        query=case.query,
        question_type=case.question_type,
        a=found if side == "a" else None,
        b=found if side == "b" else None,
        cluster=case.cluster,
    )


def _pair(a: Table, b: Table, of_a: Asked, matched_by: str, of_b: Asked) -> Pair:
    left = a.sides.get(of_a.case_id) or _unscored(of_a.case_id)
    right = b.sides.get(of_b.case_id) or _unscored(of_b.case_id)
    status, note = _status(left, right, same=of_a.content == of_b.content)
    return Pair(
        status=status,
        position=of_b.position,
        query=of_b.query,
        question_type=of_b.question_type,
        a=left,
        b=right,
        matched_by=matched_by,
        note=note,
        cluster=of_b.cluster,
    )


def _unscored(case_id: str) -> Side:
    """A case the run has not answered is missing data, like an error."""
    return Side(case_id, "ERROR", (), 0, 0, "not answered")


def _status(a: Side, b: Side, *, same: bool) -> tuple[Status, str]:
    if not same:
        return "not_comparable", "the question or its gold answer changed"
    if a.verdict == "ERROR" or b.verdict == "ERROR":
        where = (
            "both runs"
            if a.verdict == b.verdict
            else "the baseline"
            if a.verdict == "ERROR"
            else "the candidate"
        )
        return "not_comparable", f"ERROR in {where}"
    unstable = len(set(a.verdicts)) > 1 or len(set(b.verdicts)) > 1
    if unstable and set(a.verdicts) & set(b.verdicts):
        return "flaky", "repeats disagree"
    worse = SEVERITY[b.verdict] - SEVERITY[a.verdict]
    return ("broken" if worse > 0 else "fixed" if worse < 0 else "unchanged"), ""
