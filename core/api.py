"""The library: `evaluate`, `score` and `compare`. Synchronous, and usable under a running event loop, in a
thread, in a notebook or in a Streamlit script: nothing here touches an event loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core import pipeline
from core.deferred import Deferred
from core.errors import ConfigError, Problem
from core.pipeline import Options, Progress
from core.records import Run
from core.retrieval.stages import Stages
from core.settings import RunSettings, load_settings
from core.store.compare import Comparison, compare_runs
from core.store.runs import Store
from core.systems.replay import Replay
from core.tasks import TASKS, is_audit, rebuild

_AUDIT: Deferred[Callable[..., Run]] = Deferred(
    {"run": "core.audit.running:run_audit", "score": "core.audit.running:score_audit"}
)


def evaluate(
    source: RunSettings | Mapping[str, Any] | str | Path,
    *,
    store: Store | None = None,
    on_result: Callable[[Progress], None] | None = None,
    **options: Any,
) -> Run:
    """Run one evaluation and return the sealed run.

    `source` is settings, a mapping of settings or the path of a settings file; a file or mapping with `tests:`
    is an audit. Raises ConfigError or InputError before anything runs.
    """
    if not isinstance(source, RunSettings) and is_audit(source):
        return _AUDIT["run"](source, store=store, on_event=on_result, **options)
    settings = source if isinstance(source, RunSettings) else load_settings(source)
    return pipeline.run(settings, store=store, on_event=on_result, **options)


def score(run: Run | str, *, store: Store, name: str = "", output_dir: str | Path | None = None) -> Run:
    """Score a stored run again with today's metrics, without asking the system: a new run with a parent. Its folder
    goes where the first one's went, or beside the store.

    Raises StoreError for an unknown run and ConfigError where the run's inputs are no longer there.
    """
    earlier = run if isinstance(run, Run) else store.run(run)
    known = sorted({*TASKS, "audit"})
    if earlier.kind not in known:
        raise ConfigError(f"runs of kind '{earlier.kind}' cannot be scored again; known: {', '.join(known)}")
    ready = Replay(store.outputs(earlier.id))
    options = Options(
        name=name or f"{earlier.name}-rescored",
        output_dir=output_dir or earlier.settings.get("output_dir") or store.path.parent,
        seed=earlier.seed,
        repeats=earlier.repeats,
        parent_id=earlier.id,
        settings=earlier.settings,
    )
    imported = "imported_from" in earlier.settings
    if earlier.kind == "audit" and imported:
        raise ConfigError(
            f"run {earlier.id} was imported: it holds the verdicts of another tool, and no tests to apply again"
        )
    if earlier.kind == "audit":
        return _AUDIT["score"](earlier, store, ready, options)
    settings = _stored_settings(earlier)
    # what was imported has answers and no documents: it is scored as prepared results are
    kind = "prepared_rag_results" if imported else earlier.kind
    stages = Stages(Path(settings.cache_dir))
    task = rebuild(earlier.model_copy(update={"kind": kind}), settings, store, stages, ready)
    return pipeline.execute(replace(task, kind=earlier.kind), store, options)


def _stored_settings(run: Run) -> RunSettings:
    """The settings of a stored run as far as this version knows them: an imported run has others of its own."""
    known = {key: value for key, value in run.settings.items() if key in RunSettings.model_fields}
    try:
        return RunSettings.model_validate(known)
    except ValidationError as error:
        raise ConfigError(
            f"the settings of run {run.id} do not fit this version of Plumbline",
            [Problem(".".join(map(str, each["loc"])), each["msg"]) for each in error.errors()],
        ) from error


def compare(a: Run | str, b: Run | str, *, store: Store) -> Comparison:
    """Compare a baseline `a` with a candidate `b` case by case; says whether and why they are not comparable."""
    baseline, candidate = (each if isinstance(each, Run) else store.run(each) for each in (a, b))
    return compare_runs(store, baseline.id, candidate.id)
