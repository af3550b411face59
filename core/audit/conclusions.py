"""From the results of single cases to the verdict of each test, repeats and flakiness included."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from core.evaluation.audit import AuditEvaluator
from core.evaluation.shapes import TestSpec
from core.evaluation.verdicts import of_repeats
from core.records import Case, Output, Result, Verdict
from core.statistics.intervals import wilson


def conclude_tests(
    tests: Sequence[TestSpec],
    evaluators: Mapping[str, AuditEvaluator],
    cases: Sequence[Case],
    outputs: Sequence[Output],
    results: Sequence[Result],
) -> dict[str, Any]:
    """`tests` in config order in the published shape of `report.json`, and the counts of their verdicts."""
    by_test: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_test[case.test].append(case)
    by_case: dict[str, list[Result]] = defaultdict(list)
    for result in sorted(results, key=lambda each: each.repeat):
        by_case[result.case_id].append(result)
    spent: dict[str, float] = defaultdict(float)
    for output in outputs:
        spent[output.case_id] += output.latency_ms or 0.0
    texts = {(output.case_id, output.repeat): output.text or "" for output in outputs}
    rows = []
    for test in tests:
        own = [case for case in by_test[test.name] if by_case[case.id]]
        chosen = [_one(by_case[case.id], test.min_pass_rate) for case in own]
        outcome = evaluators[test.name].conclude(own, chosen)
        for row in outcome.artifacts.get("cases", []):
            row["response_text"] = texts.get((row["id"], row["repeat"]), "") if "repeat" in row else ""
        unchecked = sorted({name for result in chosen for name in result.unchecked})
        rows.append(
            {
                "name": test.name,
                "evaluator": test.evaluator,
                "verdict": outcome.verdict.value,
                "detail": outcome.detail,
                "metrics": outcome.metrics,
                "duration_ms": round(sum(spent[case.id] for case in own)),
                "artifacts": outcome.artifacts | _repeats(own, by_case),
                "unchecked": unchecked,
                "n_unchecked_cases": sum(bool(result.unchecked) for result in chosen),
            }
        )
    counts = {verdict.value: sum(row["verdict"] == verdict.value for row in rows) for verdict in Verdict}
    return {"tests": rows, "test_verdicts": counts}


def _one(results: Sequence[Result], min_pass_rate: float | None) -> Result:
    """The result that stands for all repeats of a case: its verdict is theirs together."""
    ruling = of_repeats([result.verdict for result in results], min_pass_rate)
    standing = next((result for result in results if result.verdict is ruling.verdict), results[0])
    if standing.verdict is not ruling.verdict or (ruling.reasons and ruling.verdict is not Verdict.PASS):
        reasons = tuple(dict.fromkeys([*standing.reasons, *ruling.reasons]))
        standing = standing.model_copy(update={"verdict": ruling.verdict, "reasons": reasons})
    return standing


def _repeats(cases: Sequence[Case], by_case: Mapping[str, Sequence[Result]]) -> dict[str, Any]:
    """Pass rate of each case with its Wilson interval, pass^n and pass@n; empty when nothing was repeated."""
    if not any(len(by_case[case.id]) > 1 for case in cases):
        return {}
    rows = []
    for case in cases:
        verdicts = [result.verdict for result in by_case[case.id]]
        passed, n = sum(verdict is Verdict.PASS for verdict in verdicts), len(verdicts)
        interval = wilson(passed, n) if n else None
        rows.append(
            {
                "id": case.id,
                "n": n,
                "passed": passed,
                "pass_rate": passed / n if n else None,
                "low": interval.low if interval else None,
                "high": interval.high if interval else None,
                "pass_all": passed == n,
                "pass_any": passed > 0,
                "flaky": 0 < passed < n,
                "verdicts": [verdict.value for verdict in verdicts],
            }
        )
    return {"repeats": rows}
