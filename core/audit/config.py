"""The YAML of an audit: read and checked as a whole, with the line of everything that is wrong, before anything
is called."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from core.config_files import Source, read_mapping, validate
from core.contracts import EVALUATORS
from core.errors import ConfigError, Problem, nearest
from core.evaluation.shapes import SPECS, CustomSpec, TestSpec
from core.registry import load_plugins

ENV = re.compile(r"\$\{(\w+)\}")


class Part(BaseModel):
    """A part of the configuration: unknown keys and NaN are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True)


class ToolDecl(Part):
    """A tool of a target that cannot describe its own tools."""

    name: str
    description: str = ""
    trigger_prompt: str | None = None
    writes: bool = False
    parameters: dict[str, Any] = Field(default_factory=dict, description="JSON Schema of the arguments")
    result: Any = Field(None, description="canned result (chat targets)")
    callable: str | None = Field(None, description="module:function that computes the result (chat targets)")


class PythonAdapter(Part):
    """A Python class that speaks the adapter contract."""

    type: Literal["python"] = "python"
    module: str
    cls: str = Field(alias="class")
    instances: Literal["shared", "per_worker"] = "shared"
    options: dict[str, Any] = Field(default_factory=dict, description="keyword arguments of the class")


class HttpAdapter(Part):
    """An agent behind an HTTP endpoint: POST {prompt, conversation}."""

    type: Literal["http"] = "http"
    endpoint: str
    headers: dict[str, SecretStr] = Field(default_factory=dict, description="values as ${ENV}")
    timeout_s: float = Field(30.0, gt=0)
    tools: tuple[ToolDecl, ...] = ()
    corpus: str | None = Field(None, description="path or URL of the documents citations resolve against")
    profiles: dict[str, dict[str, SecretStr]] = Field(default_factory=dict, description="named header sets")


class ChatAdapter(Part):
    """An OpenAI-compatible chat endpoint with tools."""

    type: Literal["openai"]
    base_url: str
    model: str
    api_key_env: str = "OPENAI_API_KEY"
    system_prompt: str = ""
    tools: tuple[ToolDecl, ...] = ()
    corpus: str | None = None
    max_steps: int = Field(6, ge=1, le=50)
    timeout_s: float = Field(60.0, gt=0)
    temperature: float | None = Field(None, ge=0, le=2)
    max_tokens: int = Field(1024, ge=1)
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    profiles: dict[str, dict[str, SecretStr]] = Field(default_factory=dict)


class LangchainAdapter(Part):
    """Anything with `invoke(input)`: a LangChain runnable, found as module:attribute."""

    type: Literal["langchain"]
    module: str
    attribute: str
    input_key: str | None = Field(
        None, description="key of the prompt in the input mapping; None: the bare prompt"
    )
    history_key: str | None = None
    output_key: str | None = None
    corpus: str | None = None


class PipelineAdapter(Part):
    """The built-in document-QA pipeline; the rest are run settings (docs, chunking, retriever…)."""

    type: Literal["pipeline"]
    settings: dict[str, Any] = Field(default_factory=dict)


class PreparedAdapter(Part):
    """Ready outputs in a file (JSONL, CSV, Excel, parquet): the agent itself is not called."""

    type: Literal["prepared"]
    path: str
    columns: dict[str, str] = Field(default_factory=dict)
    corpus: str | None = None


Adapter = PythonAdapter | HttpAdapter | ChatAdapter | LangchainAdapter | PipelineAdapter | PreparedAdapter
ADAPTERS: dict[str, type[Part]] = {
    "python": PythonAdapter,
    "http": HttpAdapter,
    "openai": ChatAdapter,
    "langchain": LangchainAdapter,
    "pipeline": PipelineAdapter,
    "prepared": PreparedAdapter,
}


class JudgeConfig(Part):
    """Who judges. `fixtures_path` is accepted for old files and ignored with a notice."""

    provider: Literal["anthropic", "openai", "local", "none"] = "anthropic"
    model: str = "claude-sonnet-4-6"
    max_concurrency: int = Field(4, ge=1, le=256)
    base_url: str | None = None
    api_key_env: str | None = None
    timeout_s: float = Field(60.0, gt=0)
    retries: int = Field(4, ge=0, le=20)
    temperature: float | None = Field(None, ge=0, le=2)
    samples: int = Field(1, ge=1, le=25, description="votes a judgement")
    audit_share: float = Field(0.0, ge=0, le=1, description="share judged a second time to measure flips")
    cache: Literal["use", "refresh", "only", "off"] = "use"
    thresholds_file: str | None = Field(None, description="thresholds fitted on labels (local judge)")
    fixtures_path: str | None = None


class Thresholds(Part):
    """Pass and weak thresholds of judge scores, each in [0, 1]."""

    faithfulness_pass: float = Field(0.85, ge=0, le=1)
    faithfulness_weak: float = Field(0.7, ge=0, le=1)
    relevance_pass: float = Field(0.85, ge=0, le=1)
    relevance_weak: float = Field(0.7, ge=0, le=1)
    citation_support_pass: float = Field(0.95, ge=0, le=1)
    citation_support_weak: float = Field(0.8, ge=0, le=1)

    @model_validator(mode="after")
    def _ordered(self) -> Thresholds:
        for name in ("faithfulness", "relevance", "citation_support"):
            if getattr(self, f"{name}_weak") > getattr(self, f"{name}_pass"):
                raise ValueError(f"{name}_weak must not exceed {name}_pass")
        return self


