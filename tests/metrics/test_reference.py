"""The reference tables are made from the registries, completely and readably."""

from __future__ import annotations

from core.contracts import METRICS
from core.reference import (
    COMPONENT_COLUMNS,
    METRIC_COLUMNS,
    component_rows,
    components_markdown,
    markdown_table,
    metric_rows,
    metrics_markdown,
    parameter_row,
)


def test_every_metric_has_a_row_with_formula_inputs_empty_rule_source_and_version() -> None:
    rows = metric_rows()
    assert {row["name"] for row in rows} == set(METRICS)
    for row in rows:
        assert all(row[column] for column in METRIC_COLUMNS), row
    assert next(row for row in rows if row["name"] == "ndcg_at_k")["example"].startswith(
        ">>> round(ndcg_at_k("
    )
    assert next(row for row in rows if row["name"] == "first_relevant_rank")["range"] == "1 to ∞"


def test_every_component_parameter_has_a_row() -> None:
    rows = component_rows()
    bm25 = {row["parameter"]: row for row in rows if (row["kind"], row["name"]) == ("retriever", "bm25")}
    assert bm25["k1"]["default"] == "1.5"
    assert all(set(COMPONENT_COLUMNS) == set(row) for row in rows)
    assert all(row["summary"] for row in rows)


def test_tables_stay_tables_whatever_the_text_holds() -> None:
    table = markdown_table([{"a": "x|y\nz", "b": 1}], ("a", "b", "c"))
    assert table.splitlines()[2] == "| x\\|y z | 1 |  |"
    for text in (metrics_markdown(), components_markdown()):
        for block in text.split("\n\n"):
            if block.startswith("|"):
                assert (
                    len({line.replace("\\|", "").count("|") for line in block.strip().splitlines()}) == 1
                ), block


def test_bounds_of_a_parameter_read_as_text() -> None:
    row = parameter_row({"name": "b", "type": "number", "minimum": 0, "exclusiveMaximum": 1, "default": 0.75})
    assert (row["bounds"], row["default"], row["type"]) == ("≥ 0, < 1", "0.75", "number")
    either = parameter_row(
        {"name": "n", "anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": None}
    )
    assert (either["type"], either["bounds"], either["default"]) == ("integer or null", "≥ 1", "")
