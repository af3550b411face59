"""What a sweep would run, before it runs: executions of each stage, time and money."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.attribution.trace import shown
from core.inputs.cases import load_questions
from core.llm.usage import Estimate, estimate
from core.records import digest
from core.settings import RunSettings
from core.store.runs import Store
from core.sweep_grid import SweepDesign

# CPU seconds of one question, measured with lexical retrieval over 67 regulation PDFs: a first guess, replaced by
# this suite's own runs as soon as the store holds one
SECONDS_PER_QUESTION = 0.08
PROMPT_CHARS_PER_PASSAGE = 2_500


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """`stages` maps a stage to (distinct executions, executions of separate runs). `seconds` is a rough wall time;
    `calls` what model calls would take (None: none is needed), `basis` what the time rests on."""

    configurations: int
    factors: dict[str, int]
    questions: int | None
    stages: dict[str, tuple[int, int]]
    seconds: float
    basis: str
    calls: Estimate | None
    notices: tuple[str, ...] = field(default_factory=tuple)

    def lines(self) -> list[str]:
        """The plan in words."""
        asked = "an unknown number of" if self.questions is None else str(self.questions)
        text = [f"{self.configurations} configurations × {asked} questions"]
        text += [f"  {name}: {n} values" for name, n in self.factors.items()]
        text.append("stages that will run (in brackets: what separate runs would take):")
        text += [f"  {stage}: {shared} ({separate})" for stage, (shared, separate) in self.stages.items()]
        text.append(f"time: about {_duration(self.seconds)} ({self.basis})")
        if self.calls is None:
            text.append("money: none, no language model is asked")
        else:
            price = (
                "unknown"
                if self.calls.cost_usd is None
                else f"about ${self.calls.cost_usd:.2f} (prices of {self.calls.prices_as_of})"
            )
            text.append(f"money: {price} for {self.calls.calls} calls; replies that are cached cost nothing")
        return text + [f"note: {notice}" for notice in self.notices]


def plan_sweep(design: SweepDesign, *, jobs: int = 1, store: Store | None = None) -> SweepPlan:
    """Count what a sweep shares. Reads the questions, not the documents; asks nothing."""
    base, configurations = design.base, design.configurations
    questions = _n_questions(base)
    asked = (questions or 0) * base.repeats
    total = len(configurations)
    chunkings = {_key(c.settings, "chunking", "chunk_size", "overlap") for c in configurations}
    lexical = [c.settings for c in configurations if c.settings.retriever != "dense"]
    embedded = [c.settings for c in configurations if c.settings.applies("embedding_model")]
    stages = {
        "parsing (all documents)": (1, total),
        "chunking (all documents)": (len(chunkings), total),
        "counting terms": (
            len({_key(s, "chunking", "chunk_size", "overlap", "analyzer") for s in lexical}),
            len(lexical),
        ),
        "embedding the chunks": (
            len({_key(s, "chunking", "chunk_size", "overlap", "embedding_model") for s in embedded}),
            len(embedded),
        ),
        "indexing": (len({_key(c.settings, *_INDEX) for c in configurations}), total),
        "questions asked": (total * asked, total * asked),
        "questions scored": (total * asked, total * asked),
    }
    seconds, basis = _time(design, asked, jobs, store)
    return SweepPlan(
        configurations=total,
        factors={name: _n_values(design, name) for name in design.factors},
        questions=questions,
        stages={name: counts for name, counts in stages.items() if counts[1]},
        seconds=seconds,
        basis=basis,
        calls=_calls(design, asked),
        notices=design.notices,
    )


_INDEX = (
    "chunking",
    "chunk_size",
    "overlap",
    "retriever",
    "retriever_options",
    "analyzer",
    "embedding_model",
    "hybrid_alpha",
    "hybrid_fusion",
)


def _key(settings: RunSettings, *names: str) -> str:
    return digest(
        [
            getattr(settings, n) if n in type(settings).model_fields and settings.applies(n) else None
            for n in names
        ]
    )


def _n_values(design: SweepDesign, name: str) -> int:
    return len({shown(getattr(c.settings, name)) for c in design.configurations if c.settings.applies(name)})


def _n_questions(base: RunSettings) -> int | None:
    if base.classifier_type != "document_qa" or not base.questions:
        return base.limit
    found = len(load_questions(Path(base.questions)).cases)
    return min(found, base.limit) if base.limit else found


def _time(design: SweepDesign, asked: int, jobs: int, store: Store | None) -> tuple[float, str]:
    """From the median run of the same suite where the store has some, else from a measured guess."""
    suite = design.base.suite or (Path(design.base.questions).stem if design.base.questions else None)
    earlier: list[Any] = (
        store.runs(kind=design.base.classifier_type, suite=suite, status="sealed", limit=20) if store else []
    )
    taken = sorted(
        run.summary["runtime_seconds"] / max(1, run.n_cases * run.repeats)
        for run in earlier
        if run.summary.get("runtime_seconds")
    )
    each = taken[len(taken) // 2] if taken else SECONDS_PER_QUESTION
    basis = (
        f"the median of {len(taken)} earlier runs of this suite"
        if taken
        else "a first guess; no run of this suite is stored yet"
    )
    return len(design.configurations) * asked * each / max(1, jobs), basis


def _calls(design: SweepDesign, asked: int) -> Estimate | None:
    """Distinct model calls: answers of configurations that differ before the answer, and judging of each."""
    writers = [
        c.settings
        for c in design.configurations
        if c.settings.llm_enable and c.settings.applies("llm_enable")
    ]
    judged = [c.settings for c in design.configurations if c.settings.judge_enable]
    if not writers and not judged:
        return None
    first = (writers or judged)[0]
    passages = max((s.max_context_chunks or s.top_k) for s in (writers or judged))
    calls = (len({digest(s.design()) for s in writers}) + len(judged)) * asked
    return estimate(
        calls,
        model=first.llm_model if writers else first.judge_model,
        prompt_chars=passages * PROMPT_CHARS_PER_PASSAGE,
    )


def _duration(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 90
        else (f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h")
    )
