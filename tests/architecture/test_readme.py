"""The README is true: its commands are the ones CI runs, its tables come from the registries."""

from __future__ import annotations

import re
from pathlib import Path

import click

from core import __version__
from core.cli import COMMANDS, LazyGroup, cli
from core.reference import components_markdown, metrics_markdown

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def command_after(marker: str) -> str:
    found = re.search(rf"<!-- {marker} -->\n```bash\n(.+?)\n```", README, re.S)
    assert found, f"README.md has no command after {marker}"
    return found[1]


def test_ci_runs_the_readme_command() -> None:
    assert command_after("test-command") in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_reference_tables_are_todays() -> None:
    block = README.split("<!-- reference:start -->")[1].split("<!-- reference:end -->")[0].strip()
    wanted = (
        f"### Metrics\n\n{metrics_markdown().strip()}\n\n### Components\n\n{components_markdown().strip()}"
    )
    assert block == wanted, "run: python -m core describe --readme"


def test_no_section_is_left_empty() -> None:
    assert not re.findall(r"<!-- section:\w+ -->", README)


def test_help_lines_of_commands() -> None:
    """The one-line helps in the command table equal the commands' own; every command loads."""
    assert isinstance(cli, LazyGroup)
    for name, (_, _, line) in COMMANDS.items():
        command = cli.get_command(click.Context(cli), name)
        assert command is not None, name
        own = (command.help or "").strip().split("\n\n")[0].replace("\n", " ")
        assert " ".join(own.split()) == line, name


def test_changelog_names_this_version() -> None:
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
