"""The flow in one screen: load → ask → score → verdict → attribute → store.

`run` builds a task from settings and executes it; `execute` runs any task. Outputs are stored as they arrive
and scored from what was stored, so a killed run resumes without asking anything twice.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, as_completed, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core import provenance
from core.continuing import interrupted, refuse_mixing
from core.contracts import BatchSystem, System
from core.errors import StoreError, SystemFailure
from core.evaluation.summary import aggregate, detectable, summarise
from core.records import Case, Failure, Output, Result, Run, Verdict
from core.retrieval.stages import Stages
from core.settings import RunSettings
from core.store.export import write_run_folder
from core.store.export.published import joined
from core.store.runs import Store
from core.sweep_attribution import attribute_run
from core.sweep_files import artifacts as attribution_files
from core.sweep_files import store_attribution
from core.task import Task, merged
from core.tasks import TASKS, each_run

BATCH = 32
FLUSH_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Progress:
    """What `on_event` is told: `done` of `total` outputs, verdict counts so far, what is going on."""

    run_id: str
    done: int
    total: int
    verdicts: Mapping[str, int]
    message: str = ""
    cost_usd: float | None = 0.0


@dataclass(slots=True)
class Options:
    """How to run a task; nothing here changes its result (repeats and seed apart)."""

    name: str = ""
    output_dir: str | Path = "outputs"
    seed: int = 0
    repeats: int = 1
    concurrency: int | None = None
    sweep_id: str | None = None
    parent_id: str | None = None
    job_id: str | None = None
    resume: str | None = None
    retry_errors: str | None = None
    only_cases: frozenset[str] | None = None
    folder: Path | None = None
    common: Path | None = None
    stop: Callable[[], bool] | None = None
    rehearse: bool = False
    on_event: Callable[[Progress], None] | None = None
    settings: dict[str, Any] = field(default_factory=dict)


def run(
    settings: RunSettings, *, store: Store | None = None, stages: Stages | None = None, **options: Any
) -> Run:
    """Run one configuration and return the sealed run (or the cancelled one). Nothing starts unless the whole
    configuration is valid (ConfigError, InputError). A prepared file of several models is one run each; the last
    one is returned."""
    return run_each(settings, store=store, stages=stages, **options)[-1]


def run_each(
    settings: RunSettings, *, store: Store | None = None, stages: Stages | None = None, **options: Any
) -> list[Run]:
    """`run`, with the runs of all models of a prepared file, in its order."""
    stages = stages or Stages(Path(settings.cache_dir))
    store = store or Store(store_path(settings))
    tasks = [(each, TASKS[each.classifier_type](each, stages)) for each in each_run(settings, stages)]
    return [execute(task, store, _options(each, options)) for each, task in tasks]


def _options(settings: RunSettings, given: Mapping[str, Any]) -> Options:
    chosen = Options(
        name=settings.run_name or "",
        output_dir=settings.output_dir,
        seed=settings.seed,
        repeats=settings.repeats,
        concurrency=settings.concurrency,
        settings=settings.model_dump(mode="json"),
    )
    for name, value in given.items():
        setattr(chosen, name, value)
    return chosen


def store_path(settings: RunSettings) -> Path:
    """The run store that belongs to these settings."""
    return Path(settings.store_path or Path(settings.output_dir) / "plumbline.db")


def execute(task: Task, store: Store, options: Options) -> Run:
    """Ask what is missing, score what is stored, seal, export."""
    started = time.perf_counter()
    try:
        current = _open_run(task, store, options)
        recorder = _Recorder(task, store, current, options)
        if options.job_id:
            store.start_job(options.job_id, current.id, recorder.total)
        recorder.score_stored()
        missing = recorder.missing()
        if options.rehearse and hasattr(task.system, "rehearse"):
            task.system.rehearse([case for case, repeat in missing if repeat == 0])
        for output in _ask(task, missing, options):
            recorder.add(output)
            if recorder.cancelled():
                store.set_status(current.id, "cancelled")
                return store.run(current.id)
        recorder.finish()
        return _seal(task, store, current, options, time.perf_counter() - started)
    finally:
        task.system.close()


# --- opening --------------------------------------------------------------------------------------------------


def _open_run(task: Task, store: Store, options: Options) -> Run:
    wanted = options.resume or options.retry_errors
    if not wanted:
        return _new_run(task, store, options)
    earlier = interrupted(task, store) if options.resume == "latest" else store.run(wanted)
    refuse_mixing(earlier, task, options.settings)
    if earlier.status != "sealed":
        store.set_status(earlier.id, "running")
        return earlier
    if options.resume:
        raise StoreError(f"run {earlier.id} is complete and sealed: nothing is left to resume")
    options.parent_id = earlier.id
    fresh = _new_run(task, store, options)
    store.add_outputs(fresh.id, [output for output in store.outputs(earlier.id) if output.failure is None])
    return fresh


def _new_run(task: Task, store: Store, options: Options) -> Run:
    now = datetime.now(UTC)
    current = Run(
        id=provenance.new_id(now),
        name=options.name or f"{task.suite}-{now:%Y%m%d-%H%M%S}",
        kind=task.kind,
        suite=task.suite,
        suite_digest=task.suite_digest,
        created_at=now.isoformat(timespec="milliseconds"),
        settings=options.settings,
        digests=dict(task.digests),
        versions={**provenance.versions(), **task.versions},
        git_revision=provenance.git_revision(),
        seed=options.seed,
        parent_id=options.parent_id,
        sweep_id=options.sweep_id,
        n_cases=len(task.cases),
        repeats=options.repeats,
    )
    store.create_run(current, task.cases)
    if task.documents is not None:
        store.add_documents(current.id, task.documents, task.reports)
    return current


# --- asking ---------------------------------------------------------------------------------------------------


def _ask(task: Task, missing: Sequence[tuple[Case, int]], options: Options) -> Iterator[Output]:
    """Outputs in the order they arrive; whatever goes wrong with a case is an Output with its failure."""
    if isinstance(task.system, BatchSystem):
        for start in range(0, len(missing), BATCH):
            yield from _ask_batch(task.system, missing[start : start + BATCH])
        return
    width = options.concurrency or task.concurrency or task.system.concurrency
    if width <= 1:
        for case, repeat in missing:
            yield _ask_one(task.system, case, repeat)
        return
    with ThreadPoolExecutor(max_workers=width, thread_name_prefix="ask") as pool:
        futures: list[Future[Output]] = [pool.submit(_ask_one, task.system, *each) for each in missing]
        detectable(len(task.cases))  # what sealing loads takes a while, and now nobody waits for it
        if task.kind != "audit":
            import pandas  # noqa: F401 - attribution is made of it
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()


def _ask_batch(system: BatchSystem, batch: Sequence[tuple[Case, int]]) -> Iterator[Output]:
    by_repeat: dict[int, list[Case]] = {}
    for case, repeat in batch:
        by_repeat.setdefault(repeat, []).append(case)
    for repeat, cases in by_repeat.items():
        left = {case.id: case for case in cases}
        try:
            for output in system.ask_many(cases):
                left.pop(output.case_id, None)
                yield _stamped(output, repeat)
        except Exception as error:  # noqa: BLE001 - whatever a system raises belongs to the cases it left open
            for case in left.values():
                yield _failed(case, repeat, error)


def _ask_one(system: System, case: Case, repeat: int) -> Output:
    begun = time.perf_counter()
    try:
        output = system.ask(case)
    except Exception as error:  # noqa: BLE001 - a system may raise anything: it costs this case only
        return _failed(case, repeat, error, (time.perf_counter() - begun) * 1000)
    latency = output.latency_ms if output.latency_ms is not None else (time.perf_counter() - begun) * 1000
    return _stamped(output.model_copy(update={"latency_ms": latency}), repeat)


def _stamped(output: Output, repeat: int) -> Output:
    asked = output.asked_at or datetime.now(UTC).isoformat(timespec="milliseconds")
    return output.model_copy(update={"repeat": repeat, "asked_at": asked})


def _failed(case: Case, repeat: int, error: Exception, latency_ms: float | None = None) -> Output:
    known = isinstance(error, SystemFailure)
    failure = Failure(
        where="system",
        kind=error.kind if isinstance(error, SystemFailure) else "exception",
        message=str(error) if known else f"{type(error).__name__}: {error}",
        retries=error.retries if isinstance(error, SystemFailure) else 0,
        status=error.status if isinstance(error, SystemFailure) else None,
    )
    return _stamped(Output(case_id=case.id, failure=failure, latency_ms=latency_ms), repeat)


# --- scoring --------------------------------------------------------------------------------------------------


class _Recorder:
    """Stores outputs and their results in small batches and tells how far the run is."""

    def __init__(self, task: Task, store: Store, current: Run, options: Options) -> None:
        self.task, self.store, self.run, self.options = task, store, current, options
        self.cases = {case.id: case for case in task.cases}
        self.outputs: list[Output] = []
        self.total = len(task.cases) * options.repeats
        self.verdicts: Counter[str] = Counter()
        self.cost: float | None = 0.0
        self.flushed = time.monotonic()
        self.pending: set[Future[Result]] = set()
        self.judging = (
            ThreadPoolExecutor(max_workers=task.judge_concurrency, thread_name_prefix="judge")
            if task.judge_concurrency > 1
            else None
        )

    def missing(self) -> list[tuple[Case, int]]:
        """What is still to be asked, repeat by repeat in case order."""
        answered = self.store.answered(self.run.id)
        again = self.options.retry_errors is not None
        return [
            (case, repeat)
            for repeat in range(self.options.repeats)
            for case in self.task.cases
            if (case.id, repeat) not in answered or (again and answered[case.id, repeat])
            if self.options.only_cases is None or case.id in self.options.only_cases
        ]

    def score_stored(self) -> None:
        """Score outputs of an earlier attempt that have no result yet."""
        scored = {(result.case_id, result.repeat): result for result in self.store.results(self.run.id)}
        self.verdicts.update(result.verdict.value for result in scored.values())
        left = [o for o in self.store.outputs(self.run.id) if (o.case_id, o.repeat) not in scored]
        self._score(left)

    def add(self, output: Output) -> None:
        self.outputs.append(output)
        spent = output.usage.cost_usd if output.usage else 0.0
        self.cost = None if spent is None or self.cost is None else self.cost + spent
        if len(self.outputs) >= BATCH or time.monotonic() - self.flushed > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        if self.outputs:
            self.store.add_outputs(self.run.id, self.outputs)
            self._score(self.outputs)
            self.outputs = []
        self.flushed = time.monotonic()

    def finish(self) -> None:
        """Store and score what is left; waits for judgements under way."""
        self.flush()
        while self.pending:
            wait(self.pending, return_when=FIRST_COMPLETED)
            self._collect()
        if self.judging:
            self.judging.shutdown(wait=False, cancel_futures=True)

    def _score(self, outputs: Sequence[Output]) -> None:
        """Judged results come in while further cases are asked; all others at once."""
        if self.judging is None:
            self._keep([self._evaluate(output) for output in outputs])
        else:
            self.pending.update(self.judging.submit(self._evaluate, output) for output in outputs)
            self._collect()

    def _collect(self) -> None:
        done = {future for future in self.pending if future.done()}
        self.pending -= done
        self._keep([future.result() for future in done])

    def _keep(self, results: Sequence[Result]) -> None:
        if not results:
            return
        self.store.add_results(self.run.id, results)
        self.verdicts.update(result.verdict.value for result in results)
        self._tell()

    def _evaluate(self, output: Output) -> Result:
        case = self.cases[output.case_id]
        try:
            return self.task.evaluate(case, output, self.task.context)
        except Exception as error:  # noqa: BLE001 - a failing evaluator is ERROR for this case, never a score
            failure = Failure(where="evaluator", kind="evaluator", message=f"{type(error).__name__}: {error}")
            reason = f"the evaluator failed: {failure.message}"
            return Result(
                case_id=case.id,
                repeat=output.repeat,
                verdict=Verdict.ERROR,
                reasons=(reason,),
                failure=failure,
            )

    def _tell(self) -> None:
        done = sum(self.verdicts.values())
        if self.options.job_id:
            self.store.beat(self.options.job_id, done, f"{done} of {self.total} answered")
        if self.options.on_event:
            self.options.on_event(
                Progress(self.run.id, done, self.total, dict(self.verdicts), cost_usd=self.cost)
            )

    def cancelled(self) -> bool:
        if self.outputs:
            return False  # what was answered is stored first
        job, stop = self.options.job_id, self.options.stop
        return bool(job and self.store.cancelled(job)) or (stop is not None and stop())


# --- sealing --------------------------------------------------------------------------------------------------


def _seal(task: Task, store: Store, current: Run, options: Options, seconds: float) -> Run:
    cases, outputs = store.cases(current.id), list(store.outputs(current.id))
    results = list(store.results(current.id))
    aggregates = aggregate(cases, results)
    summary = summarise(task.kind, cases, outputs, results, aggregates)
    summary.update(task.extra_summary)
    summary["notices"] = list(task.notices)
    if task.conclude is not None:
        summary = merged(summary, task.conclude(cases, outputs, results))
    if task.tables is not None:
        for name, rows in task.tables(cases, outputs, results).items():
            if rows:  # without a row there are no columns to name
                store.add_attribution(current.id, name, rows)
    summary["runtime_seconds"] = seconds
    verdicts = summary.get("verdicts") or Counter(result.verdict.value for result in results)
    folder = options.folder or Path(options.output_dir) / provenance.folder_name(current)
    artifacts = dict(task.artifacts)
    if options.sweep_id is None and task.kind != "audit":
        # a sweep is attributed as a whole; what one run can say about its own failures is said here
        about = current.model_copy(update={"summary": summary, "folder": str(folder)})
        found = attribute_run(about, cases, outputs, results)
        store_attribution(store, current.id, found)
        artifacts |= attribution_files(found, options.settings)
    sealed = store.seal(
        current.id,
        summary=summary,
        aggregates=aggregates,
        verdicts={verdict.value: verdicts.get(verdict.value, 0) for verdict in Verdict},
        folder=str(folder),
    )
    listed = joined(cases, outputs, results)
    write_run_folder(store, sealed.id, folder, artifacts, listed=listed, common=options.common)
    return store.run(sealed.id)  # the folder may have taken another name
