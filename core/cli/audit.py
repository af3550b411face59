"""`plumbline init`, `doctor` and `schema`: what the author of an audit needs besides `run`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from core.audit.doctor import examine
from core.audit.schema import config_schema, report_schema
from core.errors import ConfigError

STARTER = Path(__file__).resolve().parents[1] / "audit" / "starter.yaml"
MARKS = {"ok": ("●", "green"), "note": ("▲", "yellow"), "wrong": ("✕", "red")}


@click.command()
@click.argument("path", default="plumbline.yaml", type=click.Path(dir_okay=False))
def init(path: str) -> None:
    """Write a commented starter configuration."""
    target = Path(path)
    if target.exists():
        raise ConfigError(f"{target} exists already: name another file, or remove it first")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(STARTER.read_text(encoding="utf-8"), encoding="utf-8")
    click.echo(f"wrote {target}; check it with: plumbline doctor {target}")


@click.command()
@click.argument("config", type=click.Path(dir_okay=False))
@click.option("--no-ask", is_flag=True, help="Do not send a question to the agent.")
@click.pass_context
def doctor(ctx: click.Context, config: str, no_ask: bool) -> None:
    """Check an adapter or endpoint and say what is missing."""
    wrong = 0
    for finding in examine(config, Path(".plumbline/cache"), ask=not no_ask):
        mark, colour = MARKS[finding.level]
        click.secho(f"{mark} {finding.what}", fg=colour)
        if finding.hint:
            click.echo(f"    {finding.hint}")
        wrong += finding.level == "wrong"
    ctx.exit(2 if wrong else 0)


@click.command()
@click.option("--report", is_flag=True, help="Print the schema of report.json instead.")
def schema(report: bool) -> None:
    """Print the JSON Schema of a configuration file."""
    click.echo(json.dumps(report_schema() if report else config_schema(), ensure_ascii=False, indent=2))
