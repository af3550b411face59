"""Whether two runs may be compared at all, and in what their settings differ (statistics.md 0.2, 0.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from core.records import Run
from core.settings import RunSettings, applicability, is_factor
from core.store.compare.records import Difference, Problem

MAX_ERROR_RATE = 0.05
# A different instrument gives numbers that cannot be subtracted; what is only a different input is labelled.
_INSTRUMENTS = {
    "judge": "another judge gave the scores; score one run again with the judge of the other",
    "rubric": "the judge's rubric changed; score the older run again",
    "rubrics": "the judge's rubrics changed; score the older run again",
    "hierarchy_scheme": "the code levels have another meaning",
}
_LABELS = {
    "questions": "the question files differ; only cases that both runs hold unchanged are compared",
    "corpus": "the documents differ",
    "parser": "the documents were parsed by another version",
    "catalog": "the code lists differ",
    "plumbline": "made by different versions of Plumbline",
}
_UNIMPORTANT = frozenset({"run_name", "output_dir", "store_path", "cache_dir", "concurrency", "max_cost"})


def metric_problems(a: Mapping[str, str], b: Mapping[str, str]) -> list[Problem]:
    """Metrics both runs have under different definitions; adding a metric changes nothing for the others."""
    changed = sorted(name for name in {*a} & {*b} if a[name] != b[name])
    if not changed:
        return []
    text = f"the definition of {', '.join(changed)} changed; score the older run again with `plumbline score`"
    return [Problem("refused", "metrics", text, a[changed[0]], b[changed[0]])]


def problems(a: Run, b: Run, n_shared: int) -> list[Problem]:
    """Reasons to refuse a comparison first, then what a reader must know."""
    found: list[Problem] = []
    if a.kind != b.kind:
        found.append(
            Problem(
                "refused",
                "kind",
                f"a {a.kind} run and a {b.kind} run measure different things",
                a.kind,
                b.kind,
            )
        )
    if not n_shared:
        found.append(Problem("refused", "cases", "the two runs have no case in common", a.suite, b.suite))
    if a.kind != b.kind:
        return found
    for run in (a, b):
        if run.status != "sealed":
            found.append(
                Problem("label", "status", f"run {run.name} is {run.status}: its figures may still change")
            )
    known_a, known_b = {**a.versions, **a.digests}, {**b.versions, **b.digests}
    for table, severity in ((_INSTRUMENTS, "refused"), (_LABELS, "label")):
        for name, message in table.items():
            one, two = known_a.get(name), known_b.get(name)
            if one != two and (one or two):
                found.append(Problem(severity, name, message, one or "none", two or "none"))  # type: ignore[arg-type]
    if a.suite_digest != b.suite_digest and not any(problem.what == "questions" for problem in found):
        found.append(
            Problem("label", "questions", _LABELS["questions"], a.suite_digest[:12], b.suite_digest[:12])
        )
    estimated = sorted({row.metric for run in (a, b) for row in run.aggregates if row.estimate})
    if estimated:
        text = f"relevance was estimated from the expected answers for {', '.join(estimated[:4])}"
        text += f" and {len(estimated) - 4} more ranking figures" if len(estimated) > 4 else ""
        found.append(Problem("label", "relevance", text))
    if a.repeats != b.repeats:
        text = "questions were asked a different number of times; means over the repeats are compared"
        found.append(Problem("label", "repeats", text, str(a.repeats), str(b.repeats)))
    return sorted(found, key=lambda problem: problem.severity != "refused")


def settings_differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Difference]:
    """Every setting in which the runs differ, nested ones by their path; names and paths of outputs apart."""
    one, two = _flat(a), _flat(b)
    return [
        Difference(name, one.get(name), two.get(name))
        for name in sorted({*one, *two})
        if one.get(name) != two.get(name) and name.split(".")[0] not in _UNIMPORTANT
    ]


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in settings.items():
        path = f"{prefix}{name}"
        found.update(_flat(value, f"{path}.") if isinstance(value, Mapping) and value else {path: value})
    return found


def factors(a: Run, b: Run) -> list[Difference]:
    """Design choices in which the runs differ. A child that only changed because its parent was switched names
    that parent in `entailed_by`."""
    one, two = _design(a), _design(b)
    changed = {name for name in {*one, *two} if one.get(name) != two.get(name)}
    return [
        Difference(name, one.get(name), two.get(name), entailed_by=_parent(name, changed, one, two))
        for name in sorted(changed)
    ]


def _parent(name: str, changed: set[str], one: Mapping[str, Any], two: Mapping[str, Any]) -> str:
    if name in one and name in two:
        return ""
    if name not in RunSettings.model_fields:
        return ""
    return next((parent for parent in sorted(applicability(RunSettings, name)) if parent in changed), "")


def _design(run: Run) -> dict[str, Any]:
    try:
        return RunSettings.model_validate(run.settings).design()
    except ValidationError:
        known = RunSettings.model_fields
        return {
            name: value
            for name, value in _flat(run.settings).items()
            if name.split(".")[0] not in _UNIMPORTANT and (name not in known or is_factor(RunSettings, name))
        }


def design_kind(changed: list[Difference]) -> str:
    """replicate | controlled | confounded, by the number of factors that were really changed."""
    n = sum(not difference.entailed_by for difference in changed)
    return "replicate" if n == 0 else "controlled" if n == 1 else "confounded"
