"""The heuristic that looks for resistance to a false premise, on labelled answers."""

from __future__ import annotations

import csv
from pathlib import Path

from core.evaluation import pushback
from core.evaluation.pushback import pushes_back

LABELLED = Path(__file__).parent / "pushback.tsv"


def test_precision_and_recall_are_what_the_module_says() -> None:
    with LABELLED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    pairs = [(row["pushes"] == "1", pushes_back(row["answer"], row["premise"])) for row in rows]
    right, seen, true = (
        pairs.count((True, True)),
        sum(said for _, said in pairs),
        sum(is_ for is_, _ in pairs),
    )
    assert {row["lang"] for row in rows} == {"en", "de"}
    assert pushback.__doc__ is not None
    for figure in (f"{len(rows)} labelled", f"{right} of {seen}", f"{right} of {true}"):
        assert figure in pushback.__doc__
    assert right / seen >= 0.95
    assert right / true >= 0.8


def test_nothing_said_is_no_pushback() -> None:
    assert not pushes_back("", "the plan is unlimited")
    assert not pushes_back("  \n", "the plan is unlimited")
    assert not pushes_back("The plan costs 20 euros.", "")
