"""`plumbline run`: one evaluation from a settings file, flags, or both. The flags are the settings."""

from __future__ import annotations

import json
from typing import Any

import click

from core import pipeline
from core.cli.display import LiveProgress, print_run
from core.cli.flags import settings_flags
from core.cli.mapping import roles_of
from core.deferred import Deferred
from core.records import Run, Verdict
from core.retrieval.stages import Stages
from core.settings import RunSettings, load_settings, parse_flag
from core.store.runs import Store
from core.tasks import TASKS, is_audit

_OTHERS: Deferred[Any] = Deferred(
    {
        "job": "core.jobs:work",
        "audit": "core.cli.audit_run:run_audit",
        "sweep": "core.cli.sweep:sweep",
    }
)


@click.command()
@click.argument("config", required=False, type=click.Path(dir_okay=False))
@settings_flags
@click.option(
    "--map", "mapped", multiple=True, metavar="ROLE=COLUMN", help="Prepared results: which column is what."
)
@click.option(
    "--resume",
    metavar="RUN",
    help="Finish a run that was interrupted (latest: the newest one); nothing is asked twice.",
)
@click.option("--retry-errors", metavar="RUN", help="Ask again only what ended in an error.")
@click.option("--plan", is_flag=True, help="Show what would run, and run nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the run's summary as JSON.")
@click.option("--quiet", is_flag=True, help="Print only the last line.")
@click.option("--job", hidden=True, help="Work on a job the dashboard requested.")
@click.option("--no-judge", is_flag=True, help="Audit: judge nothing; what needs a judge is unchecked.")
@click.option("--require-judge", is_flag=True, help="Audit: refuse to start without a judge.")
@click.option("--out-dir", default=None, help="Audit: where the three reports go (default: report).")
@click.option("--strict", is_flag=True, help="Audit: WEAK exits 1.")
@click.option("--only", multiple=True, metavar="NAME", help="Audit: only these tests (may be repeated).")
@click.option(
    "--failed", is_flag=True, help="Audit: only the cases that failed in the newest run of this suite."
)
@click.option("--junit", default=None, metavar="FILE", help="Audit: write JUnit XML here as well.")
@click.option("--github", is_flag=True, help="Audit: print GitHub annotations.")
@click.option(
    "--judge-cache",
    type=click.Choice(["use", "refresh", "only", "off"]),
    help="Audit: how judge replies are cached.",
)
@click.option("--timeout-s", type=float, default=None, help="Audit: seconds one answer may take.")
@click.pass_context
def run(ctx: click.Context, config: str | None, **flags: Any) -> None:
    """Run one evaluation from a settings file, flags, or both.

    A file with `tests:` is an audit: exit 0 when all tests PASS or are WEAK, 1 for any FAIL or ERROR, 2 for a
    wrong configuration, 3 when every test is ERROR. Every other run exits 0 when it completed, 2 for wrong
    settings or inputs, 3 when every case is ERROR.
    """
    if flags["job"]:
        ctx.exit(_OTHERS["job"](flags["job"], Store(flags["store_path"] or "outputs/plumbline.db")))
    if config and is_audit(config):
        ctx.exit(_OTHERS["audit"](config, _audit_flags(flags)))
    if flags["mode"] == "sweep":
        chosen = {name: flags[name] for name in RunSettings.model_fields if name != "mode" and flags[name]}
        ctx.exit(ctx.invoke(_OTHERS["sweep"], config=config, **chosen) or 0)
    given = {name: parse_flag(name, flags[name]) for name in RunSettings.model_fields}
    if flags["mapped"]:
        given["column_map"] = {**(given["column_map"] or {}), **roles_of(flags["mapped"])}
    settings = load_settings(config, **given)
    if flags["plan"]:
        click.echo(_plan(settings))
        return
    with LiveProgress(quiet=flags["quiet"] or flags["as_json"]) as live:
        finished = pipeline.run_each(
            settings, resume=flags["resume"], retry_errors=flags["retry_errors"], on_event=live.show
        )
    if flags["as_json"]:
        made = [run.model_dump(mode="json") for run in finished]
        click.echo(json.dumps(made[0] if len(made) == 1 else made, ensure_ascii=False, indent=2))
    for each in [] if flags["as_json"] else finished:
        if len(finished) > 1:
            click.echo(f"{each.name}:")
        print_run(each, quiet=flags["quiet"])
    ctx.exit(min(exit_code(run) for run in finished))


def exit_code(finished: Run) -> int:
    """0 completed, 3 when every case is ERROR."""
    total = sum(finished.verdicts.values())
    return 3 if total and finished.verdicts.get(Verdict.ERROR, 0) == total else 0


def _audit_flags(flags: dict[str, Any]) -> dict[str, Any]:
    names = (
        "no_judge require_judge out_dir strict only failed junit github judge_cache timeout_s resume "
        "retry_errors concurrency repeats max_cost output_dir run_name store_path plan quiet as_json"
    )
    return {name: flags[name] for name in names.split()}


def _plan(settings: RunSettings) -> str:
    task = TASKS[settings.classifier_type](settings, Stages(None))
    design = settings.design()
    lines = [f"{task.kind}: {len(task.cases)} cases × {settings.repeats} of suite '{task.suite}'"]
    lines += [f"  {key}: {value}" for key, value in task.extra_summary.items() if key.startswith("n_")]
    lines += ["design:"] + [f"  {key}: {value}" for key, value in design.items()]
    lines += [f"notice: {notice}" for notice in task.notices]
    return "\n".join(lines)
