"""An audit: behavioural tests over an agent, as a task of the pipeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.audit.asking import NO_PLANTING, AuditSystem
from core.audit.conclusions import conclude_tests
from core.audit.config import AuditConfig, RunConfig
from core.audit.custom import CUSTOM, CustomEvaluation
from core.audit.judging import about_judge, judge_digest, open_judge
from core.audit.proposing import Proposing
from core.audit.reading import load_audit
from core.audit.targets import Audited, open_target
from core.config_files import Source, validate
from core.contracts import EVALUATORS, Judge, ScoringContext, System, Target
from core.corpus import Document
from core.errors import ConfigError, Problem, nearest
from core.evaluation.audit import AuditEvaluator, AuditScoring
from core.evaluation.citation_audit import CitationAudit
from core.evaluation.edge_cases import EdgeCases
from core.evaluation.rag_quality import RagQuality
from core.evaluation.shapes import CustomSpec, TestSpec
from core.evaluation.tool_coverage import ToolCoverage
from core.evaluation.write_safety import WriteSafety
from core.records import Case, Run, digest
from core.store.runs import Store
from core.systems.credentials import NONE, WRONG
from core.task import Task

Conclude = Callable[..., dict[str, Any]]
KEPT_CHARACTERS = 20_000_000

_EVALUATORS: dict[str, Any] = {
    "tool_coverage": ToolCoverage,
    "rag_quality": RagQuality,
    "citation_audit": CitationAudit,
    "edge_cases": EdgeCases,
    "write_safety": WriteSafety,
}


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """A checked audit before anything is called. `settings` is the configuration as it is kept with the run: values
    of headers and tokens are not in it."""

    config: AuditConfig
    task: Task
    tests: tuple[TestSpec, ...]
    judge: Judge | None
    settings: dict[str, Any]
    conclude: Conclude

    @property
    def notices(self) -> tuple[str, ...]:
        return self.task.notices

    def restricted(self, case_ids: Collection[str]) -> AuditPlan:
        """The same audit with these cases alone, and the tests they belong to: a suite of its own."""
        cases = [case for case in self.task.cases if case.id in case_ids]
        named = {case.test for case in cases}
        tests = tuple(test for test in self.tests if test.name in named)
        left_out = f"{len(cases)} of {len(self.task.cases)} cases are asked"
        task = replace(
            self.task,
            cases=cases,
            suite_digest=digest([self.task.suite_digest, sorted(case_ids)]),
            notices=(*self.task.notices, left_out),
            conclude=lambda *records: self.conclude(tests, *records),
        )
        return replace(self, task=task, tests=tests)


def plan_audit(
    source: str | Path | Mapping[str, Any],
    *,
    no_judge: bool = False,
    require_judge: bool = False,
    judge_cache: str | None = None,
    only: Sequence[str] = (),
    max_cost: float | None = None,
    cache_dir: Path = Path(".plumbline/cache"),
    **run: Any,
) -> AuditPlan:
    """Read, check and build everything. ConfigError before anything is asked. `run` replaces keys of the `run:` block
    (`timeout_s`, `concurrency`, `repeats`…) where they are not None."""
    loaded = load_audit(source)
    config = _with_run(loaded.config, run)
    tests = _chosen(config.tests, only)
    judge, said = open_judge(config, no_judge, require_judge, judge_cache, max_cost, cache_dir)
    audited = open_target(config, cache_dir)
    system = AuditSystem(audited, judge, config, {test.name: test for test in tests}, loaded.secrets)
    evaluators = {test.name: _evaluator(test, _scoring(config)) for test in tests}
    cases = _proposed(tests, evaluators, audited)
    notices = (*loaded.notices, *said, *_unaskable(cases, audited))
    settings = {"classifier_type": "audit", **loaded.written}
    return _planned(
        config, loaded.name, tests, evaluators, cases, system, audited.target, judge, notices, settings
    )


def audit_again(run: Run, store: Store, system: System, **options: Any) -> AuditPlan:
    """The audit of a stored run with another source of outputs (its own stored ones): the cases come from the store,
    the system is neither built nor asked. Citations resolve against the documents kept with the run."""
    written = {key: value for key, value in run.settings.items() if key not in ("classifier_type", "adapter")}
    loaded = load_audit({**written, "adapter": {"type": "http", "endpoint": "http://stored.invalid"}})
    config, cases = loaded.config, store.cases(run.id)
    named = {case.test for case in cases}
    tests = [test for test in config.tests if test.name in named]
    judge, said = open_judge(config, **{**_NO_OPTIONS, **options})
    documents = store.documents(run.id)
    corpus = {each.doc_path: each.text for each in documents} if run.summary.get("corpus_kept") else None
    target = Target(corpus=corpus)
    evaluators = {test.name: _evaluator(test, _scoring(config)) for test in tests}
    plan = _planned(
        config, run.suite, tests, evaluators, cases, system, target, judge, tuple(said), run.settings
    )
    return replace(plan, task=replace(plan.task, suite_digest=run.suite_digest))


_NO_OPTIONS: dict[str, Any] = {
    "no_judge": False,
    "require_judge": False,
    "judge_cache": None,
    "max_cost": None,
    "cache_dir": Path(".plumbline/cache"),
}


def _planned(
    config: AuditConfig,
    name: str,
    tests: Sequence[TestSpec],
    evaluators: Mapping[str, AuditEvaluator],
    cases: Sequence[Case],
    system: System,
    target: Target,
    judge: Judge | None,
    notices: tuple[str, ...],
    settings: dict[str, Any],
) -> AuditPlan:
    described = [_described(test) for test in tests]
    documents = _kept(target.corpus)

    def conclude(chosen: Sequence[TestSpec], *records: Any) -> dict[str, Any]:
        return {
            **conclude_tests(chosen, evaluators, *records),
            **about_judge(judge, records[-1]),
            "corpus_kept": documents is not None,
        }

    task = Task(
        kind="audit",
        suite=name,
        suite_digest=digest(described),
        cases=cases,
        system=system,
        evaluate=lambda case, output, context: evaluators[case.test].evaluate(case, output, context),
        context=ScoringContext(judge=judge, settings={"corpus": target.corpus}),
        digests={
            "questions": digest(described),
            "thresholds": digest(config.thresholds),
            **judge_digest(judge),
        },
        documents=documents,
        notices=notices,
        conclude=lambda *records: conclude(tests, *records),
        concurrency=system.concurrency,
        judge_concurrency=judge.concurrency if judge is not None else 1,
    )
    return AuditPlan(config, task, tuple(tests), judge, settings, conclude)


def _described(test: TestSpec) -> dict[str, Any]:
    """The test for the digest of the suite. A key that came later counts only where it is used: the digests of
    stored runs stay comparable."""
    written = test.model_dump(mode="json")
    return written if test.only_cases else {key: v for key, v in written.items() if key != "only_cases"}


def _kept(corpus: Mapping[str, str] | None) -> list[Document] | None:
    """The corpus as documents to keep with the run, so that it can be scored again without the system; None for
    one that is too large to keep."""
    if corpus is None or sum(map(len, corpus.values())) > KEPT_CHARACTERS:
        return None
    return [
        Document(doc_path=name, text=text, digest=digest(text), title=name)
        for name, text in sorted(corpus.items())
    ]


def _with_run(config: AuditConfig, changes: Mapping[str, Any]) -> AuditConfig:
    given = {name: value for name, value in changes.items() if value is not None}
    if not given:
        return config
    run = validate(RunConfig, config.run.model_dump() | given, Source("options", {}, {}))
    return config.model_copy(update={"run": run})


def _proposed(
    tests: Sequence[TestSpec], evaluators: Mapping[str, AuditEvaluator], audited: Audited
) -> list[Case]:
    """Cases in config order."""
    found = [case for test in tests for case in _wanted(test, evaluators[test.name].propose(audited.target))]
    twice = sorted(name for name, n in Counter(case.id for case in found).items() if n > 1)
    if twice:
        raise ConfigError(f"cases are named twice: {', '.join(twice)}; give the tests other names")
    return [case.model_copy(update={"order": order}) for order, case in enumerate(found)]


def _wanted(test: TestSpec, cases: Sequence[Case]) -> Sequence[Case]:
    if not test.only_cases:
        return cases
    named = {case.id.removeprefix(f"{test.name}/"): case for case in cases}
    unknown = [name for name in test.only_cases if name not in named]
    if unknown:
        raise ConfigError(
            f"test '{test.name}': only_cases names cases that do not exist",
            [Problem("only_cases", f"no case '{name}'{nearest(name, named)}") for name in unknown],
        )
    return [case for name, case in named.items() if name in test.only_cases]


def _evaluator(test: TestSpec, scoring: AuditScoring) -> AuditEvaluator:
    if isinstance(test, CustomSpec) and test.evaluator in CUSTOM:
        return CustomEvaluation(test.name, test.evaluator)
    if isinstance(test, CustomSpec):
        return Proposing(test.name, EVALUATORS.create({"type": test.evaluator, **test.parameters()}))
    built: AuditEvaluator = _EVALUATORS[test.evaluator](test, scoring)
    return built


def _scoring(config: AuditConfig) -> AuditScoring:
    t = config.thresholds
    return replace(
        AuditScoring(locale=config.locale, citation_pattern=config.citation_pattern),
        thresholds={
            "faithfulness": (t.faithfulness_pass, t.faithfulness_weak),
            "relevance": (t.relevance_pass, t.relevance_weak),
            "citation_support": (t.citation_support_pass, t.citation_support_weak),
        },
    )


def _chosen(tests: Sequence[TestSpec], only: Sequence[str]) -> list[TestSpec]:
    names = [test.name for test in tests]
    unknown = [name for name in only if name not in names]
    if unknown:
        raise ConfigError(
            "--only names tests that do not exist",
            [Problem("--only", f"no test '{name}'{nearest(name, names)}") for name in unknown],
        )
    return [test for test in tests if not only or test.name in only]


def _unaskable(cases: Sequence[Case], audited: Audited) -> list[str]:
    """Probes that cannot be set up, known before anything is asked: they will be ERROR."""
    notices = []
    takes, profiles = (audited.target.settings.get(key) for key in ("takes", "profiles"))
    for case in cases:
        if case.options.get("plant") and not audited.target.can_plant:
            notices.append(f"{case.id}: cannot plant: {NO_PLANTING}; the case will be ERROR")
        wanted = case.options.get("credentials")
        if wanted is not None and takes is not None and "credentials" not in takes:
            notices.append(f"{case.id}: the adapter's query takes no credentials=; the case will be ERROR")
        if wanted is not None and profiles is not None and wanted not in (*profiles, NONE, WRONG):
            notices.append(f"{case.id}: no header profile '{wanted}' is declared; the case will be ERROR")
    return notices
