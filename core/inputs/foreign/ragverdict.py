"""`report.json` of an audit: the existing auditor's, and our own, which has the same shape."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import Problem
from core.inputs.foreign.imported import (
    Imported,
    digest_of,
    mapping_of,
    number_of,
    objects,
    raise_problems,
    read_json,
    scores_of,
    unique_ids,
)
from core.records import Case, Output, Result, Verdict


def sniff(path: Path) -> bool:
    if path.suffix != ".json" or not path.is_file():
        return False
    data = read_json(path)
    tests = data.get("tests") if isinstance(data, dict) else None
    return (
        isinstance(tests, list)
        and bool(tests)
        and isinstance(tests[0], dict)
        and {"evaluator", "verdict"} <= set(tests[0])
    )


def load(path: Path, mapping: Mapping[str, Any]) -> list[Imported]:
    """One case a test, with its verdict, detail and metrics; the artifacts stay in `Result.artifacts`. The
    report holds no answers, so that nothing can be scored again."""
    data = read_json(path)
    problems: list[Problem] = []
    tests = objects(path, data.get("tests") if isinstance(data, dict) else data, "tests", problems)
    for index, test in tests:
        if str(test.get("verdict")).upper() not in Verdict.__members__:
            problems.append(
                Problem(
                    f"tests[{index}]",
                    f"verdict must be PASS, WEAK, FAIL or ERROR, not {test.get('verdict')!r}",
                )
            )
        if not test.get("name"):
            problems.append(Problem(f"tests[{index}]", "name is missing"))
    raise_problems(path, problems)
    ids = unique_ids([str(test["name"]) for _, test in tests])
    cases, outputs, results = [], [], []
    for order, ((_, test), case_id) in enumerate(zip(tests, ids, strict=True)):
        evaluator, detail = str(test.get("evaluator") or ""), str(test.get("detail") or "")
        cases.append(
            Case(
                id=case_id, query=str(test["name"]), order=order, test=str(test["name"]), evaluator=evaluator
            )
        )
        metrics = mapping_of(test.get("metrics"))
        scores = scores_of(metrics)
        latency = number_of(test.get("duration_ms"))
        outputs.append(Output(case_id=case_id, latency_ms=latency, raw={"foreign_scores": scores}))
        artifacts = mapping_of(test.get("artifacts"))
        unchecked = tuple(str(name) for name in test.get("unchecked") or [] if isinstance(name, str))
        results.append(
            Result(
                case_id=case_id,
                verdict=Verdict(str(test["verdict"]).upper()),
                reasons=(detail,) if detail else (),
                scores=scores,
                unchecked=unchecked,
                artifacts=artifacts,
            )
        )
    run = mapping_of(data.get("run"))
    suite = str(run.get("suite") or data.get("suite") or path.stem)
    name = str(run.get("name") or path.parent.name or path.stem)
    notices = ("an audit report holds no answers: its verdicts are taken over and cannot be scored again",)
    return [
        Imported(
            name, "audit", suite, tuple(cases), tuple(outputs), tuple(results), notices, digest_of([path])
        )
    ]
