"""`plumbline demo`: the bundled demo run in the terminal."""

from __future__ import annotations

from pathlib import Path

import click

from core import pipeline
from core.cli.display import LiveProgress, print_run
from core.demo import demo_settings


@click.command()
@click.option("--output-dir", default="outputs", show_default=True, help="Where the run and the store go.")
def demo(output_dir: str) -> None:
    """Compute the bundled demo run: offline, without any key."""
    with LiveProgress() as live:
        finished = pipeline.run(demo_settings(output_dir), on_event=live.show)
    print_run(finished)
    click.echo(f"look at it with: streamlit run {_dashboard()}")


def _dashboard() -> str:
    """The app's file as the user would write it: relative in a checkout, absolute where it is installed."""
    app = Path(__file__).resolve().parents[2] / "dashboard" / "app.py"
    return str(app.relative_to(Path.cwd())) if app.is_relative_to(Path.cwd()) else str(app)
