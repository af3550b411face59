"""A grid or list of configurations → one sealed run each, sharing every stage; then the comparison of all.

Configurations that cut documents alike go to one process, so that chunking, counting and indexing happen once for
each distinct input; parsing and embedding happen once beforehand. A configuration that fails is a record; the
others go on. A sweep that was stopped is taken up again with `resume`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core import pipeline, provenance
from core.attribution import Attribution, attribute
from core.attribution.trace import Trace
from core.errors import ConfigError, EvalError, StoreError, SweepStopped
from core.inputs.cases import load_questions
from core.inputs.documents import load_documents
from core.records import Run
from core.retrieval.stages import Stages
from core.settings import RunSettings
from core.store.export import write_csv
from core.store.export.folder import experiment_summary
from core.store.export.tabular import write_json, write_text
from core.store.runs import Store
from core.sweep_attribution import best_of, trace_runs, with_facts
from core.sweep_files import records, store_attribution, write_attribution
from core.sweep_grid import SweepDesign
from core.sweep_interventions import Ladder, climb
from core.sweep_race import RaceOutcome, race
from core.sweep_ranking import RANKING_COLUMNS, best_config, best_config_text, ranking
from core.sweep_work import Work, execute
from core.tasks import TASKS

MANIFEST = "sweep.json"


@dataclass(frozen=True, slots=True)
class Failed:
    """A configuration that could not be run, and why."""

    name: str
    message: str


@dataclass(slots=True)
class SweepProgress:
    """What `on_event` is told: once at the start and after each configuration."""

    sweep_id: str
    done: int
    total: int
    failed: int
    message: str = ""


@dataclass(slots=True)
class SweepResult:
    """`runs` in the order of the configurations; `counts` how often each stage ran, over all processes; `ranking`
    the DataFrame of `experiment_ranking.csv`, best first."""

    sweep_id: str
    folder: Path
    runs: list[Run]
    failed: list[Failed]
    attribution: Attribution
    trace: Trace
    counts: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    best: dict[str, Any] = field(default_factory=dict)
    ranking: Any = None


def run_sweep(
    design: SweepDesign,
    *,
    store: Store | None = None,
    jobs: int | None = None,
    resume: str | None = None,
    racing: bool = False,
    ladder: bool = True,
    on_event: Callable[[SweepProgress], None] | None = None,
    job_id: str | None = None,
) -> SweepResult:
    """Run a sweep and compare its configurations.

    `jobs` processes (all cores by default); `resume` is the id, the name or the folder of a sweep that was
    stopped: complete runs are kept and unfinished ones continued. `racing` stops configurations that are shown to
    be worse. `ladder` runs the oracle ladder on failures of the best one, where the system can be intervened on.
    `job_id` names the job whose cancel request stops the sweep after the question it is at. Raises ConfigError or
    InputError before anything runs; StoreError when every configuration failed; SweepStopped.
    """
    started = time.perf_counter()
    base = design.base
    store = store or Store(pipeline.store_path(base))
    sweep_id, folder = _open(design, resume)
    stages = Stages(Path(base.cache_dir))
    total, done = len(design.configurations), 0
    tell = on_event or (lambda _: None)
    tell(SweepProgress(sweep_id, done, total, 0))
    _prepare(design, stages)
    raced = race(design, stages, seed=base.seed) if racing else RaceOutcome({}, frozenset())
    known = _known(store, sweep_id) if resume else {}
    work = Work(str(store.path), sweep_id, str(folder), base.cache_dir, known, job_id)
    counts = Counter(stages.counts)
    failed: dict[str, str] = {}
    for outcomes, counted in execute(design, work, jobs or os.cpu_count() or 1, stages, raced):
        counts.update(counted)
        for name, error in outcomes:
            done += 1
            if error is not None:
                failed[name] = error
            tell(SweepProgress(sweep_id, done, total, len(failed), name))
    if job_id and store.cancelled(job_id):
        raise SweepStopped(sweep_id)
    return _conclude(design, store, sweep_id, folder, failed, counts, raced, ladder, stages, started)


# --- opening --------------------------------------------------------------------------------------------------


def _open(design: SweepDesign, resume: str | None) -> tuple[str, Path]:
    base = design.base
    root = Path(base.output_dir)
    if resume is not None:
        return _reopen(design, root, resume)
    now = datetime.now(UTC)
    sweep_id = provenance.new_id(now)
    name = base.run_name or f"sweep-{now:%Y%m%d-%H%M%S}"
    folder = provenance.unused_folder(root / (re.sub(r"[^\w.\-]+", "_", name).strip("._")[:80] or sweep_id))
    folder.mkdir(parents=True)
    write_json(
        folder / MANIFEST,
        {
            "sweep_id": sweep_id,
            "name": name,
            "baseline": design.baseline,
            "configurations": [c.name for c in design.configurations],
        },
    )
    return sweep_id, folder


def _reopen(design: SweepDesign, root: Path, wanted: str) -> tuple[str, Path]:
    manifests = [
        Path(wanted) / MANIFEST,
        *sorted(root.glob(f"*/{MANIFEST}"), key=lambda p: -p.stat().st_mtime),
    ]
    for manifest in manifests:
        try:
            found = json.loads(manifest.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if wanted in (found["sweep_id"], found["name"], "latest", manifest.parent.name, str(manifest.parent)):
            if found["configurations"] != [c.name for c in design.configurations]:
                raise ConfigError(
                    f"sweep {found['sweep_id']} was started with other configurations: it cannot be continued; start a new sweep instead"
                )
            return str(found["sweep_id"]), manifest.parent
    raise ConfigError(f"no sweep '{wanted}' in {root}")


def _known(store: Store, sweep_id: str) -> dict[str, tuple[str, str]]:
    """Configuration → (run id, status) of an earlier attempt; a sealed run wins."""
    found: dict[str, tuple[str, str]] = {}
    for run in store.runs(sweep_id=sweep_id):
        if run.name not in found or run.status == "sealed":
            found[run.name] = (run.id, run.status)
    return found


def _prepare(design: SweepDesign, stages: Stages) -> None:
    """Everything that several processes need: inputs are read (and refused) once, texts are embedded once."""
    first: EvalError | None = None
    for configuration in design.configurations:
        try:
            _read_inputs(configuration.settings, stages)
            break
        except EvalError as error:
            first = first or error
    else:
        assert first is not None
        raise first
    embedded: set[str] = set()
    for settings in (c.settings for c in design.configurations if c.settings.applies("embedding_model")):
        key = json.dumps([settings.chunking, settings.chunk_size, settings.overlap, settings.embedding_model])
        if key in embedded:
            continue
        embedded.add(key)
        with contextlib.suppress(EvalError):  # what cannot be built fails in its own place, with its name
            _embed(settings, stages)


def _read_inputs(settings: RunSettings, stages: Stages) -> None:
    """Inputs are there and can be read; parsed documents are then in the cache of every process."""
    if settings.classifier_type != "document_qa":
        TASKS[settings.classifier_type](settings, stages).system.close()
        return
    load_questions(Path(settings.questions or ""))
    load_documents(
        settings.docs,
        root=settings.docs_root,
        parse_timeout=settings.parse_timeout,
        cache_dir=Path(settings.cache_dir) / "parsed",
        passwords=settings.passwords,
    )


def _embed(settings: RunSettings, stages: Stages) -> None:
    task = TASKS[settings.classifier_type](settings, stages)
    chunks = getattr(task.system, "chunks", None)
    if chunks is not None:
        stages.vectors(chunks, settings.embedding_model)
        stages.encoder(settings.embedding_model).queries([case.query for case in task.cases])
    task.system.close()


# --- concluding -----------------------------------------------------------------------------------------------


def _conclude(
    design: SweepDesign, store: Store, sweep_id: str, folder: Path, failed: Mapping[str, str], counts: Counter[str],
    raced: RaceOutcome, ladder: bool, stages: Stages, started: float,
) -> SweepResult:  # fmt: skip
    order = {configuration.name: place for place, configuration in enumerate(design.configurations)}
    sealed = {run.name: run for run in reversed(store.runs(sweep_id=sweep_id)) if run.status == "sealed"}
    runs = sorted(sealed.values(), key=lambda run: order.get(run.name, len(order)))
    if not runs:
        raise StoreError(
            "no configuration of the sweep could be run:\n"
            + "\n".join(f"  - {n}: {m}" for n, m in failed.items())
        )
    trace = trace_runs(store, runs, baseline=design.baseline, censored=raced.stopped)
    climbed = _climb(design, store, sealed, trace, stages) if ladder else Ladder.empty()
    trace = with_facts(trace, climbed.facts)
    attribution = attribute(trace, ladder=climbed.outcomes, folder=str(folder), seed=design.base.seed)
    table = ranking(trace, attribution, design.base)
    best = best_config(trace, table, attribution, design.base)
    target = attribution.summary["target_experiment"]
    explained = next((c.settings for c in trace.configurations if c.name == target), best["settings"])
    write_attribution(folder, attribution, explained)  # the commands of the advice change these settings
    rows = records(table)
    write_csv(
        folder / "experiment_ranking.csv",
        RANKING_COLUMNS,
        ([row[c] for c in RANKING_COLUMNS] for row in rows),
    )
    write_json(folder / "best_config.json", best)
    write_text(folder / "best_config.md", best_config_text(best))
    chosen = sealed.get(str(best["experiment"]))
    if chosen is not None and chosen.folder and (Path(chosen.folder) / "rag_results.csv").exists():
        shutil.copyfile(Path(chosen.folder) / "rag_results.csv", folder / "rag_results.csv")
    store_attribution(store, sweep_id, attribution)
    store.add_attribution(sweep_id, "experiment_ranking", rows)
    if climbed.headroom:
        store.add_attribution(sweep_id, "oracle_ladder", climbed.headroom)
        columns = list(climbed.headroom[0])
        write_csv(
            folder / "oracle_ladder.csv", columns, ([row[c] for c in columns] for row in climbed.headroom)
        )
    result = SweepResult(
        sweep_id,
        folder,
        runs,
        [Failed(n, m) for n, m in sorted(failed.items())],
        attribution,
        trace,
        dict(counts),
        time.perf_counter() - started,
        best,
        table,
    )
    _write_summary(design, result, rows)
    return result


def _climb(
    design: SweepDesign, store: Store, sealed: Mapping[str, Run], trace: Trace, stages: Stages
) -> Ladder:
    """The oracle ladder for the best configuration, whose failures are explained."""
    settings = {c.name: c.settings for c in design.configurations}
    best = best_of(trace)
    if best not in settings or best not in sealed:
        return Ladder.empty()
    chosen = settings[best]
    return climb(best, chosen, stages, store.results(sealed[best].id), repeats=chosen.repeats)


def _write_summary(design: SweepDesign, result: SweepResult, rows: Sequence[Mapping[str, Any]]) -> None:
    folder = result.folder
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    write_json(
        folder / "run_summary.json",
        {
            "run_dir": str(folder),
            "mode": "sweep",
            "classifier_type": design.base.classifier_type,
            "sweep_id": result.sweep_id,
            "sweep_configs": [
                {"name": c.name, "label": c.label, **c.settings.design()} for c in design.configurations
            ],
            "factors": list(design.factors),
            "baseline": design.baseline,
            "notices": list(design.notices),
            "failed_experiments": [{"experiment": f.name, "error": f.message} for f in result.failed],
            "experiments": [_experiment(run) for run in result.runs],
            "ranking_weights": result.best["weights"],
            "best_experiment": rows[0] if rows else None,
            "recommendation": result.best["recommendation"],
            "winner": result.attribution.summary["winner"],
            "design_attribution": result.attribution.summary,
            "stage_counts": result.counts,
            "runtime_seconds": result.seconds,
            "outputs": {name: str(folder / name) for name in [*names, "run_summary.json"]},
        },
    )


def _experiment(run: Run) -> dict[str, Any]:
    """A run's summary; its aggregates lie in its own folder."""
    return {name: value for name, value in experiment_summary(run).items() if name != "aggregates"}
