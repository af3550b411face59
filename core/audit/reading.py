"""Reading an audit's YAML: the whole file is checked, with the line of everything that is wrong, before anything is
called."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from core.audit.config import ADAPTERS, AuditConfig, PythonAdapter
from core.audit.custom import CUSTOM
from core.audit.loading import problems_of
from core.audit.secrets import masked
from core.config_files import Source, read_mapping, validate
from core.contracts import EVALUATORS
from core.errors import ConfigError, Problem, nearest
from core.evaluation.shapes import SPECS, CustomSpec
from core.registry import load_plugins

ENV = re.compile(r"\$\{(\w+)\}")
Place = tuple[str | int, ...]
_PLACEHOLDER = PythonAdapter(module="missing", cls="Missing")
_PATHS = ("corpus", "path")


@dataclass(frozen=True, slots=True)
class LoadedAudit:
    """A checked configuration. `written` is the file as it may be kept: `${NAME}` unresolved, literal header values
    masked. `secrets` are the values that stand behind them. `name` is the file's, without its ending."""

    config: AuditConfig
    written: dict[str, Any]
    secrets: tuple[str, ...]
    notices: tuple[str, ...]
    name: str


def load_audit(source: str | Path | Mapping[str, Any]) -> LoadedAudit:
    """Read and check everything. ConfigError lists all that is wrong at once, with lines; nothing has been called."""
    from_file = isinstance(source, str | Path)
    read = read_mapping(source) if isinstance(source, str | Path) else Source("configuration", dict(source))
    folder = Path(source).parent if isinstance(source, str | Path) else None
    _importable(folder)
    data = {key: value for key, value in read.data.items() if key != "classifier_type"}
    if "system" in data and "adapter" not in data:
        data["adapter"] = data.pop("system")
        lines = {("adapter", *k[1:]) if k[:1] == ("system",) else k: v for k, v in read.lines.items()}
        read = Source(read.name, read.data, lines)
    written, secrets = masked(data)
    problems: list[Problem] = list(_plugins(data.get("plugins")))
    # the adapter's module may register evaluators, so it is imported before the tests are looked at
    adapter = _adapter(data.get("adapter"), read, folder, problems)
    data["tests"] = list(_tests(data.get("tests"), read, problems))
    if isinstance(data.get("judge"), Mapping):
        data["judge"] = _with_environment(data["judge"], read, problems, ("judge",))
    try:
        config = validate(AuditConfig, data | {"adapter": adapter or _PLACEHOLDER}, read)
    except ConfigError as error:
        problems += [problem for problem in error.problems if not problem.where.startswith("adapter")]
    if problems:
        problems.sort(key=lambda problem: problem.line or 0)
        raise ConfigError(f"{read.name}: the configuration cannot be used; nothing has been called", problems)
    name = config.suite or (Path(read.name).stem if from_file else "audit")
    return LoadedAudit(config, written, secrets, tuple(_notices(config)), name)


def _notices(config: AuditConfig) -> Iterator[str]:
    if config.judge.fixtures_path:
        yield "judge.fixtures_path is not used: --judge-cache only replays recorded judgements instead"
    if any(getattr(test, "sample_size", None) is not None for test in config.tests):
        yield "sample_size is not used: every sample query is asked"


def _importable(folder: Path | None) -> None:
    """Modules beside the configuration can be named in it; the working directory comes first."""
    places = [str(folder.resolve())] if folder is not None else []
    for place in (*places, str(Path.cwd())):
        if place in sys.path:
            sys.path.remove(place)
        sys.path.insert(0, place)


def _plugins(plugins: Any) -> Iterator[Problem]:
    if plugins is None or (isinstance(plugins, list | tuple) and all(isinstance(p, str) for p in plugins)):
        try:
            load_plugins(list(plugins or ()))
        except ConfigError as error:
            yield from error.problems


