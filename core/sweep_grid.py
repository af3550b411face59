"""Which configurations a sweep runs: a grid over settings, a list, or the published `auto` grid.

Every design setting can be a factor. Two points of a grid that differ only in settings that do not apply (the
weight of a reranker that is off) are one configuration.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.attribution.trace import shown
from core.config_files import Source, read_mapping, validate
from core.errors import ConfigError, EvalError, Problem, nearest
from core.records import digest
from core.settings import RunSettings, check, is_factor, load_settings

AUTO = "auto"
AUTO_CHUNKERS = ("fixed_words", "fixed_tokens", "by_section", "by_paragraph")
AUTO_SIZES, AUTO_OVERLAPS = (256, 450), (0, 60)
AUTO_RETRIEVERS = ("tfidf", "bm25", "dense", "hybrid")
SWEEP_KEYS = ("factors", "configs", "auto_chunk_sizes", "auto_overlaps", "auto_retrievers", "baseline")
_ALIASES = {"strategy": "chunking"}
# what the published slug names, in its order
_SHORT = {
    "top_k": "k",
    "rerank_top_n": "rerank",
    "rerank_weight": "w",
    "abstain_on_weak_evidence": "abstain",
    "hybrid_alpha": "alpha",
}
_SLUG = ("chunking", "retriever", "chunk_size", "overlap", "answer_mode", "context_mode")


@dataclass(frozen=True, slots=True)
class SweepConfiguration:
    """One configuration. `name` is its slug and the first six digits of its design's digest: unique in the sweep
    and its folder's name; `label` is the name its author gave, else the slug."""

    name: str
    label: str
    settings: RunSettings


@dataclass(frozen=True, slots=True)
class SweepDesign:
    """What a sweep compares. `notices` say which points of the grid were left out and why; `factors` are the
    settings that differ; `baseline` names the configuration others are held against."""

    base: RunSettings
    configurations: tuple[SweepConfiguration, ...]
    factors: tuple[str, ...]
    baseline: str
    notices: tuple[str, ...] = ()


def load_sweep(
    source: str | Path | Mapping[str, Any] | None = None,
    *,
    factors: Mapping[str, Sequence[Any]] | None = None,
    configs: Sequence[Mapping[str, Any]] | None = None,
    auto_chunk_sizes: Sequence[int] = AUTO_SIZES,
    auto_overlaps: Sequence[int] = AUTO_OVERLAPS,
    auto_retrievers: Sequence[str] = AUTO_RETRIEVERS,
    baseline: str | None = None,
    **overrides: Any,
) -> SweepDesign:
    """A sweep from a settings file that also holds `factors:` or `configs:`, from arguments, or both.

    `factors` maps a setting to its values; `chunking: auto` and `retriever: auto` stand for the published grid.
    `configs` lists settings that differ from the base. Raises ConfigError with every problem; points of a grid
    that are impossible (an overlap as long as its window) are left out and said.
    """
    given = (
        dict(read_mapping(source, refuse_repeated=False).data)
        if isinstance(source, str | Path)
        else dict(source or {})
    )
    factors = {**_mapping(given.get("factors")), **(factors or {})}
    listed = [*_listed(given.get("configs")), *(configs or ())]
    asked = given | {k: v for k, v in overrides.items() if v is not None}
    for name in ("chunking", "retriever"):
        if asked.get(name) == AUTO:
            factors.setdefault(name, AUTO)
            overrides[name] = "fixed_words" if name == "chunking" else "bm25"
    base = load_settings(source, without=SWEEP_KEYS, **overrides)
    grid = _expanded(
        factors,
        given.get("auto_chunk_sizes", auto_chunk_sizes),
        given.get("auto_overlaps", auto_overlaps),
        given.get("auto_retrievers", auto_retrievers),
    )
    _refuse_unknown(grid, listed)
    points = [("", point) for point in _product(grid)] if grid or not listed else []
    points += [
        (str(entry.pop("name", "") or f"custom_{i}"), entry) for i, entry in enumerate(map(dict, listed), 1)
    ]
    return _design(base, points, baseline or given.get("baseline"))


def slug_of(settings: RunSettings, varied: Iterable[str] = ()) -> str:
    """The published slug, with every further setting that varies in the sweep."""
    words = []
    short = {"chunk_size": "size", "overlap": "overlap", "answer_mode": "ans_", "context_mode": "ctx_"}
    for name in _SLUG:
        if settings.applies(name):
            value = shown(getattr(settings, name))
            words.append(short.get(name, "") + value)
    for name in varied:
        if name in _SLUG or not settings.applies(name):
            continue
        value = getattr(settings, name)
        name = _SHORT.get(name, name)
        words.append(name if value is True else f"{name}{shown(value)}" if value is not False else "")
    text = "_".join(word for word in words if word) or settings.classifier_type
    return re.sub(r"[^\w.\-]+", "-", text).strip("-._")[:110]


