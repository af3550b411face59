"""Racing: configurations that are shown to be worse than the leader stop early (statistics.md 8).

Questions come in blocks, in seeded random order stratified by question type. After at least two blocks a
configuration is stopped when a one-sided paired test against the leader has p < α / (configurations × looks), or
when even getting everything right cannot bring it level. What is stopped is marked: its mean rests on fewer
questions, chosen by the outcome, and stays out of effects and of the frontier.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from core.contracts import BatchSystem
from core.errors import EvalError
from core.records import Case, Verdict
from core.retrieval.stages import Stages
from core.statistics.paired import sign_flip
from core.sweep_grid import SweepDesign
from core.task import Task
from core.tasks import TASKS

BLOCK = 10
MIN_QUESTIONS = 20
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class RaceOutcome:
    """`asked` names the cases each stopped configuration was asked before it stopped; `stopped` their names;
    `log` says when, against whom and with which p."""

    asked: dict[str, frozenset[str]]
    stopped: frozenset[str]
    log: tuple[str, ...] = ()


@dataclass(slots=True)
class _Runner:
    name: str
    task: Task
    scores: dict[str, float] = field(default_factory=dict)


def race(design: SweepDesign, stages: Stages, *, seed: int = 0) -> RaceOutcome:
    """Race all configurations on their verdicts (PASS 1, WEAK ½, FAIL 0; an error is no score). The survivors and
    what was stopped are run as sealed runs afterwards; stages and model replies are shared with them."""
    runners = []
    for configuration in design.configurations:
        try:
            runners.append(
                _Runner(
                    configuration.name,
                    TASKS[configuration.settings.classifier_type](configuration.settings, stages),
                )
            )
        except EvalError:
            continue  # it fails in its own place, with its reason
    if not runners:
        return RaceOutcome({}, frozenset())
    order = stratified_order(runners[0].task.cases, seed)
    blocks = [order[:MIN_QUESTIONS], *(order[i : i + BLOCK] for i in range(MIN_QUESTIONS, len(order), BLOCK))]
    looks = max(1, len(blocks) - 1)
    asked: dict[str, frozenset[str]] = {}
    log: list[str] = []
    total = len(runners)
    seen: list[str] = []
    for number, block in enumerate(blocks):
        if len(runners) < 2 or number == len(blocks) - 1:
            break  # nothing is saved by looking after the last block
        for runner in runners:
            _ask(runner, block)
        seen += [case.id for case in block]
        runners, gone = _stop(runners, ALPHA / (total * looks), len(order) - len(seen), seed)
        for name, why in gone:
            asked[name] = frozenset(seen)
            log.append(f"{name} stopped after {len(seen)} questions: {why}")
    for runner in runners:
        runner.task.system.close()
    return RaceOutcome(asked, frozenset(asked), tuple(log))


def stratified_order(cases: Sequence[Case], seed: int) -> list[Case]:
    """Seeded random order in which every prefix holds question types in about their overall shares."""
    rng = np.random.default_rng(seed)
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        groups[case.question_type].append(case)
    placed = []
    for name in sorted(groups):
        group = [groups[name][i] for i in rng.permutation(len(groups[name]))]
        shift = rng.random()
        placed += [((i + shift) / len(group), rng.random(), case) for i, case in enumerate(group)]
    return [case for _, _, case in sorted(placed, key=lambda entry: entry[:2])]


def worse_than_leader(
    scores: Sequence[float], leader: Sequence[float], left: int, alpha: float, seed: int = 0
) -> str | None:
    """Why a configuration may stop, or None. `left` questions remain; scores lie in [0, 1]."""
    difference = np.asarray(scores, dtype=float) - np.asarray(leader, dtype=float)
    if float(difference.sum()) + left < 0:
        return "even getting all the rest right would not reach the leader"
    p = sign_flip(difference, alternative="less", seed=seed).p
    return f"worse than the leader by {-difference.mean():.3f} (p {p:.5f})" if p < alpha else None


def _stop(
    runners: list[_Runner], alpha: float, left: int, seed: int
) -> tuple[list[_Runner], list[tuple[str, str]]]:
    leader = max(runners, key=lambda r: np.mean(list(r.scores.values())) if r.scores else 0.0)
    kept, gone = [], []
    for runner in runners:
        shared = [case for case in leader.scores if case in runner.scores]
        why = None
        if runner is not leader and len(shared) >= MIN_QUESTIONS:
            why = worse_than_leader(
                [runner.scores[c] for c in shared], [leader.scores[c] for c in shared], left, alpha, seed
            )
        if why is None:
            kept.append(runner)
        else:
            gone.append((runner.name, f"{why}; the leader was {leader.name}"))
            runner.task.system.close()
    return kept, gone


def _ask(runner: _Runner, block: Sequence[Case]) -> None:
    system = runner.task.system
    by_id = {case.id: case for case in block}
    value = {Verdict.PASS: 1.0, Verdict.WEAK: 0.5, Verdict.FAIL: 0.0}
    outputs = (
        list(system.ask_many(block))
        if isinstance(system, BatchSystem)
        else [system.ask(case) for case in block]
    )
    for output in outputs:
        if output.failure is None:
            result = runner.task.evaluate(by_id[output.case_id], output, runner.task.context)
            if result.verdict in value:
                runner.scores[output.case_id] = value[result.verdict]
