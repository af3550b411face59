"""Classifiers: a code list and queries → the local ranker (`ted_cpv`) or a service (`api_classifier`) under test.

Tables kept with the run: `per_class`, `class_tree`, `class_paths`, `confusion_code`, `confusion_<level>`, `reliability`, `risk_coverage`,
`by_language`, `by_division`, `leakage_report`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from core.contracts import ScoringContext, System
from core.corpus import Catalog
from core.errors import ConfigError, Problem
from core.evaluation.classification import Classification, tree_of
from core.inputs.catalog import CATALOG_VERSION, LoadedCatalog, load_catalog
from core.inputs.classification_queries import load_cpv_queries
from core.inputs.codes import CodeForm
from core.inputs.notices import read_notices
from core.inputs.training_texts import is_usable
from core.llm.usage import Budget
from core.metrics.code_tree import CodeTree
from core.records import Case, Output, Result, Run, digest
from core.retrieval.stages import Stages
from core.settings import RunSettings
from core.store.runs import Store
from core.systems.catalog_classifier import CatalogClassifier
from core.systems.catalog_texts import Example
from core.systems.classifier_api import ClassifierApi, remark_lines
from core.systems.code_rerank import CrossEncoderReranker, LlmQueryWriter, LlmReranker, open_door
from core.systems.http_retry import Retry
from core.task import Task
from core.tasks.class_reports import Classified, next_steps
from core.tasks.leakage import Leakage, without_own

METRICS_VERSION = "classification-1"
_ENV = re.compile(r"\$\{(\w+)\}")
LABELS = {
    "ted_cpv": "local ranker over the code list",
    "api_classifier": "classifier service",
    "prepared_rag_results": "prepared results",
}


@dataclass(slots=True)
class Parts:
    """What a classification task is made of, whatever gives the outputs."""

    kind: str
    settings: RunSettings
    catalog: Catalog | None
    cases: Sequence[Case]
    suite: str
    suite_digest: str
    system: System
    examples: Sequence[Example] = ()
    excluded: Mapping[str, int] = field(default_factory=dict)
    notices: Sequence[str] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)


def ted_cpv(settings: RunSettings, stages: Stages) -> Task:
    """The local ranker. Raises InputError and ConfigError before anything is asked."""
    loaded = _catalog(settings, stages)
    queries = load_cpv_queries(settings.cpv_queries or "", loaded.form, query_text=settings.cpv_query_text)
    cases = queries.cases[: settings.limit]
    examples, excluded, said = _examples(settings, loaded.catalog, cases)
    door = None
    if settings.llm_rerank or settings.query_augmentation != "none":
        which = "llm_rerank" if settings.llm_rerank else "query_augmentation"
        budget = Budget(settings.max_cost) if settings.max_cost else None
        door = open_door(Path(settings.cache_dir), setting=which, budget=budget)
    system = CatalogClassifier(
        settings,
        loaded.catalog,
        stages,
        examples=examples,
        expected=cases,
        cross_encoder=CrossEncoderReranker(settings.cross_encoder_model)
        if settings.cross_encoder_rerank
        else None,
        llm=LlmReranker(door, settings.llm_model, settings.llm_rerank_weight)
        if door and settings.llm_rerank
        else None,
        writer=LlmQueryWriter(door, settings.llm_model)
        if door and settings.query_augmentation != "none"
        else None,
    )
    used = examples if settings.cpv_use_examples or settings.cpv_notice_examples_channel else ()
    return classification_task(
        Parts(
            "ted_cpv",
            settings,
            loaded.catalog,
            cases,
            settings.suite or queries.suite,
            _limited(queries.digest, settings.limit),
            system,
            used,
            excluded,
            (*loaded.notices, *queries.notices, *said),
            {
                "questions": queries.digest,
                "catalog": loaded.catalog.digest,
                "examples": digest([(e.code, e.text) for e in used]),
            },
        )
    )


def api_classifier(settings: RunSettings, stages: Stages) -> Task:
    """A service. The code list is optional: without it unknown codes cannot be told and nDCG has no ideal."""
    loaded = _catalog(settings, stages) if settings.cpv_catalog else None
    queries = load_cpv_queries(
        settings.cpv_queries or "", loaded.form if loaded else CodeForm(), query_text=settings.cpv_query_text
    )
    cases = queries.cases[: settings.limit]
    catalog = loaded.catalog if loaded else None
    system = ClassifierApi(
        settings.api_classifier_url or "",
        top_k=settings.top_k,
        catalog=catalog,
        token=os.environ.get(settings.api_auth_token_env),
        headers=_headers(settings.api_extra_headers),
        timeout_s=settings.api_timeout_seconds,
        retry=Retry(attempts=settings.api_retries + 1),
        concurrency=settings.concurrency or 8,
    )
    return classification_task(
        Parts(
            "api_classifier",
            settings,
            catalog,
            cases,
            settings.suite or queries.suite,
            _limited(queries.digest, settings.limit),
            system,
            notices=(*(loaded.notices if loaded else ()), *queries.notices),
            digests={"questions": queries.digest, **({"catalog": catalog.digest} if catalog else {})},
        )
    )


def classification_again(
    run: Run, settings: RunSettings, store: Store, stages: Stages, system: System
) -> Task:
    """The task of a stored run: its cases from the store, its code list read again."""
    loaded = _catalog(settings, stages) if settings.cpv_catalog else None
    catalog = loaded.catalog if loaded else None
    cases = store.cases(run.id)
    examples: Sequence[Example] = ()
    excluded: Mapping[str, int] = {}
    if catalog is not None and (settings.cpv_use_examples or settings.cpv_notice_examples_channel):
        examples, excluded, _ = _examples(settings, catalog, cases)
    digests = {**run.digests, **({"catalog": catalog.digest} if catalog else {})}
    return classification_task(
        Parts(
            run.kind,
            settings,
            catalog,
            cases,
            run.suite,
            run.suite_digest,
            system,
            examples,
            excluded,
            (),
            digests,
        )
    )


def classification_task(parts: Parts) -> Task:
    """A task from its parts: evaluator, conclusions, tables, leakage report."""
    report = _Conclusion(parts)
    return Task(
        kind=parts.kind,
        suite=parts.suite,
        suite_digest=parts.suite_digest,
        cases=parts.cases,
        system=parts.system,
        evaluate=Classification().evaluate,
        context=report.context,
        digests=dict(parts.digests),
        versions={"catalog": CATALOG_VERSION, "metrics_version": METRICS_VERSION},
        artifacts={"leakage_report.csv": report.leakage.write},
        notices=tuple(parts.notices),
        extra_summary=dict(parts.more),
        conclude=report.conclude,
        tables=report.tables,
    )


class _Conclusion:
    """Summary and tables of a classification run."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.leakage = Leakage(parts.cases, parts.examples, parts.catalog, excluded=parts.excluded)
        self.context = ScoringContext(
            catalog=parts.catalog, top_k=parts.settings.top_k, settings=parts.settings.model_dump(mode="json")
        )

    @cached_property
    def tree(self) -> CodeTree:
        return tree_of(self.context)[0]

    def classified(
        self, cases: Sequence[Case], outputs: Sequence[Output], results: Sequence[Result]
    ) -> Classified:
        return Classified(cases, outputs, results, self.tree, self.parts.settings.top_k)

    def tables(
        self, cases: Sequence[Case], outputs: Sequence[Output], results: Sequence[Result]
    ) -> dict[str, list[dict[str, Any]]]:
        found = self.classified(cases, outputs, results).tables(seed=self.parts.settings.seed)
        found["leakage_report"] = [finding.row() for finding in self.leakage.findings]
        return {name: rows for name, rows in found.items() if rows}

    def conclude(
        self, cases: Sequence[Case], outputs: Sequence[Output], results: Sequence[Result]
    ) -> dict[str, Any]:
        settings, parts = self.parts.settings, self.parts
        all_ = self.classified(cases, outputs, results)
        leakage = self.leakage.summary(all_.worst)
        diagnostics = all_.diagnostics()
        calibration = all_.calibration(high=settings.high_confidence, seed=settings.seed)
        classifier = {
            "type": parts.kind,
            "label": LABELS[parts.kind],
            "use_examples": bool(parts.examples),
            "retrieval_channel_mode": "catalogue+examples"
            if settings.cpv_notice_examples_channel
            else "catalogue",
            "avg_top1_top2_margin": diagnostics["mean_score_margin_top1_top2"],
            "explanation_coverage": _share(bool(output.explanation) for output in outputs),
            "calibration": calibration["prediction_confidence"],
            "cpv_diagnostics": diagnostics,
            "self_hit_leakage": dict(parts.excluded),
            "input_contract": {
                "n_queries": len(cases),
                "n_codes": len(parts.catalog) if parts.catalog else None,
                "hierarchy_scheme": self.tree.scheme,
                "level_names": [name for name, _ in self.tree.levels],
                "note": "the names do not match the official CPV levels"
                if self.tree.scheme == "two_digit_steps"
                else "",
            },
            "recommended_next_steps": next_steps(diagnostics, leakage),
            **self._contract(outputs),
        }
        known = [output.latency_ms for output in outputs if output.latency_ms is not None]
        classifier["mean_latency_ms"] = sum(known) / len(known) if known else None
        return {
            "chunking_strategy": {"ted_cpv": "cpv_profile_db"}.get(parts.kind, parts.kind),
            "classifier": classifier,
            "classes": all_.classes(),
            "calibration": calibration,
            "leakage": leakage,
        }

    def _contract(self, outputs: Sequence[Output]) -> dict[str, Any]:
        """What a service was sent and what its replies did not do as they should."""
        if self.parts.kind != "api_classifier":
            return {}
        remarks: dict[str, int] = {}
        for output in outputs:
            for name, count in output.signals.get("response_remarks", {}).items():
                remarks[name] = remarks.get(name, 0) + count
        return {
            "request_contract": {"method": "POST", "fields": ["id", "query", "top_k"]},
            "response_contract": {
                "n_replies": sum(output.failure is None for output in outputs),
                "n_failed": sum(output.failure is not None for output in outputs),
                "n_retries": sum(
                    output.retries + (output.failure.retries if output.failure else 0) for output in outputs
                ),
                "n_empty": sum(output.failure is None and not output.hits for output in outputs),
                "remarks": remarks,
                "in_words": remark_lines(remarks),
            },
        }


