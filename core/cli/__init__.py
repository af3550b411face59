"""The console script. Each command lives in a module of its own that is imported only when it is called, so
that `plumbline --help` answers at once."""

from __future__ import annotations

import gc
import importlib
import sys
from typing import Any

import click

from core import __version__
from core.errors import EvalError

# command → (module, attribute, one line of help; a test holds it equal to the command's own)
COMMANDS: dict[str, tuple[str, str, str]] = {
    "run": ("core.cli.run", "run", "Run one evaluation from a settings file, flags, or both."),
    "demo": ("core.cli.demo", "demo", "Compute the bundled demo run: offline, without any key."),
    "sweep": ("core.cli.sweep", "sweep", "Run many configurations that share stages, and rank them."),
    "estimate": ("core.cli.estimate", "estimate", "Say what a run would do and cost, without running it."),
    "score": ("core.cli.score", "score", "Score a stored run again with today's metrics, as a new run."),
    "rank": ("core.cli.rank", "rank", "Score a TREC run against qrels exactly as trec_eval does."),
    "compare": ("core.cli.compare", "compare", "Compare two runs (or up to ten) case by case."),
    "gate": ("core.cli.gate", "gate", "Decide in CI whether a run is worse than its baseline."),
    "judge": ("core.cli.judge", "judge", "Check a judge: malformed replies, agreement with people, probes."),
    "prepare-cpv": ("core.cli.classify", "prepare_cpv", "Make a code list and test queries from notices."),
    "ingest-notices": (
        "core.cli.classify",
        "ingest_notices",
        "Fetch tender notices into an export CSV, page by page.",
    ),
    "classifier-check": (
        "core.cli.classify",
        "classifier_check",
        "Tell the owner of a classifier API what is wrong with it.",
    ),
    "import": ("core.cli.bring_in", "import_", "Bring in another tool's results as runs."),
    "export": (
        "core.cli.transfer",
        "export",
        "Write a run as CSV, JSONL, parquet, Excel, JUnit, HTML or a suite.",
    ),
    "store": ("core.cli.store", "store", "Check, compact, move and tidy the run store."),
    "init": ("core.cli.audit", "init", "Write a commented starter configuration."),
    "doctor": ("core.cli.audit", "doctor", "Check an adapter or endpoint and say what is missing."),
    "schema": ("core.cli.audit", "schema", "Print the JSON Schema of a configuration file."),
    "describe": ("core.cli.describe", "describe", "List components, settings and metrics, as text or JSON."),
}


class LazyGroup(click.Group):
    """Knows every command by name and help line; imports a command's module when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command: Any = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry[2]) for name, entry in COMMANDS.items()])


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(
    __version__, "--version", package_name="plumbline-eval", message="plumbline %(version)s"
)
def cli() -> None:
    """Plumbline finds out whether a RAG system, RAG agent or classifier works, what is wrong with it, and which
    design choice made it so."""


def main() -> None:
    """Entry of the console script: errors raised on purpose are printed without a traceback, with exit code."""
    # a run makes many records that live to its end: looking through them again and again finds nothing
    gc.set_threshold(50_000, 20, 50)
    try:
        # outside of click's standalone mode an exit code comes back as a value
        code = cli(standalone_mode=False)
        if isinstance(code, int):
            sys.exit(code)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except click.Abort:
        click.echo("stopped", err=True)
        sys.exit(130)
    except EvalError as error:
        click.echo(f"plumbline: {error}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        if error.filename is None:
            raise
        click.echo(f"plumbline: {error.filename}: {error.strerror}", err=True)
        sys.exit(2)
