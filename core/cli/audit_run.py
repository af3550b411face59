"""`plumbline run` on a file with `tests:`: live table, three reports, exit code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from core import pipeline
from core.audit.report import exit_code, github_annotations, print_tests, printable, write_reports
from core.cli.audit_table import LiveTests
from core.errors import ConfigError
from core.pipeline import Options
from core.records import Run, Verdict
from core.store.runs import Store
from core.tasks.audit import AuditPlan, plan_audit


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
        concurrency=flags["concurrency"],
        repeats=flags["repeats"],
    )
    output_dir = flags["output_dir"] or "outputs"
    store = Store(Path(flags["store_path"] or Path(output_dir) / "plumbline.db"))
    if flags["failed"]:
        plan = plan.restricted(_failed(plan, store))
    for notice in plan.notices:
        loud = notice.startswith("NO JUDGE")
        click.secho(f"{'WARNING' if loud else 'note'}: {printable(notice)}", fg="yellow", bold=loud, err=True)
    if flags["plan"]:
        _print_plan(plan)
        plan.task.system.close()
        return 0
    run = _executed(plan, store, _options(plan, flags, output_dir), flags, path)
    tests, folder = run.summary["tests"], Path(flags["out_dir"] or "report")
    write_reports(run, tests, folder, junit=flags["junit"])
    if flags["github"]:
        click.echo(github_annotations(tests, path))
    if flags["as_json"]:
        click.echo((folder / "report.json").read_text(encoding="utf-8"), nl=False)
    else:
        print_tests(run, tests, folder, quiet=flags["quiet"])
    return exit_code(tests, strict=flags["strict"])


def _executed(plan: AuditPlan, store: Store, options: Options, flags: Mapping[str, Any], path: str) -> Run:
    """The sealed run; an interrupted one says how it is finished."""
    with LiveTests(plan, options.repeats, quiet=flags["quiet"] or flags["as_json"]) as live:
        options.on_event = live.show
        task = replace(plan.task, evaluate=live.watching(plan.task.evaluate))
        try:
            return pipeline.execute(task, store, options)
        except KeyboardInterrupt:
            if live.run_id:
                click.echo(
                    f"interrupted; finish it with: plumbline run {path} --resume {live.run_id}", err=True
                )
            raise


def _print_plan(plan: AuditPlan) -> None:
    """What would be asked, one line a case."""
    run = plan.config.run
    judge = f"{plan.judge.provider} {plan.judge.model}".strip() if plan.judge else "none"
    click.echo(f"{len(plan.tests)} tests, {len(plan.task.cases)} cases × {run.repeats}; judge: {judge}")
    for case in plan.task.cases:
        shown = case.query if len(case.query) <= 100 else f"{case.query[:60]}… ({len(case.query)} characters)"
        click.echo(f"{printable(case.id)}  {case.evaluator}  {shown!r}")


def _options(plan: AuditPlan, flags: Mapping[str, Any], output_dir: str) -> Options:
    return Options(
        name=flags["run_name"] or "",
        output_dir=output_dir,
        seed=plan.config.run.seed,
        repeats=plan.config.run.repeats,
        resume=flags["resume"],
        retry_errors=flags["retry_errors"],
        settings=plan.settings,
    )


def _failed(plan: AuditPlan, store: Store) -> frozenset[str]:
    """Case ids that were FAIL or ERROR when they were last asked. A run may have asked some of the cases only, so
    earlier sealed runs of the suite are looked at until each case was met."""
    earlier = store.runs(kind="audit", suite=plan.task.suite, status="sealed", light=True)
    if not earlier:
        raise ConfigError(f"--failed: there is no earlier run of suite '{plan.task.suite}'")
    open_cases, bad = {case.id for case in plan.task.cases}, set()
    for run in earlier:
        if not open_cases:
            break
        results = [result for result in store.results(run.id) if result.case_id in open_cases]
        bad |= {r.case_id for r in results if r.verdict in (Verdict.FAIL, Verdict.ERROR)}
        open_cases -= {result.case_id for result in results}
    if not bad:
        raise ConfigError(f"--failed: nothing failed when it was last asked (newest run: {earlier[0].id})")
    return frozenset(bad)


def _number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except ValueError as error:
        raise ConfigError(f"--max-cost: '{value}' is not a number") from error
