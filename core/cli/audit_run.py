"""`plumbline run` on a file with `tests:`: live table, three reports, exit code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from core import pipeline
from core.audit.report import exit_code, github_annotations, print_tests, write_reports
from core.cli.display import LiveProgress
from core.errors import ConfigError
from core.pipeline import Options
from core.records import Verdict
from core.store.runs import Store
from core.tasks.audit import AuditPlan, plan_audit, stored_settings


def run_audit(path: str, flags: Mapping[str, Any]) -> int:
    """Check everything, run, write the reports; the exit code of the process."""
    plan = plan_audit(
        path,
        no_judge=flags["no_judge"],
        require_judge=flags["require_judge"],
        judge_cache=flags["judge_cache"],
        only=flags["only"],
        max_cost=_number(flags["max_cost"]),
        timeout_s=flags["timeout_s"],
    )
    for notice in plan.notices:
        click.secho(f"note: {notice}", fg="yellow", err=True)
    if flags["plan"]:
        for case in plan.task.cases:
            click.echo(f"{case.test}  {case.evaluator}  {case.query[:100]!r}")
        plan.task.system.close()
        return 0
    output_dir = flags["output_dir"] or "outputs"
    store = Store(Path(flags["store_path"] or Path(output_dir) / "plumbline.db"))
    options = _options(plan, flags, output_dir, store)
    with LiveProgress(quiet=flags["quiet"] or flags["as_json"]) as live:
        options.on_event = live.show
        run = pipeline.execute(plan.task, store, options)
    tests = run.summary["tests"]
    write_reports(run, tests, Path(flags["out_dir"] or "report"), junit=flags["junit"])
    if flags["github"]:
        click.echo(github_annotations(tests, path))
    if not flags["as_json"]:
        print_tests(run, tests, Path(flags["out_dir"] or "report"))
    return exit_code(tests, strict=flags["strict"])


def _options(plan: AuditPlan, flags: Mapping[str, Any], output_dir: str, store: Store) -> Options:
    options = Options(
        name=flags["run_name"] or "",
        output_dir=output_dir,
        seed=plan.config.run.seed,
        repeats=int(flags["repeats"] or plan.config.run.repeats),
        concurrency=int(flags["concurrency"]) if flags["concurrency"] else None,
        resume=flags["resume"],
        retry_errors=flags["retry_errors"],
        settings=stored_settings(plan.config),
    )
    if flags["failed"]:
        options.only_cases = _failed(plan, store)
    return options


def _failed(plan: AuditPlan, store: Store) -> frozenset[str]:
    """Case ids that were FAIL or ERROR in the newest sealed run of this suite."""
    earlier = store.runs(kind="audit", suite=plan.task.suite, status="sealed", limit=1)
    if not earlier:
        raise ConfigError(f"--failed: there is no earlier run of suite '{plan.task.suite}'")
    bad = {r.case_id for r in store.results(earlier[0].id) if r.verdict in (Verdict.FAIL, Verdict.ERROR)}
    known = {case.id for case in plan.task.cases}
    if not bad & known:
        raise ConfigError(f"--failed: nothing failed in run {earlier[0].id}")
    return frozenset(bad & known)


def _number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except ValueError as error:
        raise ConfigError(f"--max-cost: '{value}' is not a number") from error
