"""From stored runs to their attribution: the trace is read back, the rest is `core.attribution`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from core.attribution import Attribution, attribute
from core.attribution.grid import QUALITY, build_grid
from core.attribution.trace import Trace, configuration_of, rows_of, trace_of
from core.records import Case, Output, Result, Run
from core.store.runs import Store


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
) -> Trace:
    """The trace of stored runs, one configuration each. `censored` names those a race stopped."""
    parts = []
    for run in runs:
        rows = rows_of(run.name, store.cases(run.id), store.outputs(run.id), store.results(run.id))
        parts.append((configuration_of(run, censored=run.name in censored, measured=_measured(run)), rows))
    return trace_of(parts, baseline=baseline)


def with_facts(trace: Trace, facts: Mapping[tuple[str, str], Mapping[str, Any]]) -> Trace:
    """The trace with further columns by (experiment, question id), as the oracle ladder records them."""
    if not facts or trace.frame.empty:
        return trace
    frame = trace.frame.copy()
    cells = list(zip(frame["experiment"].astype(str), frame["question_id"].astype(str), strict=True))
    for name in dict.fromkeys(name for known in facts.values() for name in known):
        before = frame[name] if name in frame else [None] * len(frame)
        frame[name] = [
            facts[cell].get(name, old) if cell in facts else old
            for cell, old in zip(cells, before, strict=True)
        ]
        if all(value is None or isinstance(value, float) for value in frame[name]):
            frame[name] = frame[name].astype(float)
    return replace(trace, frame=frame)


def best_of(trace: Trace) -> str | None:
    """The configuration of highest mean quality over the questions that all answered; None without any."""
    grid = build_grid(trace)
    quality = grid.scores[QUALITY]
    shared = ~np.isnan(quality).any(axis=0) if len(quality) else np.zeros(0, dtype=bool)
    return grid.names[int(quality[:, shared].mean(axis=1).argmax())] if shared.any() else None


def _measured(run: Run) -> dict[str, float | None]:
    return {name: run.summary.get(name) for name in ("runtime_seconds", "n_chunks", "index_bytes")}