def _adapter(given: Any, read: Source, folder: Path | None, problems: list[Problem]) -> Any:
    """The checked adapter with its modules and files looked up; None when something is wrong with it."""
    if given is None:
        problems.append(
            Problem("adapter", "is missing", hint="say what is audited: adapter: {type: python, …}")
        )
        return None
    if not isinstance(given, Mapping):
        problems.append(Problem("adapter", "must hold keys and values", read.line(("adapter",))))
        return None
    python = "module" in given and "attribute" not in given
    data = {"type": "python" if python else "http", **given}
    kind = data["type"]
    if not isinstance(kind, str) or kind not in ADAPTERS:
        line = read.line(("adapter", "type"))
        problems.append(Problem("adapter.type", f"unknown type '{kind}'{nearest(str(kind), ADAPTERS)}", line))
        return None
    data = _with_environment(data, read, problems)
    for key in _PATHS:
        if isinstance(data.get(key), str):
            data[key] = _anchored(data[key], folder)
    try:
        adapter = _validated(ADAPTERS[kind], data, read, ("adapter",))
    except ConfigError as error:
        problems += error.problems
        return None
    found = [
        Problem(p.where, p.message, p.line or _line(read, p.where), p.hint) for p in problems_of(adapter)
    ]
    problems += found
    return None if found else adapter


def _line(read: Source, where: str) -> int | None:
    return read.line(tuple(int(part) if part.isdigit() else part for part in where.split(".")))


def _anchored(path: str, folder: Path | None) -> str:
    """Paths are taken from the working directory; what is not there, from the configuration's folder."""
    if folder is None or path.startswith(("http://", "https://")) or Path(path).exists():
        return path
    beside = folder / path
    return str(beside) if beside.exists() else path


def _validated(model: type[BaseModel], data: Any, source: Source, prefix: Place) -> Any:
    """Validate a part on its own, with problems named by their place in the whole file."""
    inner = {key[len(prefix) :]: line for key, line in source.lines.items() if key[: len(prefix)] == prefix}
    try:
        return validate(model, data, Source(source.name, {}, inner))
    except ConfigError as error:
        place = ".".join(str(each) for each in prefix)
        moved = [
            Problem(f"{place}.{p.where}".rstrip("."), p.message, p.line or source.line(prefix), p.hint)
            for p in error.problems
        ]
        raise ConfigError(error.message, moved) from error


def _tests(given: Any, read: Source, problems: list[Problem]) -> Iterator[Any]:
    """Every test validated by its evaluator's own shape; a test of a user's evaluator keeps all its keys."""
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        problems.append(Problem("tests", "must be a list with at least one test", read.line(("tests",))))
        return
    names = Counter(str(test.get("name")) for test in given if isinstance(test, Mapping))
    for index, test in enumerate(given):
        place: Place = ("tests", index)
        label = f"tests.{index}"
        if not isinstance(test, Mapping):
            problems.append(Problem(label, "must hold keys and values", read.line(place)))
            continue
        if test.get("name") and names[str(test["name"])] > 1:
            problems.append(Problem(label, f"the name '{test['name']}' is used twice", read.line(place)))
        evaluator = test.get("evaluator")
        known = sorted({*SPECS, *CUSTOM, *EVALUATORS.names()})
        if evaluator not in known:
            hint = nearest(str(evaluator), known) if evaluator else f"; known: {', '.join(known)}"
            said = f"unknown evaluator '{evaluator}'" if evaluator else "names no evaluator"
            problems.append(Problem(f"{label}.evaluator", said + hint, read.line((*place, "evaluator"))))
            continue
        try:
            shape = _validated(SPECS.get(str(evaluator), CustomSpec), dict(test), read, place)
            if evaluator not in SPECS and evaluator not in CUSTOM:
                EVALUATORS.create({"type": evaluator, **shape.parameters()})
            yield shape
        except ConfigError as error:
            problems += [
                p if p.line else Problem(f"{label}: {p.where}", p.message, read.line(place), p.hint)
                for p in error.problems
            ]


def _with_environment(value: Any, read: Source, problems: list[Problem], path: Place = ("adapter",)) -> Any:
    """`${NAME}` replaced by the environment's value; a variable that is not set is a problem with its line."""
    if isinstance(value, Mapping):
        return {key: _with_environment(each, read, problems, (*path, key)) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_environment(each, read, problems, (*path, index)) for index, each in enumerate(value)]
    if not isinstance(value, str):
        return value
    for name in ENV.findall(value):
        if name not in os.environ:
            where = ".".join(map(str, path))
            problems.append(Problem(where, f"the environment variable {name} is not set", read.line(path)))
    return ENV.sub(lambda match: os.environ.get(match[1], ""), value)
