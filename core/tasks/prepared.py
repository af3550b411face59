"""Prepared results: predictions or answers that are already there. Codes are scored as a classification, texts as
answers. A file of several models is one run each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from core.contracts import ScoringContext, System
from core.errors import ConfigError, Problem
from core.evaluation.document_answers import DocumentAnswers
from core.inputs.catalog import LoadedCatalog, load_catalog
from core.inputs.codes import CodeForm
from core.inputs.table_files import read_table
from core.inputs.workbook import PreparedSet, load_prepared
from core.records import Case, Hit, Output, Run, digest
from core.retrieval.stages import Stages
from core.settings import RunSettings
from core.store.export import write_csv
from core.store.runs import Store
from core.systems.replay import Replay
from core.task import Task
from core.tasks.classification import Parts, classification_again, classification_task


def prepared_rag_results(settings: RunSettings, stages: Stages) -> Task:
    """One set of a prepared file: the one `prepared_model` names, else the only one."""
    sets, loaded = _sets(settings, stages)
    return _task(settings, _chosen(sets, settings.prepared_model), loaded)


def prepared_models(settings: RunSettings, stages: Stages) -> list[tuple[str, int]]:
    """(name, repeats) of the sets of a prepared file, in order: one run each."""
    return [
        (each.name, 1 + max((output.repeat for output in each.outputs), default=0))
        for each in _sets(settings, stages)[0]
    ]


def prepared_again(run: Run, settings: RunSettings, store: Store, stages: Stages, system: System) -> Task:
    """The task of a stored run, from the cases the store keeps."""
    cases = store.cases(run.id)
    if is_classification(cases, store.outputs(run.id)):
        return classification_again(run, settings, store, stages, system)
    answered = _answered(store.iter_outputs(run.id))
    return _answers(settings, cases, system, run.suite, run.suite_digest, (), dict(run.digests), answered)


def is_classification(cases: Sequence[Case], outputs: Sequence[Output]) -> bool:
    """Whether codes are predicted: some case has gold codes, or nothing but ranked labels is there. Rankings with
    judgements are documents found."""
    if any(case.gold_codes for case in cases):
        return True
    if any(case.qrels for case in cases):
        return False
    return not any(output.text for output in outputs) and not any(case.gold_answer for case in cases)


def _sets(settings: RunSettings, stages: Stages) -> tuple[list[PreparedSet], LoadedCatalog | None]:
    loaded = None
    if settings.cpv_catalog:
        path, scheme = settings.cpv_catalog, settings.hierarchy_scheme
        loaded = stages.shared(("catalog", path, scheme), lambda: load_catalog(path, scheme=scheme))
    width = loaded.catalog.width if loaded else None
    path = settings.prepared_results or ""
    mapping = dict(settings.column_map)
    key = ("prepared", path, Path(path).stat().st_mtime_ns, digest(mapping), width)
    return stages.shared(key, lambda: load_prepared(path, mapping, width=width)), loaded


def _chosen(sets: Sequence[PreparedSet], wanted: str | None) -> PreparedSet:
    if wanted is None:
        return sets[0]
    for each in sets:
        if each.name == wanted or each.name.endswith(f" {wanted}"):
            return each
    known = ", ".join(each.name for each in sets)
    raise ConfigError(
        "the prepared file has no such set", [Problem("prepared_model", wanted, hint=f"known: {known}")]
    )


def _task(settings: RunSettings, chosen: PreparedSet, loaded: LoadedCatalog | None) -> Task:
    form = loaded.form if loaded else CodeForm(None)
    coded = is_classification(chosen.cases, chosen.outputs)
    cases = [_with_codes(case, form) for case in chosen.cases] if coded else list(chosen.cases)
    outputs = [_read_hits(output, form) for output in chosen.outputs] if coded else list(chosen.outputs)
    cases = cases[: settings.limit]
    wanted = {case.id for case in cases}
    system = Replay(output for output in outputs if output.case_id in wanted)
    suite = settings.suite or Path(settings.prepared_results or "").stem
    # the questions and their gold make the suite: two models of one file can be compared
    suite_digest = digest([case.model_dump(mode="json", exclude={"order"}) for case in cases])
    digests = {"questions": suite_digest, "prepared": chosen.digest}
    notices = [*chosen.notices, *form.notices("prepared codes")]
    notices += _unknown_gold(cases, loaded) if coded else []
    if not coded:
        answered = _answered(outputs)
        return _answers(settings, cases, system, suite, suite_digest, notices, digests, answered)
    catalog = loaded.catalog if loaded else None
    depth = max((len(output.hits) for output in outputs), default=0)
    retrieved = max((len(output.retrieved or output.hits) for output in outputs), default=0)
    task = classification_task(
        Parts(
            "prepared_rag_results",
            settings,
            catalog,
            cases,
            suite,
            suite_digest,
            system,
            notices=[*((loaded.notices) if loaded else ()), *notices],
            digests=digests | ({"catalog": catalog.digest} if catalog else {}),
            more={
                "prepared_results": {
                    "source_path": settings.prepared_results,
                    "set": chosen.name,
                    "effective_predicted_top_k": min(settings.top_k, depth),
                    "retrieved_depth": retrieved,
                }
            },
        )
    )
    return _with_source(task, settings)


def _answered(outputs: Iterable[Output]) -> bool:
    """Whether answers are there to judge; a run with rankings and no text at all is one of a retriever."""
    ranked = False
    for output in outputs:
        if output.text or output.failure is not None:
            return True
        ranked = ranked or bool(output.hits)
    return not ranked


def _answers(
    settings: RunSettings,
    cases: Sequence[Case],
    system: System,
    suite: str,
    suite_digest: str,
    notices: Sequence[str],
    digests: Mapping[str, str],
    answered: bool,
) -> Task:
    task = Task(
        kind="prepared_rag_results",
        suite=suite,
        suite_digest=suite_digest,
        cases=cases,
        system=system,
        evaluate=DocumentAnswers(answers=answered).evaluate,
        context=ScoringContext(top_k=settings.top_k, settings=settings.model_dump(mode="json")),
        digests=dict(digests),
        notices=tuple(notices),
        extra_summary={"chunking_strategy": "prepared_results"},
    )
    return _with_source(task, settings)


def _with_source(task: Task, settings: RunSettings) -> Task:
    path = Path(settings.prepared_results or "")

    def write(target: Path) -> None:
        table = read_table(path)
        write_csv(
            target,
            [*table.columns, "_line"],
            ([*row, line] for row, line in zip(table.rows, table.lines, strict=True)),
        )

    if not path.is_file():
        return task
    return replace(task, artifacts={**task.artifacts, "prepared_source_rows.csv": write})


def _with_codes(case: Case, form: CodeForm) -> Case:
    return case.model_copy(update={"gold_codes": tuple(dict.fromkeys(map(form.read, case.gold_codes)))})


def _read_hits(output: Output, form: CodeForm) -> Output:
    """Codes as the list writes them; a code that comes again counts at its best place."""
    kept: dict[str, Hit] = {}
    for hit in sorted(output.hits, key=lambda each: each.rank):
        code = form.read(hit.id)
        kept.setdefault(code, hit.model_copy(update={"id": code, "rank": len(kept) + 1}))
    return output.model_copy(update={"hits": tuple(kept.values())})


def _unknown_gold(cases: Sequence[Case], loaded: LoadedCatalog | None) -> list[str]:
    if loaded is None:
        return []
    unknown = [case.id for case in cases if case.gold_codes and case.gold_codes[0] not in loaded.catalog]
    shown = ", ".join(unknown[:5])
    return [f"{len(unknown)} gold code(s) are not in the code list (cases {shown}…)"] if unknown else []
