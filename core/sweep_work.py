"""The work of a sweep: configurations in batches over processes, each batch sharing what it can."""

from __future__ import annotations

import gc
import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from core import pipeline
from core.errors import EvalError
from core.retrieval.stages import Stages
from core.store.runs import Store
from core.sweep_grid import SweepConfiguration, SweepDesign
from core.sweep_race import RaceOutcome


@dataclass(frozen=True, slots=True)
class Work:
    """What a process must know: where to store, what an earlier attempt left, and the job that can stop it."""

    store_path: str
    sweep_id: str
    folder: str
    cache_dir: str
    known: Mapping[str, tuple[str, str]]
    job_id: str | None = None


Outcome = tuple[list[tuple[str, str | None]], Counter[str]]


def execute(
    design: SweepDesign, work: Work, jobs: int, stages: Stages, raced: RaceOutcome
) -> Iterator[Outcome]:
    """Outcomes (name, error or None) as configurations finish, with how often each stage ran for them."""
    batches = batches_of(design.configurations, jobs)
    if jobs == 1 or len(batches) == 1:
        for configuration in itertools.chain.from_iterable(batches):
            yield _run_batch([configuration], work, raced, stages)
        return
    from joblib import Parallel, delayed, parallel_config

    with parallel_config(backend="loky", n_jobs=min(jobs, len(batches)), inner_max_num_threads=1):
        yield from Parallel(return_as="generator_unordered", batch_size=1)(
            delayed(_run_batch)(batch, work, raced, None) for batch in batches
        )


def batches_of(configurations: Sequence[SweepConfiguration], jobs: int) -> list[list[SweepConfiguration]]:
    """Configurations that share chunks in one batch, largest first; a batch is split only where there would be
    fewer batches than processes."""
    groups: dict[str, list[SweepConfiguration]] = {}
    for configuration in configurations:
        s = configuration.settings
        cut = [s.chunking, *(getattr(s, n) if s.applies(n) else None for n in ("chunk_size", "overlap"))]
        groups.setdefault(json.dumps(cut), []).append(configuration)
    batches = sorted(groups.values(), key=len, reverse=True)
    while len(batches) < jobs and len(batches[0]) >= 2:
        largest = batches.pop(0)
        middle = (len(largest) + 1) // 2
        batches = sorted([*batches, largest[:middle], largest[middle:]], key=len, reverse=True)
    return batches


_SHARED: dict[tuple[str, str], tuple[Stages, Store]] = {}


def _run_batch(
    batch: Sequence[SweepConfiguration], work: Work, raced: RaceOutcome, stages: Stages | None
) -> Outcome:
    """Run some configurations one after another; whatever goes wrong with one is its own record."""
    if stages is None:
        gc.set_threshold(50_000, 20, 50)  # as in the command itself: what a run makes lives to its end
        key = (work.cache_dir, work.store_path)
        if key not in _SHARED:
            _SHARED[key] = (Stages(Path(work.cache_dir)), Store(work.store_path))
        stages, store = _SHARED[key]
    else:
        store = Store(work.store_path)
    before = Counter(stages.counts)
    outcomes: list[tuple[str, str | None]] = []
    for configuration in batch:
        if work.job_id and store.cancelled(work.job_id):
            break
        try:
            _run_one(configuration, work, raced, stages, store)
            outcomes.append((configuration.name, None))
        except EvalError as error:
            outcomes.append((configuration.name, str(error)))
        except Exception as error:  # noqa: BLE001 - one configuration may break in any way; the others go on
            outcomes.append((configuration.name, f"{type(error).__name__}: {error}"))
    return outcomes, Counter(stages.counts) - before


def _run_one(
    configuration: SweepConfiguration, work: Work, raced: RaceOutcome, stages: Stages, store: Store
) -> None:
    run_id, status = work.known.get(configuration.name, ("", ""))
    if status == "sealed":
        return
    settings = configuration.settings
    options: dict[str, Any] = {
        "sweep_id": work.sweep_id,
        "name": configuration.name,
        "folder": Path(work.folder) / configuration.name,
        "common": Path(work.folder),
        "rehearse": True,
    }
    if run_id:
        options["resume"] = run_id
    if work.job_id:
        options["stop"] = partial(store.cancelled, work.job_id)
    if configuration.name in raced.asked:
        options["only_cases"] = raced.asked[configuration.name]
    pipeline.run(settings, store=store, stages=stages, **options)
