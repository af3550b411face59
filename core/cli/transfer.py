"""`plumbline export`: a run as a file for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from core import components
from core.cli.store import store_option
from core.store import export as exports
from core.store.runs import Store

SHIPPED = components.SHIPPED  # loaded so that every metric has its name, kind and direction


@click.command()
@click.argument("run")
@click.option(
    "--format", "form", type=click.Choice(sorted(exports.FORMATS)), default="csv", show_default=True
)
@click.option("--canonical", is_flag=True, help="Leave ids and times out: equal runs give equal bytes.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="File or folder; the working directory by default."
)
@store_option
def export(run: str, form: str, canonical: bool, out: Path | None, store_path: Path) -> None:
    """Write a run as CSV, JSONL, parquet, Excel, JUnit, HTML or a suite.

    `suite` writes the cases that did not pass as a configuration that `plumbline run` takes, with its questions in
    a file beside it; with --out NAME.json, the questions alone.
    """
    with Store(store_path, readonly=True) as store:
        click.echo(f"written: {exports.export(store, run, form, out, canonical=canonical)}")
