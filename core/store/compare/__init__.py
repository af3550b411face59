"""Two runs (or up to ten), case by case and metric by metric. Pure reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from core.errors import StoreError
from core.store.compare.comparability import (
    MAX_ERROR_RATE,
    design_kind,
    factors,
    metric_problems,
    problems,
    settings_differences,
)
from core.store.compare.detail import CaseDifference, case_difference
from core.store.compare.differences import error_differences, metric_differences
from core.store.compare.loading import Table, load_table
from core.store.compare.matching import match
from core.store.compare.records import (
    STATUSES,
    Comparison,
    Difference,
    Errors,
    MetricDifference,
    Pair,
    Problem,
    Side,
    sentence,
)
from core.store.runs import Store

__all__ = [
    "STATUSES",
    "CaseDifference",
    "Comparison",
    "Difference",
    "Errors",
    "MetricDifference",
    "Pair",
    "Problem",
    "Side",
    "case_difference",
    "compare_many",
    "compare_runs",
    "matrix",
    "sentence",
]
MAX_RUNS = 10


def compare_runs(
    store: Store, a: str, b: str, *, seed: int = 0, max_error_rate: float = MAX_ERROR_RATE
) -> Comparison:
    """Compare a baseline `a` with a candidate `b`; both by id, name, unique beginning or "latest".

    Where the runs are not comparable, the cases are still listed, but nothing is tested.
    """
    first = load_table(store, store.run(a))
    return _compare(first, load_table(store, store.run(b)), seed, max_error_rate)


def compare_many(store: Store, refs: Sequence[str], *, seed: int = 0) -> list[Comparison]:
    """The first run as baseline against each of the others."""
    if not 2 <= len(refs) <= MAX_RUNS:
        raise StoreError(f"two to {MAX_RUNS} runs can be compared, not {len(refs)}")
    tables = [load_table(store, store.run(ref)) for ref in refs]
    return [_compare(tables[0], table, seed) for table in tables[1:]]


def matrix(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Rows cases, columns runs: `{"id", "query", "question_type", "sides": {run id: Side}, "statuses": {run id:
    status}}` over comparisons with one baseline. Cases that only the baseline has come last."""
    rows: dict[str, dict[str, Any]] = {}
    for comparison in comparisons:
        for pair in comparison.pairs:
            name = (pair.a or pair.b).case_id  # type: ignore[union-attr]
            row = rows.setdefault(
                name,
                {
                    "id": name,
                    "query": pair.query,
                    "question_type": pair.question_type,
                    "sides": {},
                    "statuses": {},
                },
            )
            if pair.a is not None:
                row["sides"][comparison.a.id] = pair.a
            if pair.b is not None:
                row["sides"][comparison.b.id] = pair.b
            row["statuses"][comparison.b.id] = pair.status
    return list(rows.values())


def _compare(a: Table, b: Table, seed: int, max_error_rate: float = MAX_ERROR_RATE) -> Comparison:
    pairs = match(a, b)
    shared = [pair for pair in pairs if pair.matched_by]
    errors = error_differences(shared)
    found = [
        *problems(a.run, b.run, len(shared)),
        *metric_problems(a.versions, b.versions),
        *_error_problems(errors, max_error_rate),
    ]
    comparable = not any(problem.severity == "refused" for problem in found)
    changed = factors(a.run, b.run)
    statuses = Counter(pair.status for pair in pairs)
    flips = Counter(
        f"{pair.a.verdict} → {pair.b.verdict}"
        for pair in shared
        if pair.a and pair.b and pair.a.verdict != pair.b.verdict
    )
    return Comparison(
        a=a.run,
        b=b.run,
        comparable=comparable,
        problems=tuple(sorted(found, key=lambda problem: problem.severity != "refused")),
        design=design_kind(changed),
        factors=tuple(changed),
        settings=tuple(settings_differences(a.run.settings, b.run.settings)),
        counts={status: statuses.get(status, 0) for status in STATUSES},
        pairs=tuple(pairs),
        metrics=metric_differences(a, b, shared, seed=seed) if comparable else (),
        errors=errors,
        flips=dict(sorted(flips.items())),
    )


def _error_problems(errors: Errors, limit: float) -> list[Problem]:
    """Errors are rarely missing at random (statistics.md 0.2)."""
    found = []
    for n, name in ((errors.n_a, "baseline"), (errors.n_b, "candidate")):
        if errors.n and n / errors.n > limit:
            text = f"{n} of {errors.n} cases of the {name} are ERROR (more than {limit:.0%}): run it again with --retry-errors"
            found.append(Problem("refused", "errors", text, str(errors.n_a), str(errors.n_b)))
    if not found and errors.p < 0.05:
        text = "the two runs did not fail equally often, so the cases that are left are no fair sample"
        found.append(Problem("refused", "errors", text, str(errors.n_a), str(errors.n_b)))
    return found
