"""The reference tables of metrics and components, made from what the code declares about itself.

README, `plumbline describe` and the dashboard's reference page all read from here, so that what is documented is
what is computed.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.components import REGISTRIES
from core.contracts import METRICS, Metric

_METRIC_PACKAGES = ("core.metrics", "core.evaluation")
_COMPONENT_PACKAGES = ("core.retrieval", "core.systems", "core.judge", "core.evaluation", "core.audit")

METRIC_COLUMNS = (
    "name",
    "title",
    "family",
    "direction",
    "range",
    "formula",
    "inputs",
    "empty",
    "source",
    "version",
)
COMPONENT_COLUMNS = ("kind", "name", "summary", "parameter", "type", "default", "bounds", "description")


def load_declarations(packages: Iterable[str]) -> None:
    """Import every module of some packages, so that their decorators have run."""
    for package in packages:
        try:
            root = importlib.import_module(package)
        except ModuleNotFoundError as error:
            if error.name != package:
                raise
            continue  # a package that this installation does not have
        for module in pkgutil.walk_packages(root.__path__, f"{package}."):
            if not module.name.rsplit(".", 1)[-1].startswith("__"):
                importlib.import_module(module.name)


def all_metrics() -> dict[str, Metric]:
    """Every declared metric by name, sorted by family and name."""
    load_declarations(_METRIC_PACKAGES)
    return dict(sorted(METRICS.items(), key=lambda item: (item[1].family, item[0])))


def metric_rows() -> list[dict[str, Any]]:
    """One row a metric: name, title, family, kind, direction (`higher`, `lower`, `neither`), range, unit, formula,
    inputs, empty (the rule for empty input), source, version, headline, and `example` (the doctest of its function, ""
    without one)."""
    return [metric_row(metric) for metric in all_metrics().values()]


def metric_row(metric: Metric) -> dict[str, Any]:
    """The row of one metric."""
    return {
        "name": metric.name,
        "title": metric.title,
        "family": metric.family,
        "kind": metric.kind,
        "direction": {1: "higher", -1: "lower", 0: "neither"}[metric.direction],
        "range": f"{_bound(metric.low, '−∞')} to {_bound(metric.high, '∞')}",
        "unit": metric.unit,
        "formula": metric.formula,
        "inputs": metric.inputs,
        "empty": metric.empty,
        "source": metric.source,
        "version": metric.version,
        "headline": metric.headline,
        "example": example(metric),
    }


def _bound(value: float | None, infinite: str) -> str:
    return infinite if value is None else f"{value:g}"


def example(metric: Metric) -> str:
    """The worked example in the docstring of a metric's function; "" without one."""
    lines = (inspect.getdoc(metric.function) or "").splitlines() if metric.function is not None else []
    start = next((i for i, line in enumerate(lines) if line.startswith(">>>")), None)
    return "" if start is None else "\n".join(line for line in lines[start:] if line.strip())


def component_rows() -> list[dict[str, Any]]:
    """One row a parameter of every registered component (one with parameter "" where it has none): kind, name,
    summary, parameter, type, default, bounds, description."""
    load_declarations(_COMPONENT_PACKAGES)
    rows: list[dict[str, Any]] = []
    for registry in REGISTRIES:
        for component in registry.describe():
            head = {"kind": component["kind"], "name": component["name"], "summary": component["summary"]}
            parameters: Sequence[Mapping[str, Any]] = component["parameters"] or [{}]
            rows += [head | parameter_row(parameter) for parameter in parameters]
    return rows


def parameter_row(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """A parameter's JSON Schema as plain text."""
    options = parameter.get("anyOf") or [parameter]
    kinds = [str(option.get("type", "any" if "$ref" not in option else "object")) for option in options]
    bounds = [f"≥ {o['minimum']:g}" for o in options if "minimum" in o]
    bounds += [f"> {o['exclusiveMinimum']:g}" for o in options if "exclusiveMinimum" in o]
    bounds += [f"≤ {o['maximum']:g}" for o in options if "maximum" in o]
    bounds += [f"< {o['exclusiveMaximum']:g}" for o in options if "exclusiveMaximum" in o]
    bounds += ["one of " + ", ".join(map(str, o["enum"])) for o in options if "enum" in o]
    default = parameter.get("default")
    return {
        "parameter": parameter.get("name", ""),
        "type": " or ".join(kinds) if parameter else "",
        "default": "" if default is None else str(default),
        "bounds": ", ".join(bounds),
        "description": str(parameter.get("description", "")),
    }


def metrics_markdown(rows: Sequence[Mapping[str, Any]] | None = None) -> str:
    """The metric reference: one table a family."""
    listed = metric_rows() if rows is None else list(rows)
    parts: list[str] = []
    for family in sorted({row["family"] for row in listed}):
        members = [row for row in listed if row["family"] == family]
        columns = ("name", "formula", "empty", "direction", "range", "source", "version")
        parts.append(f"### {family[:1].upper()}{family[1:]}\n\n{markdown_table(members, columns)}")
    return "\n\n".join(parts) + "\n"


def components_markdown(rows: Sequence[Mapping[str, Any]] | None = None) -> str:
    """The component reference: one table a kind."""
    listed = component_rows() if rows is None else list(rows)
    parts: list[str] = []
    for kind in dict.fromkeys(row["kind"] for row in listed):
        members = [row for row in listed if row["kind"] == kind]
        columns = ("name", "summary", "parameter", "default", "bounds", "description")
        parts.append(f"### {kind[:1].upper()}{kind[1:]}\n\n{markdown_table(members, columns)}")
    return "\n\n".join(parts) + "\n"


def markdown_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """A Markdown table; `|` and line breaks in cells are escaped."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(_cell(row.get(column, "")) for column in columns) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ").strip()
