"""Settings from YAML, JSON, TOML, a dict or command-line flags, checked as a whole before anything runs."""

from __future__ import annotations

import glob
import json
import os
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.config_files import Source, read_mapping, validate
from core.contracts import ANSWERERS, CHUNKERS, RETRIEVERS
from core.errors import ConfigError, Problem, UnknownNameError
from core.registry import load_plugins
from core.settings.fields import RunSettings

RENAMED = {
    "search_index_dir": "cache_dir",
    "api_extra_headers_json": "api_extra_headers",
}  # earlier name → ours


def load_settings(
    source: str | Path | Mapping[str, Any] | None = None, *, without: Collection[str] = (), **overrides: Any
) -> RunSettings:
    """Settings from a file (YAML, JSON, TOML), a mapping or nothing, with overrides (flags) on top. Keys in
    `without` belong to somebody else (the factors of a sweep) and are passed over.

    A component may be written as a mapping: `retriever: {type: bm25, idf: atire}`. Raises ConfigError with
    every problem, its key, its line and the nearest known name.
    """
    is_file = isinstance(source, str | Path)
    read = (
        read_mapping(source, refuse_repeated=False)
        if isinstance(source, str | Path)
        else Source("settings", dict(source or {}))
    )
    own = {RENAMED.get(key, key): value for key, value in read.data.items() if key not in without}
    data = own | {key: value for key, value in overrides.items() if value is not None}
    if isinstance(data.get("retriever"), Mapping):
        spec = dict(data["retriever"])
        data["retriever"] = spec.pop("type", None)
        data["retriever_options"] = spec
    for many in ("docs", "plugins", "passwords", "cpv_languages"):
        if isinstance(data.get(many), str):
            data[many] = [data[many]]
    if isinstance(data.get("docs"), list | tuple):
        data["docs"] = [part for each in data["docs"] for part in _split_docs(str(each))]
    given = {key for key, value in overrides.items() if value is not None}
    if is_file:
        data = {
            key: value if key in given else _anchored(key, value, Path(read.name).parent)
            for key, value in data.items()
        }
    lines = {path: line for path, line in read.lines.items() if path[0] not in given}  # a flag has no line
    return _checked(Source(read.name, data, lines, read.repeated))


def _checked(source: Source) -> RunSettings:
    """The settings, or a ConfigError with everything wrong in them: what is left when the wrong fields are taken
    out is checked too."""
    problems = list(source.repeated)
    left, settings = dict(source.data), None
    while settings is None:
        try:
            settings = validate(RunSettings, left, source)
        except ConfigError as error:
            problems += error.problems
            wrong = {problem.where.split(".")[0] for problem in error.problems}
            fallback = {"overlap": 0} if "overlap" in wrong else {}  # the default may be too long as well
            rest = {key: value for key, value in left.items() if key not in wrong} | fallback
            if rest == left:
                raise ConfigError(f"{source.name}: the settings cannot be used", problems) from error
            left = rest
    for problem in check(settings):
        if problem.where in left or problem.where not in source.data:
            problems.append(replace(problem, line=source.line((problem.where,))))
    if problems:
        problems.sort(key=lambda problem: problem.line or 0)
        raise ConfigError(f"{source.name}: the settings cannot be used", problems)
    return settings


PATHS = ("docs", "docs_root", "questions", "cpv_catalog", "cpv_queries", "cpv_notices", "prepared_results")


def _anchored(key: str, value: Any, folder: Path) -> Any:
    """Input paths in a file are taken from the working directory; what is not there, from the file's folder."""
    if key not in PATHS or value is None:
        return value
    if isinstance(value, list | tuple):
        return [_anchored(key, each, folder) for each in value]
    here = Path(str(value))
    if here.is_absolute() or here.exists() or any(Path().glob(str(value))):
        return value
    there = folder / here
    return str(there) if there.exists() or any(folder.glob(str(value))) else value


def _split_docs(entry: str) -> list[str]:
    """`a.pdf,b.pdf` is two files; a file whose own name holds a comma is one."""
    parts = [part.strip() for part in entry.split(",") if part.strip()]
    return [entry] if len(parts) < 2 or Path(entry).exists() else parts


