"""Precision and recall of the refusal classifier, with Wilson bounds. Usage: python -m tests.benchmarks refusal

The labelled list was committed before the classifier; its held-back third was scored but never read while the
patterns were written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.metrics.refusal import is_refusal
from core.statistics.intervals import wilson
from tests.benchmarks.answers import graded
from tests.real_data import REAL_DATA

LABELLED = Path(__file__).resolve().parents[1] / "metrics" / "refusal_labelled.jsonl"


@dataclass(frozen=True, slots=True)
class Counted:
    """True positives, false positives, false negatives, true negatives."""

    tp: int
    fp: int
    fn: int
    tn: int

    @classmethod
    def of(cls, pairs: Sequence[tuple[bool, bool]]) -> Counted:
        """From (truly refused, said to be refused)."""
        return cls(
            pairs.count((True, True)),
            pairs.count((False, True)),
            pairs.count((True, False)),
            pairs.count((False, False)),
        )

    @property
    def precision(self) -> float:
        return self.tp / (self.tp + self.fp)

    @property
    def recall(self) -> float:
        return self.tp / (self.tp + self.fn)


def labelled(split: str) -> Counted:
    """Counts over one split ("train", "held_back") of the labelled list."""
    rows = [json.loads(line) for line in LABELLED.read_text("utf-8").splitlines()]
    return Counted.of(
        [(row["refused"], is_refusal(row["text"]).refused) for row in rows if row["split"] == split]
    )


def graded_answers() -> Counted:
    """Counts over the 120 graded answers, whose label "refusal" is the truth."""
    return Counted.of([(case.truth == "refusal", is_refusal(case.answer).refused) for case in graded()])


def line(name: str, found: Counted) -> str:
    precision = wilson(found.tp, found.tp + found.fp)
    recall = wilson(found.tp, found.tp + found.fn)
    return (
        f"{name:16} {found.tp:4} {found.fp:4} {found.fn:4} {found.tn:4}   "
        f"precision {found.precision:.3f} [{precision.low:.3f}, {precision.high:.3f}]   "
        f"recall {found.recall:.3f} [{recall.low:.3f}, {recall.high:.3f}]"
    )


def main(argv: Sequence[str] = ()) -> int:
    print(f"{'set':16} {'tp':>4} {'fp':>4} {'fn':>4} {'tn':>4}")
    print(line("developed on", labelled("train")))
    print(line("held back", labelled("held_back")))
    if (REAL_DATA / "ulm_questions").exists():
        print(line("graded answers", graded_answers()))
    return 0
