"""`plumbline gate`: decide in CI whether a run is worse than its baseline."""

from __future__ import annotations

import json
from pathlib import Path

import click

from core.cli.store import open_store, store_option
from core.store.gate import decide, github_annotations, headline, junit, load_policy, markdown, sentences
from core.store.gate.policy import Mode

_File = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("run", default="latest")
@click.option(
    "--baseline",
    default="latest",
    show_default=True,
    help="Baseline name, run, or the newest comparable run.",
)
@click.option(
    "--policy",
    "policy_path",
    type=_File,
    help="gate.yaml; without it the pass rate with a margin of 5 points.",
)
@click.option("--mode", type=click.Choice(["detect", "prove"]), help="Overrides the policy's mode.")
@click.option("--strict", is_flag=True, help="WEAK exits 1.")
@click.option("--markdown", "markdown_path", type=_File, help="Write a comment for a pull request.")
@click.option("--junit", "junit_path", type=_File, help="Write JUnit XML.")
@click.option("--github", is_flag=True, help="Print GitHub annotations.")
@click.option("--json", "as_json", is_flag=True, help="Print the decision as JSON.")
@store_option
@click.pass_context
def gate(
    ctx: click.Context,
    run: str,
    baseline: str,
    policy_path: Path | None,
    mode: Mode | None,
    strict: bool,
    markdown_path: Path | None,
    junit_path: Path | None,
    github: bool,
    as_json: bool,
    store_path: Path,
) -> None:
    """Decide in CI whether a run is worse than its baseline.

    Exit 0 PASS or WEAK (inconclusive; with --strict 1), 1 FAIL, 2 wrong configuration, 3 not comparable or too
    many errors.
    """
    policy = load_policy(policy_path, mode=mode)
    with open_store(store_path) as store:
        decision = decide(store, run, baseline, policy)
        store.add_gate(decision.candidate.id, decision.baseline.id, decision.verdict, decision.to_dict())
    if markdown_path is not None:
        markdown_path.write_text(markdown(decision), encoding="utf-8")
    if junit_path is not None:
        junit_path.write_text(junit(decision), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(decision.to_dict(), indent=2, default=str))
    else:
        click.echo(headline(decision))
        for line in sentences(decision):
            click.echo(f"  {line}")
    if github:
        click.echo("\n".join(github_annotations(decision)))
    ctx.exit(decision.exit_code(strict=strict))