def _expanded(
    factors: Mapping[str, Any], sizes: Sequence[int], overlaps: Sequence[int], retrievers: Sequence[str]
) -> dict[str, list[Any]]:
    grid = {_ALIASES.get(name, name): values for name, values in factors.items()}
    if grid.get("chunking") == AUTO or grid.get("chunking") == [AUTO]:
        grid["chunking"] = list(AUTO_CHUNKERS)
        grid.setdefault("chunk_size", list(sizes))
        grid.setdefault("overlap", list(overlaps))
    if grid.get("retriever") == AUTO or grid.get("retriever") == [AUTO]:
        grid["retriever"] = list(retrievers)
    return {
        name: list(values) if isinstance(values, list | tuple) else [values] for name, values in grid.items()
    }


def _product(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _refuse_unknown(grid: Mapping[str, Sequence[Any]], listed: Sequence[Mapping[str, Any]]) -> None:
    known = [name for name in RunSettings.model_fields if is_factor(RunSettings, name)]
    problems = []
    for where, names in (
        ("factors", list(grid)),
        *((f"configs[{i}]", [k for k in entry if k != "name"]) for i, entry in enumerate(listed)),
    ):
        for name in names:
            plain = _ALIASES.get(name, name)
            if plain not in RunSettings.model_fields:
                problems.append(Problem(f"{where}.{name}", f"unknown setting{nearest(name, known)}"))
            elif not is_factor(RunSettings, plain):
                problems.append(
                    Problem(f"{where}.{name}", "is the same for all configurations and cannot be a factor")
                )
    problems += [Problem(f"factors.{name}", "has no values") for name, values in grid.items() if not values]
    if problems:
        raise ConfigError("the sweep cannot be used", problems)


def _design(
    base: RunSettings, points: Sequence[tuple[str, Mapping[str, Any]]], baseline: str | None
) -> SweepDesign:
    found: dict[str, tuple[str, RunSettings]] = {}
    notices: list[str] = []
    for label, point in points:
        changes = {_ALIASES.get(k, k): _truth(k, v) for k, v in point.items()}
        data = base.model_dump() | changes
        try:
            settings = validate(RunSettings, data, Source(label or "grid", data, {}))
            problems = check(settings)
            if problems:
                raise ConfigError("the settings cannot be used", problems)
        except EvalError as error:
            notices.append(
                f"left out {label or ', '.join(f'{k}={shown(v)}' for k, v in point.items())}: {_reason(error)}"
            )
            continue
        found.setdefault(digest(settings.design()), (label, settings))
    if not found:
        raise ConfigError(
            "the sweep holds no configuration that can be run", [Problem("", notice) for notice in notices]
        )
    varied = _varied([settings for _, settings in found.values()])
    configurations = []
    for key, (label, settings) in found.items():
        slug = re.sub(r"[^\w.\-]+", "-", label).strip("-._") or slug_of(settings, varied)
        configurations.append(SweepConfiguration(f"{slug}-{key[:6]}", label or slug, settings))
    return SweepDesign(
        base, tuple(configurations), tuple(varied), _baseline(base, configurations, baseline), tuple(notices)
    )


def _baseline(base: RunSettings, configurations: Sequence[SweepConfiguration], wanted: str | None) -> str:
    if wanted:
        for configuration in configurations:
            if wanted in (configuration.name, configuration.label):
                return configuration.name
        raise ConfigError(
            f"no configuration of the sweep is called '{wanted}'{nearest(wanted, [c.label for c in configurations])}"
        )
    same = [c.name for c in configurations if c.settings.design() == base.design()]
    return same[0] if same else configurations[0].name


def _varied(settings: Sequence[RunSettings]) -> list[str]:
    """Settings with two values among the configurations to which they apply."""
    designs = [each.design() for each in settings]
    return [
        name
        for name in RunSettings.model_fields
        if len({shown(design[name]) for design in designs if name in design}) > 1
    ]


def _reason(error: EvalError) -> str:
    problems = getattr(error, "problems", ())
    return "; ".join(problem.message for problem in problems) or str(error)


def _truth(name: str, value: Any) -> Any:
    """The published spellings of truth values in a list of configurations."""
    field = RunSettings.model_fields.get(_ALIASES.get(name, name))
    if field is not None and field.annotation is bool and isinstance(value, str):
        return {
            "1": True,
            "true": True,
            "yes": True,
            "on": True,
            "0": False,
            "false": False,
            "no": False,
            "off": False,
        }.get(value.lower(), value)
    return value


def _mapping(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigError("factors: must map a setting to its values, as in `top_k: [4, 8]`")
    return {str(k): v for k, v in value.items()}


def _listed(value: Any) -> list[Mapping[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not value or not all(isinstance(entry, Mapping) for entry in value):
        raise ConfigError("configs: must be a list of settings that is not empty")
    return value


def read_configs(text: str) -> list[Mapping[str, Any]]:
    """`--sweep-configs-json`: the JSON itself or the path of a file that holds it."""
    try:
        return _listed(
            json.loads(text if text.lstrip().startswith("[") else Path(text).read_text(encoding="utf-8"))
        )
    except OSError as error:
        raise ConfigError(f"--sweep-configs-json: {text} cannot be read ({error.strerror})") from error
    except json.JSONDecodeError as error:
        raise ConfigError(f"--sweep-configs-json: no valid JSON ({error})") from error
