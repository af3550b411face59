"""From stored runs to their attribution: the trace is read back, the rest is `core.attribution`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.attribution import Attribution, attribute
from core.attribution.trace import Trace, configuration_of, rows_of, trace_of
from core.records import Case, Output, Result, Run
from core.store.runs import Store

if TYPE_CHECKING:
    import pandas as pd


def attribute_run(
    run: Run, cases: Sequence[Case], outputs: Iterable[Output], results: Iterable[Result]
) -> Attribution:
    """The attribution of a single run: no comparisons, but every table, the causes of its failures and advice."""
    configuration = configuration_of(run, measured=_measured(run))
    trace = trace_of([(configuration, rows_of(run.name, cases, outputs, results))])
    return attribute(trace, folder=run.folder or ".", seed=run.seed)


def trace_runs(
    store: Store,
    runs: Sequence[Run],
    *,
    censored: frozenset[str] = frozenset(),
    baseline: str | None = None,
    facts: Mapping[tuple[str, str], Mapping[str, Any]] | None = None,
) -> Trace:
    """The trace of stored runs, one configuration each. `censored` names those a race stopped; `facts` are further
    columns by (experiment, question id), as the oracle ladder records them."""
    parts = []
    for run in runs:
        rows = rows_of(run.name, store.cases(run.id), store.outputs(run.id), store.results(run.id))
        for row in rows:
            row.update((facts or {}).get((run.name, row["question_id"]), {}))
        parts.append((configuration_of(run, censored=run.name in censored, measured=_measured(run)), rows))
    return trace_of(parts, baseline=baseline)


def attribute_runs(
    store: Store,
    runs: Sequence[Run],
    *,
    folder: str,
    baseline: str | None = None,
    censored: frozenset[str] = frozenset(),
    ladder: pd.DataFrame | None = None,
    facts: Mapping[tuple[str, str], Mapping[str, Any]] | None = None,
) -> tuple[Trace, Attribution]:
    """Attribution over several stored runs (a sweep, or any runs of one suite)."""
    trace = trace_runs(store, runs, censored=censored, baseline=baseline, facts=facts)
    return trace, attribute(trace, ladder=ladder, folder=folder, seed=runs[0].seed if runs else 0)


def _measured(run: Run) -> dict[str, float | None]:
    return {name: run.summary.get(name) for name in ("runtime_seconds", "n_chunks", "index_bytes")}
