"""One row per run × question (× repeat) with complete settings: the only input of attribution.

Long form. Columns: experiment, question_id, question, question_type, cluster, repeat, verdict, auto_flag (answer
label, else the verdict in lower case), auto_correct (1 PASS, 0 WEAK or FAIL, None ERROR), primary_error_reason,
secondary_error_reason, claim_diagnostic, likely_failure (mechanism, where a ladder proved it), latency_ms,
input_tokens, output_tokens, llm_call_count, cost_usd (None: price unknown), judge_cost_usd, and every metric under
its published name. A missing value means "does not apply" or "not known", never 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from core.contracts import RETRIEVERS
from core.errors import EvalError
from core.records import Case, Output, Result, Run, Usage, Verdict
from core.settings import RunSettings, applicability

if TYPE_CHECKING:
    import pandas as pd

# setting → published column name, where they differ
PUBLISHED = {"chunking": "chunking_strategy", "overlap": "chunk_overlap"}
SETTING = {name: setting for setting, name in PUBLISHED.items()}
# inputs and versions that decide whether runs can be compared; they count as settings
COMPARED_DIGESTS = ("corpus", "catalog", "parser", "judge", "metrics", "rubrics", "questions")
ABSENT = ""  # how a setting that does not apply is written


@dataclass(frozen=True, slots=True)
class Configuration:
    """One configuration of a sweep (or the one of a single run).

    `design` holds every design choice that applies, under its setting's name; a choice that does not apply is
    not in it. `measured` are figures of the whole run (seconds, bytes of the index, chunks). `censored` marks a
    configuration that a race stopped early: it stays out of effects and of the frontier.
    """

    name: str
    design: Mapping[str, Any]
    run_id: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    measured: Mapping[str, float | None] = field(default_factory=dict)
    summary: Mapping[str, Any] = field(default_factory=dict)
    censored: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """`frame` as in the module's description; `parents` is the tree of applicability (setting → its parents)."""

    frame: pd.DataFrame
    configurations: tuple[Configuration, ...]
    parents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    baseline: str | None = None


def settings_tree() -> dict[str, tuple[str, ...]]:
    """Parents of every setting of a run; options of a retriever hang under the retriever."""
    tree = {name: tuple(applicability(RunSettings, name)) for name in RunSettings.model_fields}
    return tree | {"retriever_options": ("retriever",)}


def parents_of(name: str, tree: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Parents of a setting; those of `retriever_options.k1` are those of `retriever_options`."""
    return tree.get(name) or tree.get(name.split(".")[0], ())


def design_of(run: Run) -> dict[str, Any]:
    """Complete design choices of a run that apply, with defaults filled in, plus the digests of its inputs."""
    try:
        design = RunSettings.model_validate(dict(run.settings)).design()
    except ValueError:  # an audit's settings: every leaf is a choice
        design = dict(flatten(run.settings))
    options = design.pop("retriever_options", None)
    if isinstance(options, Mapping):
        design |= {
            f"retriever_options.{k}": v for k, v in _full_options(design.get("retriever"), options).items()
        }
    recorded = {**run.versions, **run.digests}
    return design | {f"input.{name}": recorded[name] for name in COMPARED_DIGESTS if name in recorded}


def flatten(value: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for key, inner in value.items():
        if isinstance(inner, Mapping):
            yield from flatten(inner, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", inner


def configuration_of(
    run: Run, *, censored: bool = False, measured: Mapping[str, float | None] | None = None
) -> Configuration:
    return Configuration(
        run.name,
        design_of(run),
        run.id,
        dict(run.settings),
        dict(measured or {}),
        dict(run.summary),
        censored,
    )


def rows_of(
    name: str, cases: Sequence[Case], outputs: Iterable[Output], results: Iterable[Result]
) -> list[dict[str, Any]]:
    """Rows of one run. A case without a result has no row."""
    by_case = {case.id: case for case in cases}
    by_output = {(output.case_id, output.repeat): output for output in outputs}
    rows = []
    for result in results:
        case = by_case.get(result.case_id)
        if case is not None:
            rows.append(_row(name, case, by_output.get((result.case_id, result.repeat)), result))
    return rows


def trace_of(
    parts: Sequence[tuple[Configuration, Sequence[Mapping[str, Any]]]], *, baseline: str | None = None
) -> Trace:
    """A trace from configurations and their rows."""
    import pandas as pd

    frame = pd.DataFrame([row for _, rows in parts for row in rows])
    if frame.empty:
        frame = pd.DataFrame(
            columns=[
                "experiment",
                "question_id",
                "question_type",
                "cluster",
                "repeat",
                "verdict",
                "auto_correct",
            ]
        )
    return Trace(frame, tuple(configuration for configuration, _ in parts), settings_tree(), baseline)


def shown(value: Any) -> str:
    """A setting's value as text: one spelling for equal values ("none" is a value; ABSENT does not apply)."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _full_options(retriever: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    try:
        component: Any = RETRIEVERS.create({"type": str(retriever), **options})
        spec = component.spec()
    except (EvalError, AttributeError):  # a retriever of a plugin that is not loaded here
        return dict(options)
    # settings fill these; the component's own copy would count them twice
    return {
        k: v
        for k, v in spec.items()
        if k != "type" and k not in RunSettings.model_fields and not isinstance(v, dict)
    }


def _row(name: str, case: Case, output: Output | None, result: Result) -> dict[str, Any]:
    diagnosis = result.diagnosis
    usage = (output.usage if output else None) or Usage()
    signals = dict(output.signals) if output else {}
    judged = [j.usage for j in result.judgements if j.usage is not None]
    judge_cost = None if any(u.cost_usd is None for u in judged) else sum(u.cost_usd or 0.0 for u in judged)
    error = result.verdict is Verdict.ERROR
    return {
        "experiment": name,
        "question_id": case.id,
        "question": case.query,
        "question_type": case.question_type or "unknown",
        "cluster": case.cluster,
        "repeat": result.repeat,
        "verdict": str(result.verdict),
        "auto_flag": result.label or str(result.verdict).lower(),
        "auto_correct": None if error else float(result.verdict is Verdict.PASS),
        "primary_error_reason": diagnosis.primary_reason
        if diagnosis
        else (result.reasons[0] if result.reasons else ""),
        "secondary_error_reason": diagnosis.secondary_reason if diagnosis else "",
        "claim_diagnostic": diagnosis.claim_diagnostic if diagnosis else "",
        "runtime_retrieval_status": signals.get("runtime_retrieval_status"),
        "prediction_confidence": output.confidence if output else None,
        "abstained": output.abstained if output else None,
        "expected_answerable": result.artifacts.get("expected_answerable", case.answerable),
        "has_gold": bool(case.gold_answer or case.gold_codes or case.qrels),
        "latency_ms": output.latency_ms if output else None,
        "llm_call_count": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": usage.cost_usd,
        "judge_cost_usd": judge_cost,
        **{f"stage_{stage}_ms": value for stage, value in (output.stages if output else {}).items()},
        **{k: v for k, v in result.scores.items() if k not in _RESERVED},
    }


_RESERVED = {"latency_ms", "cost_usd", "prediction_confidence", "auto_correct", "abstained"}
