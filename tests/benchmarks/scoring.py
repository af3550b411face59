"""CPU time of scoring prepared answers with five chunks each, with and without claim support.

Every question, answer and chunk is distinct. Usage: python -m tests.benchmarks scoring [CASES]
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Sequence

from core.contracts import ScoringContext
from core.evaluation.document_answers import DocumentAnswers
from core.records import Case, Hit, Output

_SUBJECTS = "Die Bachelorarbeit|Das Praktikum|Die mündliche Prüfung|Das Modul|Die Anmeldung|Der Antrag|Die Masterarbeit".split(
    "|"
)
_VERBS = "dauert mindestens|umfasst höchstens|beginnt nach|gilt für|endet spätestens nach|verlangt".split("|")
_UNITS = "Monate|Wochen|Leistungspunkte|Semester|Kalendertage|Minuten".split("|")
_PLACES = "beim Studiensekretariat|im Fachprüfungsausschuss|nach § {} Abs. 2|im Wahlpflichtbereich|an der Fakultät".split(
    "|"
)


ROUNDS = 3


def _sentence(rng: random.Random) -> str:
    place = rng.choice(_PLACES).format(rng.randint(2, 40))
    return f"{rng.choice(_SUBJECTS)} {rng.choice(_VERBS)} {rng.randint(2, 400)} {rng.choice(_UNITS)} {place}."


def prepared(n: int, seed: int = 0) -> list[tuple[Case, Output]]:
    """n cases with an answer of one or two claims and five chunks of six sentences (about 450 characters)."""
    rng = random.Random(seed)
    found = []
    for index in range(n):
        gold = _sentence(rng)
        chunks = [" ".join(_sentence(rng) for _ in range(6)) for _ in range(5)]
        chunks[rng.randrange(5)] += " " + gold
        answer = gold if rng.random() < 0.6 else " ".join(_sentence(rng) for _ in range(2))
        case = Case(id=str(index), query=f"Frage {index}: Was gilt dazu?", gold_answer=gold, answerable=True)
        hits = tuple(Hit(id=f"{index}-{rank}", rank=rank + 1, text=text) for rank, text in enumerate(chunks))
        found.append((case, Output(case_id=case.id, text=answer, hits=hits)))
    return found


def milliseconds(cases: Sequence[tuple[Case, Output]], *, claim_support: bool) -> float:
    """Mean CPU milliseconds a case. The inputs are taken out of garbage collection first: they are the caller's."""
    gc.collect()
    gc.freeze()
    evaluator, context = DocumentAnswers(claim_support=claim_support), ScoringContext()
    started = time.process_time()
    for case, output in cases:
        evaluator.evaluate(case, output, context)
    return (time.process_time() - started) * 1000 / len(cases)


def main(argv: Sequence[str] = ()) -> int:
    n = int(argv[0]) if argv else 10_000
    milliseconds(prepared(50, seed=99), claim_support=True)
    for name, full in (("without claim support", False), ("with claim support", True)):
        # in turns, on texts never seen before, the best of each: another program's load falls on both
        halves, wholes = [], []
        for round_ in range(ROUNDS):
            halves.append(milliseconds(prepared(n // 2, seed=100 * round_ + full), claim_support=full))
            wholes.append(milliseconds(prepared(n, seed=100 * round_ + 10 + full), claim_support=full))
        first, second = min(halves), min(wholes)
        growth = second * n / (first * (n // 2))
        print(
            f"{name:22} {second:6.2f} ms a case over {n} cases × 5 chunks; {n} against {n // 2} cases: {growth:.2f} times"
        )
    return 0
