"""`plumbline describe`: what can be chosen and what numbers mean, for people and for the New-run form."""

from __future__ import annotations

import json
from typing import Any

import click

from core import __version__
from core.components import REGISTRIES
from core.contracts import METRICS
from core.settings import RunSettings


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def describe(as_json: bool) -> None:
    """List components, settings and metrics, as text or JSON."""
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
    metrics = [
        {
            key: getattr(info, key)
            for key in (
                "name",
                "title",
                "family",
                "kind",
                "direction",
                "low",
                "high",
                "unit",
                "formula",
                "inputs",
                "empty",
                "source",
                "version",
                "headline",
            )
        }
        for info in METRICS.values()
    ]
    return {"version": __version__, "settings": settings, "components": components, "metrics": metrics}


def _choices(declared: dict[str, Any]) -> list[Any]:
    if "enum" in declared:
        return list(declared["enum"])
    return [value for part in declared.get("anyOf", []) for value in part.get("enum", [])]
