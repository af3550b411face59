"""The JSON Schemas editors and readers of reports need: of the audit's YAML and of `report.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from core.audit.config import Adapter, AuditConfig
from core.evaluation.shapes import SPECS, CustomSpec

REPORT_SCHEMA = Path(__file__).with_name("report.schema.json")


def config_schema() -> dict[str, Any]:
    """JSON Schema of an audit's configuration: every evaluator's own shape behind its name."""
    schema = AuditConfig.model_json_schema(by_alias=True)
    definitions: dict[str, Any] = schema.setdefault("$defs", {})
    branches = []
    for name, model in SPECS.items():
        shape = model.model_json_schema(by_alias=True)
        definitions.update(shape.pop("$defs", {}))
        shape["properties"]["evaluator"] = {"const": name}
        definitions[model.__name__] = shape
        branches.append({"$ref": f"#/$defs/{model.__name__}"})
    custom = CustomSpec.model_json_schema()
    custom["properties"]["evaluator"] = {"type": "string", "not": {"enum": sorted(SPECS)}}
    definitions["CustomSpec"] = custom
    branches.append({"$ref": "#/$defs/CustomSpec"})
    schema["properties"]["tests"] = {"type": "array", "minItems": 1, "items": {"oneOf": branches}}
    adapter = TypeAdapter(Adapter).json_schema(by_alias=True)
    definitions.update(adapter.pop("$defs", {}))
    schema["properties"]["adapter"] = {**adapter, "description": "what is audited (`system:` is the same)"}
    schema["properties"]["system"] = schema["properties"]["adapter"]
    schema["required"] = ["tests"]
    schema["anyOf"] = [{"required": ["adapter"]}, {"required": ["system"]}]
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Plumbline audit"
    return schema


def report_schema() -> dict[str, Any]:
    """JSON Schema of `report.json`, as published in this package."""
    loaded: dict[str, Any] = json.loads(REPORT_SCHEMA.read_text(encoding="utf-8"))
    return loaded
