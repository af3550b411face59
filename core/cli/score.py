"""`plumbline score`: score a stored run again with today's metrics, as a new run that names its parent."""

from __future__ import annotations

import json
from pathlib import Path

import click

from core import api
from core.cli.display import print_run
from core.cli.store import open_store, store_option


@click.command()
@click.argument("run")
@click.option("--name", default="", help="Name of the new run.")
@click.option("--output-dir", help="Where its folder goes; by default where the first one's went.")
@click.option("--json", "as_json", is_flag=True, help="Print the new run as JSON.")
@store_option
def score(run: str, name: str, output_dir: str | None, as_json: bool, store_path: Path) -> None:
    """Score a stored run again with today's metrics, as a new run.

    Nothing is asked: the stored outputs are scored. The new run names its parent.
    """
    with open_store(store_path) as store:
        made = api.score(run, store=store, name=name, output_dir=output_dir)
    if as_json:
        click.echo(json.dumps(made.model_dump(mode="json"), ensure_ascii=False, indent=2))
    else:
        print_run(made)