class RunConfig(Part):
    """How to run. `concurrency` defaults to 1 for Python adapters and 8 for HTTP and chat targets."""

    concurrency: int | None = Field(None, ge=1, le=256)
    timeout_s: float = Field(60.0, gt=0)
    retries: int = Field(2, ge=0, le=20)
    repeats: int = Field(1, ge=1, le=1000)
    seed: int = 0
    max_cost: float | None = Field(None, gt=0)


class AuditConfig(Part):
    """A whole audit."""

    adapter: Annotated[Adapter, Field(discriminator="type")]
    judge: JudgeConfig = JudgeConfig()
    thresholds: Thresholds = Thresholds()
    run: RunConfig = RunConfig()
    suite: str | None = None
    plugins: tuple[str, ...] = ()
    locale: Literal["auto", "en", "de"] = "auto"
    citation_pattern: str | None = Field(
        None, description="regular expression of citation markers, one group"
    )
    tests: tuple[TestSpec, ...]


def load_audit(source: str | Path | Mapping[str, Any]) -> tuple[AuditConfig, tuple[str, ...]]:
    """The configuration and notices about it. ConfigError lists everything wrong at once, with lines."""
    read = (
        read_mapping(source) if isinstance(source, str | Path) else Source("configuration", dict(source), {})
    )
    data = dict(read.data)
    if "system" in data and "adapter" not in data:
        data["adapter"] = data.pop("system")
    if isinstance(source, str | Path):
        _importable(Path(source).parent)
    notices = []
    problems: list[Problem] = []
    adapter = data.get("adapter")
    if isinstance(adapter, Mapping):
        data["adapter"] = {
            "type": "python" if "module" in adapter and "attribute" not in adapter else "http",
            **adapter,
        }
        kind = data["adapter"]["type"]
        if kind not in ADAPTERS:
            line = read.line(("adapter", "type"))
            problems.append(
                Problem("adapter.type", f"unknown type '{kind}'{nearest(str(kind), ADAPTERS)}", line)
            )
            data.pop("adapter")
    elif adapter is None:
        problems.append(
            Problem("adapter", "is missing", hint="say what is audited: adapter: {type: python, …}")
        )
    plugins = data.get("plugins") or ()
    try:
        load_plugins([plugins] if isinstance(plugins, str) else list(plugins))
    except ConfigError as error:
        problems += error.problems
    tests, wrong = _tests(data.get("tests"), read)
    problems += wrong
    data["tests"] = tests
    try:
        if "adapter" in data and isinstance(data["adapter"], Mapping):
            where = Source(read.name, read.data, read.lines)
            model = ADAPTERS[data["adapter"]["type"]]
            data["adapter"] = _validated(
                model, _with_environment(data["adapter"], read, problems), where, ("adapter",)
            )
    except ConfigError as error:
        problems += error.problems
        data.pop("adapter", None)
    rest = {key: value for key, value in data.items() if key != "adapter"} | (
        {"adapter": data["adapter"]} if "adapter" in data else {"adapter": _PLACEHOLDER}
    )
    try:
        config = validate(AuditConfig, rest, read)
    except ConfigError as error:
        raise ConfigError(error.message, [*problems, *error.problems]) from error
    if problems:
        raise ConfigError(f"{read.name}: the configuration cannot be used", problems)
    if config.judge.fixtures_path:
        notices.append(
            "judge.fixtures_path is not used: --judge-cache only replays recorded judgements instead"
        )
    if any(getattr(test, "sample_size", None) is not None for test in config.tests):
        notices.append("sample_size is not used: every sample query is asked")
    return config, tuple(notices)


def _importable(folder: Path) -> None:
    """Modules beside the configuration can be named in it; the working directory comes first."""
    for place in (str(folder.resolve()), str(Path.cwd())):
        if place in sys.path:
            sys.path.remove(place)
        sys.path.insert(0, place)


_PLACEHOLDER = PythonAdapter(module="missing", cls="Missing")


def _validated(model: type[BaseModel], data: Any, source: Source, prefix: tuple[str | int, ...]) -> Any:
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


def _tests(given: Any, read: Source) -> tuple[list[Any], list[Problem]]:
    """Every test validated by its evaluator's own shape; a test of a custom evaluator keeps all its keys."""
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        return [], [Problem("tests", "must be a list with at least one test", read.line(("tests",)))]
    found: list[Any] = []
    problems: list[Problem] = []
    names: dict[str, int] = {}
    for index, test in enumerate(given):
        place: tuple[str | int, ...] = ("tests", index)
        label = f"tests.{index}"
        if not isinstance(test, Mapping):
            problems.append(Problem(label, "must hold keys and values", read.line(place)))
            continue
        name, evaluator = str(test.get("name", "")), test.get("evaluator")
        if name in names and name:
            problems.append(
                Problem(
                    label, f"the name '{name}' is used twice (also tests.{names[name]})", read.line(place)
                )
            )
        names.setdefault(name, index)
        if evaluator not in SPECS and evaluator not in EVALUATORS:
            known = sorted({*SPECS, *EVALUATORS.names()})
            hint = nearest(str(evaluator), known) if evaluator else f"; known: {', '.join(known)}"
            problems.append(
                Problem(
                    f"{label}.evaluator",
                    f"unknown evaluator '{evaluator}'{hint}",
                    read.line((*place, "evaluator")),
                )
            )
            continue
        try:
            found.append(_validated(SPECS.get(str(evaluator), CustomSpec), dict(test), read, place))
        except ConfigError as error:
            problems += error.problems
    return found, problems


def _with_environment(
    value: Any, read: Source, problems: list[Problem], path: tuple[str | int, ...] = ("adapter",)
) -> Any:
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
