"""Arguments of tool calls against JSON Schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEYWORDS = frozenset({"type", "properties", "required", "allOf", "anyOf", "oneOf", "$ref", "$schema"})


def full_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON Schema. A mapping of argument names to type names or schemas is short for required arguments:
    `{title: string, copies: {type: integer, minimum: 1}}`."""
    if _KEYWORDS & set(schema) and not _is_short(schema):
        return dict(schema)
    named = {name: kind if isinstance(kind, Mapping) else {"type": kind} for name, kind in schema.items()}
    return {"type": "object", "properties": named, "required": list(named)}


def _is_short(schema: Mapping[str, Any]) -> bool:
    """`{type: string}` is a tool with an argument called "type": a schema of arguments is an object."""
    kind = schema.get("type")
    return isinstance(kind, str) and kind != "object" and "properties" not in schema


def check_schema(schema: Mapping[str, Any]) -> None:
    """ValueError where a schema is none."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ValueError(error.message) from error


def argument_problems(schema: Mapping[str, Any], given: Any) -> list[str]:
    """What is wrong with arguments by a schema (draft 2020-12), in a stable order; empty when nothing is.

    >>> argument_problems({"day": "string"}, {"day": 7})
    ["day: 7 is not of type 'string'"]
    """
    from jsonschema import Draft202012Validator

    full = full_schema(schema)
    try:
        check_schema(full)
    except ValueError as error:
        return [f"the tool's own schema is not valid: {error}"]
    errors = sorted(Draft202012Validator(full).iter_errors(given), key=lambda e: (e.json_path, e.message))
    return [
        f"{'.'.join(map(str, error.absolute_path))}: {error.message}"
        if error.absolute_path
        else error.message
        for error in errors
    ]
