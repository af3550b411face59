"""`plumbline sweep`: many configurations that share stages, and what can be said about the best of them."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from core import pipeline
from core.cli.flags import settings_flags
from core.errors import ConfigError
from core.settings import RunSettings, parse_flag
from core.store.runs import Store
from core.sweep import SweepProgress, SweepResult, run_sweep
from core.sweep_files import records
from core.sweep_grid import SweepDesign, load_sweep, read_configs
from core.sweep_plan import plan_sweep


@click.command()
@click.argument("config", required=False, type=click.Path(dir_okay=False))
@settings_flags
@click.option(
    "--factor",
    "factors",
    multiple=True,
    metavar="NAME=A,B",
    help="A setting and the values to try (may be repeated).",
)
@click.option("--sweep-configs-json", metavar="JSON|FILE", help="A list of configurations instead of a grid.")
@click.option("--auto-chunk-sizes", metavar="256,450", help="Chunk sizes of --chunking auto.")
@click.option("--auto-overlaps", metavar="0,60", help="Overlaps of --chunking auto.")
@click.option("--auto-retrievers", metavar="tfidf,bm25,dense,hybrid", help="Retrievers of --retriever auto.")
@click.option(
    "--baseline",
    metavar="NAME",
    help="The configuration others are held against; the settings as given by default.",
)
@click.option("--jobs", type=click.IntRange(min=1), default=None, help="Processes; all cores by default.")
@click.option(
    "--resume", metavar="SWEEP", help="Go on with a sweep that was stopped: its id, its name or 'latest'."
)
@click.option("--race", is_flag=True, help="Stop configurations early that are shown to be worse.")
@click.option(
    "--no-ladder", is_flag=True, help="Do not run the oracle ladder on the failures of the best one."
)
@click.option(
    "--plan", is_flag=True, help="Show how many of each stage would run, time and money, and run nothing."
)
@click.option("--json", "as_json", is_flag=True, help="Print the ranking (or the plan) as JSON.")
@click.option("--quiet", is_flag=True, help="Print only what is concluded.")
def sweep(config: str | None, **flags: Any) -> None:
    """Run many configurations that share stages, and rank them.

    A settings file may hold `factors:` (a setting and its values) or `configs:` (a list); `--chunking auto` and
    `--retriever auto` stand for the usual grid. Exit 0 when the sweep completed, also when single configurations
    failed (they are listed); 2 for wrong settings or inputs; 3 when every configuration failed.
    """
    design = design_of(config, flags)
    jobs = flags["jobs"] or os.cpu_count() or 1
    if flags["plan"]:
        path = pipeline.store_path(design.base)
        store = Store(path, readonly=True) if path.exists() else None
        planned = plan_sweep(design, jobs=jobs, store=store)
        click.echo(json.dumps(asdict(planned)) if flags["as_json"] else "\n".join(planned.lines()))
        return
    console = Console(stderr=True)
    quiet = flags["quiet"] or flags["as_json"]
    if not quiet:
        for notice in design.notices:
            console.print(f"note: {escape(notice)}", style="dim")
    result = run_sweep(
        design,
        jobs=jobs,
        resume=flags["resume"],
        racing=flags["race"],
        ladder=not flags["no_ladder"],
        on_event=None if quiet else lambda event: _tell(console, event),
    )
    if flags["as_json"]:
        click.echo(json.dumps(records(result.ranking), ensure_ascii=False, indent=2))
    else:
        _print(result, quiet=quiet)


def design_of(config: str | None, flags: dict[str, Any]) -> SweepDesign:
    """The sweep that a file and flags describe."""
    given = {name: parse_flag(name, flags.get(name)) for name in RunSettings.model_fields}
    options: dict[str, Any] = {
        name: _comma(flags[name])
        for name in ("auto_chunk_sizes", "auto_overlaps", "auto_retrievers")
        if flags.get(name)
    }
    listed = read_configs(flags["sweep_configs_json"]) if flags.get("sweep_configs_json") else None
    factors = dict(_factor(text) for text in flags.get("factors") or ())
    return load_sweep(
        config, factors=factors, configs=listed, baseline=flags.get("baseline"), **options, **given
    )


def _factor(text: str) -> tuple[str, list[Any]]:
    name, found, values = text.partition("=")
    if not found or not name.strip() or not values.strip():
        raise ConfigError(f"--factor: expected NAME=VALUE,VALUE and not {text!r}")
    return name.strip().lstrip("-").replace("-", "_"), _comma(values)


def _comma(text: str) -> list[Any]:
    if text.lstrip().startswith("["):
        try:
            return list(json.loads(text))
        except json.JSONDecodeError as error:
            raise ConfigError(f"{text!r} is no JSON list ({error})") from error
    return [_value(part.strip()) for part in text.split(",") if part.strip()]


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _tell(console: Console, event: SweepProgress) -> None:
    if not event.message:
        return  # it has only begun
    failed = f", {event.failed} failed" if event.failed else ""
    console.print(
        f"{event.done} of {event.total}{failed}  {escape(event.message)}", style="dim", highlight=False
    )


def _print(result: SweepResult, *, quiet: bool) -> None:
    rows = records(result.ranking)
    if not quiet:
        click.echo("rank  band  quality  95 % interval     pass  score_total  median ms  configuration")
        for row in rows[:20]:
            click.echo(_line(row))
        if len(rows) > 20:
            click.echo(f"… and {len(rows) - 20} more in experiment_ranking.csv")
    for failed in result.failed:
        click.echo(f"failed: {failed.name}: {failed.message}")
    winner, choice = result.attribution.summary["winner"], result.best["recommendation"]
    click.echo(str(winner.get("statement", "")))
    if choice["experiment"]:
        click.echo(f"take {choice['experiment']}: {choice['reason']}")
    click.echo(f"sweep {result.sweep_id} · {result.folder}")


def _line(row: dict[str, Any]) -> str:
    def number(name: str, style: str, width: int) -> str:
        return ("–" if row[name] is None else format(row[name], style)).rjust(width)

    interval = "–" if row["quality_low"] is None else f"{row['quality_low']:.3f} to {row['quality_high']:.3f}"
    parts = [
        number("quality_rank", ".0f", 4),
        number("band", ".0f", 4),
        number("mean_design_quality_score", ".3f", 7),
        interval.ljust(16),
    ]
    parts += [
        number("mean_auto_correct", ".0%", 4),
        number("score_total", ".3f", 11),
        number("latency_p50_ms", ".0f", 9),
    ]
    return "  ".join([*parts, str(row["experiment"])])
