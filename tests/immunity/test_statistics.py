"""Statistics (immunity F): seeded and never 0, the question is the unit, no interval of width zero."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.evaluation.summary import aggregate
from core.records import Case, Result, Verdict
from core.statistics.intervals import interval_for
from core.statistics.paired import sign_flip

DIFFERENCES = [random.Random(7).gauss(0.8, 0.3) for _ in range(60)]


def test_p_is_the_same_for_one_seed_on_any_thread_and_never_zero() -> None:
    wanted = sign_flip(DIFFERENCES, seed=3).p
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: sign_flip(DIFFERENCES, seed=3).p, range(8)))
    assert set(found) == {wanted}
    assert wanted == 1 / (1 + sign_flip(DIFFERENCES, seed=3).resamples) > 0
    assert sign_flip(DIFFERENCES, seed=3, block=7).p == wanted, "whatever fits into memory at once"


def _rows(values: list[float], clusters: list[str | None], repeats: int = 1) -> tuple[float, float, int]:
    cases = [Case(id=str(i), query="?", cluster=clusters[i]) for i in range(len(values))]
    results = [
        Result(case_id=case.id, repeat=repeat, verdict=Verdict.PASS, scores={"token_f1": value})
        for case, value in zip(cases, values, strict=True)
        for repeat in range(repeats)
    ]
    row = next(row for row in aggregate(cases, results) if row.metric == "token_f1" and not row.group_by)
    assert row.low is not None
    assert row.high is not None
    return row.low, row.high, row.n_scored


def test_a_repeat_is_no_new_question() -> None:
    values = [0.1 * (i % 7) for i in range(24)]
    assert _rows(values, [None] * 24) == _rows(values, [None] * 24, repeats=5)


def test_questions_of_one_document_are_not_independent() -> None:
    values = [0.1 + 0.8 * (i // 6 % 2) for i in range(36)]  # alike within a document
    alone = _rows(values, [None] * 36)
    together = _rows(values, [f"d{i // 6}" for i in range(36)])
    assert together[1] - together[0] > 1.5 * (alone[1] - alone[0])


@pytest.mark.parametrize("kind", ["binary", "bounded"])
@pytest.mark.parametrize("n", [1, 2, 12, 50])
@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_no_interval_has_a_width_of_zero(kind: str, n: int, value: float) -> None:
    if kind == "binary" and value == 0.5:
        return
    found = interval_for([value] * n, kind)  # type: ignore[arg-type]
    assert found is not None
    assert found.high - found.low > 0.01
    assert found.low <= value <= found.high
    assert ("tiny_n" in found.note) == (n < 10)