# --- inputs ---------------------------------------------------------------------------------------------------


def _catalog(settings: RunSettings, stages: Stages) -> LoadedCatalog:
    path, scheme = settings.cpv_catalog or "", settings.hierarchy_scheme
    stamp = Path(path).stat().st_mtime_ns if Path(path).exists() else 0
    return stages.shared(("catalog", path, stamp, scheme), lambda: load_catalog(path, scheme=scheme))


def _examples(
    settings: RunSettings, catalog: Catalog, cases: Sequence[Case]
) -> tuple[tuple[Example, ...], dict[str, int], list[str]]:
    """Training texts of the code list and of the notices; the test's own are taken out unless that is disabled."""
    found = [Example(code.code, text) for code in catalog.codes for text in code.examples]
    said: list[str] = []
    if settings.cpv_notices:
        notices, said = read_notices(settings.cpv_notices)
        known = [notice for notice in notices if notice.code in catalog]
        found += [
            Example(notice.code, notice.full_text, notice.number, notice.language)
            for notice in known
            if is_usable(notice.full_text)
        ]
        if len(known) < len(notices):
            said.append(f"{len(notices) - len(known)} notice(s) carry a code that is not in the code list")
    if settings.disable_self_exclusion:
        return tuple(found), {}, [*said, "self-exclusion is off: a query may find its own notice"]
    kept, excluded = without_own(found, cases)
    if excluded:
        said.append(f"{sum(excluded.values())} training text(s) of the test's own notices were left out")
    return kept, excluded, said


def _headers(given: Mapping[str, str]) -> dict[str, str]:
    """Header values with `${ENV}` filled in; ConfigError for a variable that is not set (its name only)."""
    missing: list[str] = []

    def fill(match: re.Match[str]) -> str:
        value = os.environ.get(match[1])
        if value is None:
            missing.append(match[1])
        return value or ""

    filled = {name: _ENV.sub(fill, value) for name, value in given.items()}
    if missing:
        raise ConfigError(
            "a header names an environment variable that is not set",
            [Problem("api_extra_headers", f"${{{name}}}") for name in dict.fromkeys(missing)],
        )
    return filled


def _limited(of_file: str, limit: int | None) -> str:
    return of_file if limit is None else digest([of_file, limit])


def _share(flags: Any) -> float | None:
    known = list(flags)
    return sum(known) / len(known) if known else None
