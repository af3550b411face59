"""An audit from its configuration to a sealed run with its reports: what the library and the dashboard's jobs call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core import pipeline
from core.audit.report import write_reports
from core.contracts import System
from core.errors import ConfigError
from core.pipeline import Options, Progress
from core.records import Run
from core.store.runs import Store
from core.tasks.audit import AuditPlan, audit_again, plan_audit

_PLANNING = (
    "no_judge", "require_judge", "judge_cache", "only", "max_cost", "cache_dir", "timeout_s", "concurrency", "repeats",
)  # fmt: skip
_RUNNING = ("name", "output_dir", "resume", "retry_errors", "job_id", "sweep_id")


def run_audit(
    source: str | Path | Mapping[str, Any],
    *,
    store: Store | None = None,
    on_event: Callable[[Progress], None] | None = None,
    out_dir: str | Path | None = None,
    **options: Any,
) -> Run:
    """Run an audit and return its run; `summary["tests"]` holds the verdicts of the tests.

    `options` are those of the command (no_judge, require_judge, judge_cache, only, max_cost, timeout_s, concurrency,
    repeats, name, output_dir, resume, retry_errors). The reports go to `out_dir`, by default the run's own folder.
    ConfigError before anything is asked.
    """
    unknown = sorted(set(options) - {*_PLANNING, *_RUNNING})
    if unknown:
        raise ConfigError(f"unknown options of an audit: {', '.join(unknown)}")
    plan = plan_audit(source, **{name: value for name, value in options.items() if name in _PLANNING})
    chosen = Options(
        seed=plan.config.run.seed,
        repeats=plan.config.run.repeats,
        settings=plan.settings,
        on_event=on_event,
        **{name: value for name, value in options.items() if name in _RUNNING and value is not None},
    )
    return _executed(plan, store or Store(Path(chosen.output_dir) / "plumbline.db"), chosen, out_dir)


def score_audit(earlier: Run, store: Store, ready: System, options: Options, **planning: Any) -> Run:
    """Judge the stored answers of an audit again: a new run with a parent; the agent is not asked."""
    return _executed(audit_again(earlier, store, ready, **planning), store, options, None)


def _executed(plan: AuditPlan, store: Store, options: Options, out_dir: str | Path | None) -> Run:
    run = pipeline.execute(plan.task, store, options)
    folder = out_dir or run.folder
    if run.status == "sealed" and folder:
        write_reports(run, run.summary["tests"], Path(folder))
    return run