def parse_flag(name: str, value: Any) -> Any:
    """A flag's text as the setting's value: None when not given; JSON for settings that hold mappings or lists,
    a comma list for lists of words. Paths are never split at commas."""
    if value is None or value == ():
        return None
    annotation = str(RunSettings.model_fields[name].annotation)
    if annotation.startswith("dict"):
        return _pairs(name, value)
    if name in ("plugins", "cpv_languages"):
        return tuple(part.strip() for each in value for part in each.split(",") if part.strip())
    return value


def _pairs(name: str, text: str) -> dict[str, Any]:
    """`{"a": 1}` or `a=1,b=2`."""
    try:
        if text.lstrip().startswith("{"):
            return dict(json.loads(text))
        return dict(part.split("=", 1) for part in text.split(",") if part.strip())
    except (json.JSONDecodeError, ValueError) as error:
        flag = "--" + name.replace("_", "-")
        raise ConfigError(f"{flag}: expected JSON or key=value pairs, not {text!r} ({error})") from error


def check(settings: RunSettings) -> list[Problem]:
    """What validation of single fields cannot see: unknown components, inputs that are missing."""
    problems: list[Problem] = []
    try:
        load_plugins(settings.plugins)
    except ConfigError as error:
        problems += error.problems
    for field, registry in (("chunking", CHUNKERS), ("retriever", RETRIEVERS), ("answer_mode", ANSWERERS)):
        if settings.applies(field):
            try:
                registry.get(getattr(settings, field))
            except UnknownNameError as error:
                problems.append(Problem(field, error.message))
    problems += _wrong_options(settings)
    problems += _not_writable(settings)
    needed = {
        "document_qa": ["docs", "questions"],
        "ted_cpv": ["cpv_catalog", "cpv_queries"],
        "api_classifier": ["api_classifier_url", "cpv_queries"],
        "prepared_rag_results": ["prepared_results"],
    }
    for field in needed.get(settings.classifier_type, []):
        if not getattr(settings, field):
            flag = "--" + field.replace("_", "-")
            problems.append(Problem(field, f"is needed for {settings.classifier_type}", hint=f"give {flag}"))
    for field in ("questions", "cpv_catalog", "cpv_queries", "cpv_notices", "prepared_results", "docs_root"):
        path = getattr(settings, field)
        if path and settings.applies(field) and not Path(path).expanduser().exists():
            problems.append(Problem(field, f"no such file or folder: {path}"))
    for pattern in settings.docs if settings.applies("docs") else ():
        path = str(Path(pattern).expanduser())
        spellings = {
            path,
            *(unicodedata.normalize(form, path) for form in ("NFC", "NFD")),
        }  # as a disk may have it
        if not any(Path(each).exists() or any(glob.iglob(each, recursive=True)) for each in spellings):
            problems.append(Problem("docs", f"no file, folder or glob match: {pattern}"))
    return problems


def _wrong_options(settings: RunSettings) -> list[Problem]:
    """Parameters of the retriever that it does not know or that are out of bounds."""
    if not (
        settings.applies("retriever") and settings.retriever_options and settings.retriever in RETRIEVERS
    ):
        return []
    try:
        RETRIEVERS.create({"type": settings.retriever, **settings.retriever_options})
    except ConfigError as error:
        return [Problem("retriever", each.message) for each in error.problems]
    return []


def _not_writable(settings: RunSettings) -> list[Problem]:
    """Places a run writes to that cannot be made or written."""
    problems = []
    for field in ("output_dir", "cache_dir", "store_path"):
        given = getattr(settings, field)
        if given is None:
            continue
        place = Path(given).expanduser().absolute()
        if field == "store_path" and not place.is_dir():
            place = place.parent
        there = next(each for each in (place, *place.parents) if each.exists())
        if field == "store_path" and Path(given).is_dir():
            problems.append(Problem(field, f"is a folder, not a file: {given}"))
        elif not there.is_dir():
            problems.append(Problem(field, f"{there} is a file, not a folder"))
        elif not os.access(there, os.W_OK | os.X_OK):
            problems.append(Problem(field, f"{there} cannot be written to"))
    return problems
