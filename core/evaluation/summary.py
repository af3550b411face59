"""From results of cases to figures of a run: means with their coverage and interval, rates, counts.

The unit is the case: repeats of a case are averaged first, and cases of one cluster (a document, a session,
paraphrases) are not counted as independent. Nothing here decides what a number means; that is `METRICS`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from core.contracts import METRICS, Metric, metric
from core.evaluation.summary_tables import answerable, classifier_tables, document_tables
from core.metrics.abstention_rates import rate_values
from core.records import Aggregate, Case, Output, Result, Verdict
from core.statistics.intervals import interval_for
from core.statistics.power import detectable_difference

ERROR_REASONS = frozenset({"judge_error", "system_error", "evaluator_error", "error"})
NOT_GIVEN = "(not given)"
ESTIMATED = "estimated"
CLASSIFIERS = frozenset({"ted_cpv", "api_classifier"})


@metric(
    name="pass_rate",
    title="Pass rate",
    family="verdict",
    kind="binary",
    formula="cases with verdict PASS / cases with a verdict other than ERROR",
    inputs="verdicts",
    empty="None when every case is an ERROR",
    source="Plumbline",
    headline=True,
)
def pass_rate(verdicts: Sequence[str]) -> float | None:
    """Share of PASS among the verdicts other than ERROR; None without any.

    >>> pass_rate(["PASS", "FAIL", "ERROR"])
    0.5
    """
    decided = [verdict for verdict in verdicts if verdict != Verdict.ERROR]
    return sum(verdict == Verdict.PASS for verdict in decided) / len(decided) if decided else None


def aggregate(
    cases: Sequence[Case],
    results: Sequence[Result],
    *,
    group_by: Sequence[str] = ("question_type",),
    level: float = 0.95,
) -> list[Aggregate]:
    """One row for every metric over all cases, and one for every value of each `group_by` (a field of Case or a
    key of its metadata).

    A value that is there counts, whatever the verdict, so that a failing judge moves no mean it has no part in.
    A value that is missing counts as an error when the result failed or its reason is an error, and as not
    applicable otherwise; a case without any result is an error. The three counts add up to the number of cases.
    Rows are sorted by group and metric name.
    """
    by_case: dict[str, list[Result]] = {case.id: [] for case in cases}
    for result in results:
        if result.case_id in by_case:
            by_case[result.case_id].append(result)
    attempts = [[(_scores(case, result), result) for result in by_case[case.id]] for case in cases]
    names = sorted({name for tried in attempts for scores, _ in tried for name in scores})
    guessed = [any(each.relevance_source == ESTIMATED for _, each in tried) for tried in attempts]
    about = _Cases([case.cluster for case in cases], np.array(guessed, dtype=bool))
    groups = list(_groups(cases, group_by))
    rows: list[tuple[str, str, int, Aggregate]] = []
    for place, name in enumerate(names):
        column = _column(name, attempts)
        for key, group, members in groups:
            rows.append((key, group, place, _row(column, about, members, level, key, group)))
    return [row for *_, row in sorted(rows, key=lambda entry: entry[:3])]


_Attempt = tuple[Mapping[str, float | None], Result]


def _groups(cases: Sequence[Case], group_by: Sequence[str]) -> Iterator[tuple[str, str, Any]]:
    """(field, value, places of the cases that have it), first all cases under no field."""
    yield "", "", np.arange(len(cases))
    for key in group_by:
        members: dict[str, list[int]] = {}
        for place, case in enumerate(cases):
            members.setdefault(group_of(case, key), []).append(place)
        if not set(members) <= {NOT_GIVEN}:
            yield from ((key, group, np.array(members[group])) for group in sorted(members))


def group_of(case: Case, key: str) -> str:
    """The group a case belongs to under a field of Case or a key of its metadata; "(not given)" for none."""
    value = getattr(case, key) if key in Case.model_fields else case.metadata.get(key)
    return NOT_GIVEN if value is None or value == "" else str(value)


def _scores(case: Case, result: Result) -> dict[str, float | None]:
    scores = dict(result.scores)
    scores["pass_rate"] = None if result.verdict is Verdict.ERROR else float(result.verdict is Verdict.PASS)
    if "abstained" in result.scores:
        known, abstained = answerable(case, result), result.scores["abstained"]
        rates = rate_values(bool(known), bool(abstained))
        told = known is not None and abstained is not None
        scores.update(rates if told else dict.fromkeys(rates))
    return scores


_SCORED, _NOT_APPLICABLE, _ERROR = 0, 1, 2


@dataclass(frozen=True, slots=True)
class _Column:
    """One metric over all cases: `values` (0 where there is none) and `states` say scored, not applicable or error."""

    name: str
    values: Any
    states: Any


@dataclass(frozen=True, slots=True)
class _Cases:
    """What is known of all cases: their clusters, and where relevance was estimated from the gold text."""

    clusters: Sequence[str | None]
    estimated: Any


def _column(name: str, attempts: Sequence[Sequence[_Attempt]]) -> _Column:
    """The mean over the repeats of each case, or why there is none."""
    found = [tried[0][0].get(name) if len(tried) == 1 else _mean(name, tried) for tried in attempts]
    states = np.zeros(len(found), dtype=np.int8)
    for place, value in enumerate(found):
        if value is None:
            tried = attempts[place]
            failed = not tried or any(_is_error(name, result) for _, result in tried)
            states[place] = _ERROR if failed else _NOT_APPLICABLE
    return _Column(name, np.array([0.0 if value is None else value for value in found], dtype=float), states)


def _mean(name: str, tried: Sequence[_Attempt]) -> float | None:
    values = [value for scores, _ in tried if (value := scores.get(name)) is not None]
    return sum(values) / len(values) if values else None


def _is_error(name: str, result: Result) -> bool:
    reason = result.undefined.get(name)
    if reason is not None:
        return reason in ERROR_REASONS
    return result.verdict is Verdict.ERROR or result.failure is not None


def _row(column: _Column, cases: _Cases, members: Any, level: float, key: str, group: str) -> Aggregate:
    known = METRICS.get(column.name)
    states = column.states[members]
    places = members[states == _SCORED]
    numbers = column.values[places]
    of_cluster = [cases.clusters[place] for place in places]
    clustered = of_cluster if any(cluster is not None for cluster in of_cluster) else None
    kind = known.kind if known else "unbounded"
    interval = interval_for(numbers, kind, clustered, level) if len(numbers) else None
    return Aggregate(
        metric=column.name,
        mean=math.fsum(numbers) / len(numbers) if len(numbers) else None,
        n_scored=len(numbers),
        n_not_applicable=int((states == _NOT_APPLICABLE).sum()),
        n_error=int((states == _ERROR).sum()),
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        level=level,
        method=interval.method if interval else "",
        note="; ".join(filter(None, (interval.note if interval else "", _estimated(known, cases, places)))),
        group_by=key,
        group=group,
    )


def _estimated(known: Metric | None, cases: _Cases, places: Any) -> str:
    """How many of the scored cases of a ranking metric rest on estimated relevance; "" for none."""
    if known is None or known.family != "ranking" or known.name == "duplicate_rate_at_k":
        return ""
    n = int(cases.estimated[places].sum())
    return "" if not n else ESTIMATED if n == len(places) else f"{ESTIMATED} for {n} of {len(places)}"


# --- the summary of a run -------------------------------------------------------------------------------------


def summarise(
    kind: str,
    cases: Sequence[Case],
    outputs: Sequence[Output],
    results: Sequence[Result],
    aggregates: Sequence[Aggregate],
) -> dict[str, Any]:
    """The summary of a run under its published keys (`answer_metrics`, `retrieval_metrics`, `diagnostics`,
    `classifier.ranking_metrics`…), together with verdict counts, coverage, the headline figures with their
    intervals, and what this question set can detect. Keys that do not apply are absent. Counts are of cases: of
    several repeats the worst one counts."""
    worst = worst_repeats(results)
    counts = Counter(result.verdict.value for result in worst)
    summary: dict[str, Any] = {
        "n_cases": len(cases),
        "n_results": len(results),
        "n_flaky": n_flaky(results),
        "verdicts": {verdict.value: counts[verdict.value] for verdict in Verdict},
        "coverage": coverage(cases, results),
        "headline": headline(aggregates),
        "detectable": detectable(len(cases)),
        "failures": failures(outputs, results),
    }
    if kind == "audit":
        return summary
    if kind in CLASSIFIERS or _is_classification(kind, cases, results):
        return summary | classifier_tables(cases, outputs, worst, aggregates)
    return summary | document_tables(cases, outputs, worst, aggregates)


def _is_classification(kind: str, cases: Sequence[Case], results: Sequence[Result]) -> bool:
    return kind == "prepared_rag_results" and any("exact_top1_match" in result.scores for result in results)


def worst_repeats(results: Sequence[Result]) -> list[Result]:
    """One result a case, in the order of first appearance: the severest verdict, the first of several."""
    order = list(Verdict)
    chosen: dict[str, Result] = {}
    for result in results:
        kept = chosen.get(result.case_id)
        if kept is None or order.index(result.verdict) > order.index(kept.verdict):
            chosen[result.case_id] = result
    return list(chosen.values())


def n_flaky(results: Sequence[Result]) -> int:
    """Cases whose repeats have different verdicts."""
    verdicts: dict[str, set[Verdict]] = {}
    for result in results:
        verdicts.setdefault(result.case_id, set()).add(result.verdict)
    return sum(len(seen) > 1 for seen in verdicts.values())


def coverage(cases: Sequence[Case], results: Sequence[Result]) -> dict[str, Any]:
    """How many cases have a result that is not an ERROR; `share` is None without cases."""
    known = {case.id for case in cases}
    decided = {r.case_id for r in results if r.verdict is not Verdict.ERROR} & known
    share = len(decided) / len(known) if known else None
    return {"n_decided": len(decided), "n_error": len(known) - len(decided), "share": share}


def failures(outputs: Sequence[Output], results: Sequence[Result]) -> dict[str, int]:
    """Failures counted by `where: kind`; each result or output counts once."""
    failed = {(r.case_id, r.repeat): r.failure for r in results if r.failure is not None}
    for output in outputs:
        if output.failure is not None:
            failed.setdefault((output.case_id, output.repeat), output.failure)
    return dict(sorted(Counter(f"{failure.where}: {failure.kind}" for failure in failed.values()).items()))


def headline(aggregates: Iterable[Aggregate]) -> dict[str, dict[str, Any]]:
    """The headline metrics over all cases: mean, interval, counts."""
    chosen: dict[str, dict[str, Any]] = {}
    for row in aggregates:
        known = METRICS.get(row.metric)
        if known is not None and known.headline and not row.group_by and row.n_scored:
            chosen[row.metric] = row.model_dump(
                include={
                    "mean",
                    "low",
                    "high",
                    "level",
                    "method",
                    "note",
                    "n_scored",
                    "n_not_applicable",
                    "n_error",
                }
            )
    return chosen


DISCORDANCE = 0.3  # share of questions on which two versions of a system are taken to differ


@lru_cache(maxsize=256)
def detectable(n: int, discordance: float = DISCORDANCE) -> str:
    """One sentence: which drop of a pass rate `n` questions can show (one-sided, α = .05, power .8)."""
    if n < 1:
        return "There are no questions, so nothing can be detected."
    questions = "1 question" if n == 1 else f"{n:,} questions"
    found = _detectable(n, discordance)
    if found is None:
        return (
            f"With {questions} no drop can be shown reliably, whatever its size: two versions differ on about "
            f"{discordance:.0%} of the questions at most."
        )
    points = max(1, math.ceil(100 * found - 0.05))  # rounded up: a smaller drop would be promised wrongly
    return (
        f"With {questions} you can only detect drops of about {points} point{'s' if points != 1 else ''} or more "
        f"(when the two versions differ on {discordance:.0%} of the questions; four times in five, one-sided at 5 %)."
    )


_EXACT_TO = 500  # above it the normal approximation agrees to a tenth of a point


def _detectable(n: int, discordance: float) -> float | None:
    if n <= _EXACT_TO:
        return detectable_difference(n, discordance, sided=1)
    factor = 2.4864749  # z(.95) + z(.80)
    return float((factor**2 * discordance / (n + factor**2)) ** 0.5)
