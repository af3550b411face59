"""How the answer label agrees with the graded answers, beside lexical scores at their best thresholds.

A third of the questions (by the digest of their id) was held back while the rules were written; both parts are
printed. Usage: python -m tests.benchmarks answers
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from core.metrics.answers import compare
from core.metrics.overlap import answer_proxy, common_language, rouge_l, token_f1
from core.metrics.refusal import is_refusal
from tests.real_data import REAL_DATA

TRUTHS = ("correct", "partially_correct", "incorrect", "refusal")
LABELS = ("correct", "partially_correct", "incorrect", "needs_manual_review")
HARD = ("number", "unit", "date", "negation")


@dataclass(frozen=True, slots=True)
class Graded:
    candidate_id: str
    question: str
    gold: str
    answer: str
    truth: str
    error_type: str
    held_back: bool


def held_back(question_id: str) -> bool:
    """Whether the question belongs to the third that no rule was written on."""
    return int(hashlib.sha256(question_id.encode()).hexdigest()[:8], 16) % 3 == 0


def graded() -> Iterator[Graded]:
    """The 120 graded answers."""
    file = REAL_DATA / "ulm_questions" / "answers_graded.json"
    for entry in json.loads(file.read_text("utf-8"))["graded_answers"]:
        for each in entry["candidates"]:
            yield Graded(
                each["candidate_id"],
                entry["question"],
                entry["gold_answer"],
                each["answer"],
                each["label"],
                each.get("error_type", ""),
                held_back(entry["question_id"]),
            )


def label_of(case: Graded) -> str:
    """The label as document QA gives it: a refusal of an answerable question is incorrect."""
    if is_refusal(case.answer).refused:
        return "incorrect"
    compared = compare(case.answer, case.gold, case.question)
    return compared.label if compared else "none"


def confusion(cases: Sequence[Graded]) -> Counter[tuple[str, str]]:
    return Counter((case.truth, label_of(case)) for case in cases)


def best_two_cuts(cases: Sequence[Graded], score: Callable[[Graded], float]) -> tuple[float, float, float]:
    """(low, high, balanced accuracy) of the best two thresholds: below `low` incorrect, from `high` on correct.
    Chosen on the same answers, so they flatter the score."""
    values = [(score(case), "incorrect" if case.truth == "refusal" else case.truth) for case in cases]
    sizes = Counter(truth for _, truth in values)
    cuts = [step / 50 for step in range(52)]
    best = (0.0, 0.0, -1.0)
    for low in cuts:
        for high in (cut for cut in cuts if cut >= low):
            right = Counter(truth for value, truth in values if truth == _cut(value, low, high))
            balanced = sum(right[truth] / size for truth, size in sizes.items()) / len(sizes)
            if balanced > best[2]:
                best = (low, high, balanced)
    return best


def _cut(value: float, low: float, high: float) -> str:
    return "correct" if value >= high else "incorrect" if value < low else "partially_correct"


def show(title: str, table: Counter[tuple[str, str]], labels: Sequence[str] = LABELS) -> None:
    total = sum(table.values())
    print(f"\n{title} ({total} answers)\n{'truth':18}" + "".join(f"{label:>20}" for label in labels))
    for truth in TRUTHS:
        print(f"{truth:18}" + "".join(f"{table[truth, label]:20}" for label in labels))


def main(argv: Sequence[str] = ()) -> int:
    cases = list(graded())
    for title, part in (
        ("all", cases),
        ("developed on", [case for case in cases if not case.held_back]),
        ("held back", [case for case in cases if case.held_back]),
    ):
        show(title, confusion(part))
    table = confusion(cases)
    wrong = [case for case in cases if case.truth in ("incorrect", "refusal") and label_of(case) == "correct"]
    print(f"\nwrong ones called correct: {len(wrong)}; of a number, unit, date or negation: "
          f"{sum(case.error_type in HARD for case in wrong)}")  # fmt: skip
    print(f"right ones called incorrect: {table['correct', 'incorrect']}")
    print(
        f"decided: {sum(n for (_, label), n in table.items() if label != 'needs_manual_review')} of {len(cases)}"
    )
    scores: dict[str, Callable[[str, str, str], float]] = {
        "token F1": token_f1,
        "ROUGE-L": rouge_l,
        "stemmed content-word F1": answer_proxy,
    }
    for name, score in scores.items():

        def value(case: Graded, score: Callable[[str, str, str], float] = score) -> float:
            return score(case.answer, case.gold, common_language(case.question, case.gold, case.answer))

        low, high, balanced = best_two_cuts(cases, value)
        cut = Counter((case.truth, _cut(value(case), low, high)) for case in cases)
        show(
            f"{name}, best thresholds {low:.2f}/{high:.2f}, balanced accuracy {balanced:.2f}", cut, LABELS[:3]
        )
    ours = sum(
        n for (truth, label), n in table.items() if label == ("incorrect" if truth == "refusal" else truth)
    )
    print(f"\nlabelled right by the slot-aware label: {ours} of {len(cases)}")
    return 0
