"""Mappings from YAML, JSON and TOML files with the line of every key, and validation that lists every problem."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from core.errors import ConfigError, Problem, nearest

Model = TypeVar("Model", bound=BaseModel)
Path_ = tuple[str | int, ...]
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Source:
    """A mapping, the name to call it by in messages, the 1-based line of each key path, and the keys given twice."""

    name: str
    data: dict[str, Any]
    lines: Mapping[Path_, int] = field(default_factory=dict)
    repeated: tuple[Problem, ...] = ()

    def line(self, path: Path_) -> int | None:
        """Line of the key, or of the nearest enclosing key that has one."""
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[:-1]
        return None


def read_mapping(path: str | Path, *, refuse_repeated: bool = True) -> Source:
    """Read one settings file by its ending (.yaml, .yml, .json, .toml). ConfigError says what is wrong where.
    Without `refuse_repeated`, keys given twice are left to the caller, who lists them with all else that is wrong.
    """
    file = Path(path)
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise ConfigError(f"no such file: {file}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read as UTF-8 text ({error})") from error
    if file.suffix.lower() == ".toml":
        return _read_toml(file, text)
    try:
        node = yaml.compose(text, Loader=_Loader)
        data = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise ConfigError(
            f"{file}: not valid {file.suffix.lstrip('.').upper()}", [Problem(str(error.problem), "", line)]
        ) from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{file}: not valid YAML ({error})") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{file}: must hold keys and values at the top, not {type(data).__name__}")
    lines: dict[Path_, int] = {}
    duplicates: list[Problem] = []
    _walk(node, (), lines, duplicates)
    if duplicates and refuse_repeated:
        raise ConfigError(f"{file}: keys are given twice", duplicates)
    return Source(str(file), data, lines, tuple(duplicates))


def validate(model: type[Model], data: Mapping[str, Any], source: Source) -> Model:
    """Build `model`; every validation error becomes a Problem with key, line and nearest known key."""
    try:
        return model.model_validate(dict(data))
    except ValidationError as error:
        details = error.errors()
        problems = [_problem(model, detail, source) for detail in details if not _follows(detail, details)]
        raise ConfigError(f"{source.name}: the settings cannot be used", problems) from error


def _follows(detail: Any, details: Sequence[Any]) -> bool:
    """Whether an error only says again what another one says: a list that is too short once its wrong items are
    taken out."""
    place = tuple(detail["loc"])
    return detail["type"] == "too_short" and any(
        len(other["loc"]) > len(place) and tuple(other["loc"][: len(place)]) == place for other in details
    )


def known_keys(model: type[BaseModel], path: Path_) -> list[str]:
    """Keys a model knows at a path, for 'did you mean'; empty where the path leads outside of models."""
    found: list[Any] = [model]
    for part in path:
        if isinstance(part, int):
            continue
        tagged = [each for each in found if part in _tags(each)]
        named = [each.model_fields[part] for each in found if part in each.model_fields]
        if tagged:
            found = tagged
        elif named:
            found = [inner for field in named for inner in _inner_models(field.annotation)]
        else:
            return []
    return [field.alias or name for each in found[:1] for name, field in each.model_fields.items()]


def _tags(model: type[BaseModel]) -> set[str]:
    """Values a model's Literal fields may take: the tags by which a union tells its members apart."""
    return {
        str(value)
        for field in model.model_fields.values()
        if get_origin(field.annotation) is Literal
        for value in get_args(field.annotation)
    }


def _inner_models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for argument in get_args(annotation) for found in _inner_models(argument)]


def _problem(model: type[BaseModel], detail: Any, source: Source) -> Problem:
    path: Path_ = tuple(detail["loc"])
    written = _as_written(path, source)
    where = ".".join(str(part) for part in written)
    line = source.line(written)
    if detail["type"] == "extra_forbidden":
        return Problem(where, f"unknown key{nearest(str(path[-1]), known_keys(model, path[:-1]))}", line)
    message = str(detail["msg"]).removeprefix("Value error, ")
    if detail["type"] == "too_short":
        message = f"needs at least {detail['ctx']['min_length']}"
    given = detail.get("input")
    shown = f" (given: {given!r})" if isinstance(given, str | int | float | bool) else ""
    return Problem(where, message[:1].lower() + message[1:] + shown, line)


def _as_written(path: Path_, source: Source) -> Path_:
    """The path without the tags of unions, which validation puts into it and no file holds."""
    if not source.lines:
        return path
    known: Path_ = ()
    for position, part in enumerate(path):
        is_tag = isinstance(part, str) and position > 0 and isinstance(path[position - 1], int)
        if is_tag and (*known, part) not in source.lines and position + 1 < len(path):
            continue
        known = (*known, part)
    return known


def _walk(node: Any, path: Path_, lines: dict[Path_, int], duplicates: list[Problem]) -> None:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            here = (*path, str(key.value))
            if key.value in seen:
                duplicates.append(
                    Problem(".".join(map(str, here)), "is given twice", key.start_mark.line + 1)
                )
            seen.add(key.value)
            lines[here] = key.start_mark.line + 1
            _walk(value, here, lines, duplicates)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            lines[(*path, index)] = value.start_mark.line + 1
            _walk(value, (*path, index), lines, duplicates)


def _read_toml(file: Path, text: str) -> Source:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}: not valid TOML ({error})") from error
    lines: dict[Path_, int] = {}
    table: Path_ = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\[?([\w.\-]+)\]\]?", line):
            table = tuple(header[1].split("."))
            lines.setdefault(table, number)
        elif key := re.match(r"\s*([\w\-]+)\s*=", line):
            lines.setdefault((*table, key[1]), number)
    return Source(str(file), data, lines)
