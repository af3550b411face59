"""`plumbline describe`: what can be chosen and what numbers mean, for people and for the New-run form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from core import __version__
from core.cli.mapping import roles_of
from core.components import REGISTRIES
from core.inputs.column_report import column_report, report_lines
from core.reference import all_metrics, components_markdown, metric_rows, metrics_markdown
from core.settings import RunSettings


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.option("--readme", type=click.Path(exists=True, dir_okay=False), help="Renew the tables of a README.")
@click.option(
    "--columns",
    "results",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Show how the columns of prepared results would be read.",
)
@click.option("--map", "mapped", multiple=True, metavar="ROLE=COLUMN", help="With --columns: as in a run.")
@click.option("--wanted", hidden=True, help="With --columns: column → role, as JSON.")
def describe(
    as_json: bool, readme: str | None, results: str | None, mapped: tuple[str, ...], wanted: str | None
) -> None:
    """List components, settings and metrics, as text or JSON."""
    if readme:
        _renew(Path(readme))
        return
    if results:
        report = column_report(results, roles_of(mapped), json.loads(wanted) if wanted else None)
        click.echo(json.dumps(report, ensure_ascii=False) if as_json else "\n".join(report_lines(report)))
        return
    found = description()
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
        return
    for kind, components in found["components"].items():
        click.echo(f"{kind}:")
        for component in components:
            click.echo(f"  {component['name']}: {component['summary']}")
    click.echo("settings:")
    for each in found["settings"]:
        click.echo(f"  {each['name']} = {each['default']!r}: {each['description']}")
    click.echo(f"metrics: {len(found['metrics'])} (see the reference page, or --json)")


START, END = "<!-- reference:start -->", "<!-- reference:end -->"


def _renew(path: Path) -> None:
    """Replace what stands between the reference marks by today's tables."""
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    tables = (
        f"### Metrics\n\n{metrics_markdown().strip()}\n\n### Components\n\n{components_markdown().strip()}"
    )
    path.write_text(f"{before}{START}\n{tables}\n{END}{after}", encoding="utf-8")


def description() -> dict[str, Any]:
    """Settings, components and metrics as plain values."""
    schema = RunSettings.model_json_schema()["properties"]
    choices = {"chunking": "chunking", "retriever": "retriever", "answer_mode": "answer mode"}
    components = {registry.kind: registry.describe() for registry in REGISTRIES}
    settings = []
    for name, field in RunSettings.model_fields.items():
        declared = dict(schema[name])
        row: dict[str, Any] = {"name": name, **declared}
        if name in choices:
            row["choices"] = [component["name"] for component in components[choices[name]]]
        elif listed := _choices(declared):
            row["choices"] = listed
        row["default"] = field.get_default(call_default_factory=True)
        settings.append(row)
    known = all_metrics()
    metrics = [
        {**row, **{key: getattr(known[row["name"]], key) for key in ("direction", "low", "high")}}
        for row in metric_rows()
    ]
    return {"version": __version__, "settings": settings, "components": components, "metrics": metrics}


def _choices(declared: dict[str, Any]) -> list[Any]:
    if "enum" in declared:
        return list(declared["enum"])
    return [value for part in declared.get("anyOf", []) for value in part.get("enum", [])]
