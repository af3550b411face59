"""The run store at size: bytes a case-result, time to write, to open a comparison and the trends; kill -9.

    python -m tests.benchmarks store                     100 runs × 10,000 cases in a temporary folder
    python -m tests.benchmarks store --kill 200          a writer killed 200 times with a reader attached

The first `--written` runs are written through the store as a run does; the others are copies of them inside the
file with other verdicts, so that the file has its full size without hours of writing.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import core.components  # noqa: F401 - the metrics get their titles
from core.records import Aggregate, Case, Diagnosis, Hit, Output, Result, Run
from core.store.compare import compare_runs
from core.store.runs import Store
from core.store.trends import case_history, flaky_cases, trend

METRICS = (
    "mrr_at_k ndcg_at_k recall_at_k precision_at_k hit_at_k average_precision char_recall char_precision char_iou "
    "answer_claim_f1 answer_claim_recall answer_claim_precision grounded_claim_ratio context_claim_recall "
    "evidence_recall answer_gold_support context_utilization abstained first_relevant_rank judged_at_k"
).split()
WORDS = "Semester Modul Prüfung Note Frist Zulassung Leistungspunkte nicht und der die das § 12 ist sind wird".split()
VERDICTS, WEIGHTS = ("PASS", "WEAK", "FAIL", "ERROR"), (78, 6, 15, 1)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument(
        "--written", type=int, default=2, help="runs that are really written through the store"
    )
    parser.add_argument("--kill", type=int, default=0, metavar="ROUNDS", help="only kill a writer this often")
    parser.add_argument("--keep", type=Path, help="folder to keep the store in")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        place = options.keep or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        return killed(place, options.kill) if options.kill else measured(place, options)


def killed(folder: Path, rounds: int) -> int:
    from tests.store.test_writers import kill_rounds

    figures = kill_rounds(folder, rounds)
    print(
        f"{figures['rounds']} kills, {figures['acknowledged']} acknowledged outputs, none lost; integrity ok"
    )
    return 0


def measured(folder: Path, options: Any) -> int:
    path = folder / "plumbline.db"
    with Store(path) as store:
        cases = [
            Case(id=f"q{i}", query=f"Frage {i} zu {WORDS[i % 12]}?", order=i, question_type=str(i % 5))
            for i in range(options.cases)
        ]
        begun = time.process_time()
        for number in range(options.written):
            write(store, number, cases)
        spent = (time.process_time() - begun) / options.written / options.cases
        print(f"written: {spent * 1e3:.2f} CPU ms a case (output and result, with making the records)")
        for number in range(options.written, options.runs):
            copy(store, number, options.written)
        store._guarded(lambda: store._connection().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())
    size = path.stat().st_size / (options.runs * options.cases)
    print(
        f"{options.runs} runs × {options.cases:,} cases: {path.stat().st_size / 1e6:,.0f} MB, {size:,.0f} bytes a case-result"
    )
    with Store(path, readonly=True) as store:
        last = f"run-{options.runs - 1:03}"
        compared = timed("compare two runs", lambda: compare_runs(store, "run-000", last))
        trends = timed("trends of the suite", lambda: trend(store, "bench"))
        timed("trends of the suite (again)", lambda: trend(store, "bench"))
        timed("flaky cases of 20 runs", lambda: flaky_cases(store, "bench"))
        timed("history of one case", lambda: case_history(store, "q77"))
        timed("list of runs", lambda: store.runs(limit=50, light=True))
        timed(
            "verdicts and a mean of one run in SQL",
            lambda: store.query(
                "SELECT verdict, count(*), avg(score(layout, scores, 'ndcg_at_k')) FROM case_results WHERE run_id = ? GROUP BY verdict",
                [last],
            ),
        )
    code = f"from core.store.runs import Store; from core.store.compare import compare_runs; s = Store({str(path)!r}, readonly=True); compare_runs(s, 'run-000', {last!r})"
    begun, used = time.perf_counter(), sum(os.times()[2:4])
    subprocess.run([sys.executable, "-c", code], check=True)
    print(
        f"compare in a fresh process: {time.perf_counter() - begun:.2f} s wall, {sum(os.times()[2:4]) - used:.2f} CPU s"
    )
    good = size <= 1_500 and compared < 2 and trends < 1
    print("within the limits (1,500 bytes, 2 s, 1 s)" if good else "BEYOND A LIMIT (1,500 bytes, 2 s, 1 s)")
    return 0 if good else 1


def timed(name: str, work: Callable[[], Any]) -> float:
    begun, used = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - begun, time.process_time() - used
    print(f"{name}: {wall:.3f} s wall, {cpu:.3f} CPU s")
    return cpu


def write(store: Store, number: int, cases: list[Case]) -> None:
    """One run as a run does it: batches of 32 outputs and their results, then the seal."""
    chance = random.Random(number)
    chunks = [
        {
            "id": f"ordnung-{k % 19}.pdf:{k}:{k:08x}",
            "text": " ".join(chance.choices(WORDS, k=200)),
            "title": f"§ {k % 40}",
            "doc_path": f"ordnung-{k % 19}.pdf",
            "page": k % 30 + 1,
            "section_id": f"§ {k % 40}",
        }
        for k in range(3_000)
    ]
    store.create_run(a_run(number), cases)
    for at in range(0, len(cases), 32):
        part = cases[at : at + 32]
        store.add_outputs(a_run(number).id, [an_output(case, chunks, chance) for case in part])
        store.add_results(a_run(number).id, [a_result(case, chance) for case in part])
    seal(store, number, chance)


def a_run(number: int) -> Run:
    day = f"2026-{number // 28 + 1:02}-{number % 28 + 1:02}"
    settings = {"classifier_type": "document_qa", "retriever": "bm25" if number < 50 else "tfidf", "top_k": 8}
    return Run(
        id=f"run-{number:03}", name=f"nightly {number}", kind="document_qa", suite="bench", suite_digest="d",
        created_at=f"{day}T00:00:00+00:00", settings=settings, digests={"questions": "q"}, git_revision=f"{number // 7:040x}",
    )  # fmt: skip


def an_output(case: Case, chunks: list[dict[str, Any]], chance: random.Random) -> Output:
    hits = tuple(
        Hit(rank=rank, score=20 * chance.random() / rank, **chunk)
        for rank, chunk in enumerate(chance.sample(chunks, 8), 1)
    )
    return Output(
        case_id=case.id,
        text=" ".join(chance.choices(WORDS, k=80))[:300],
        hits=hits,
        latency_ms=chance.random() * 200,
        signals={
            "retrieval_query": case.query,
            "retriever": "bm25",
            "answer_mode": "extractive",
            "answerability_confidence": chance.random(),
        },
        stages={"retrieve": chance.random(), "answer": chance.random()},
        asked_at="2026-01-01T00:00:00.000+00:00",
    )


def a_result(case: Case, chance: random.Random) -> Result:
    verdict = chance.choices(VERDICTS, WEIGHTS)[0]
    scores = {name: chance.choice((0.0, 1.0, None, chance.random(), chance.random())) for name in METRICS}
    return Result(
        case_id=case.id,
        verdict=verdict,
        label="correct" if verdict == "PASS" else "incorrect",
        reasons=(f"the answer is {'correct' if verdict == 'PASS' else 'incorrect'}",),
        scores=scores,
        undefined={name: "no_relevant" for name, value in scores.items() if value is None},
        relevance_source="spans",
        diagnosis=Diagnosis(
            primary_reason="ok" if verdict == "PASS" else "retrieval_miss",
            explanation="the passage was not found",
        ),
    )


def seal(store: Store, number: int, chance: random.Random) -> None:
    run_id = a_run(number).id
    counted = store.query(
        "SELECT verdict, count(*) AS n FROM case_results WHERE run_id = ? GROUP BY verdict", [run_id]
    )
    drop = 0.05 if number >= 60 else 0.0
    aggregates = [
        Aggregate(metric=name, mean=0.7 - drop + chance.gauss(0, 0.01), n_scored=9_000, n_not_applicable=900, n_error=100, low=0.6, high=0.8, group_by=key, group=group)
        for key, group in (("", ""), *(("question_type", str(i)) for i in range(5)))
        for name in ("pass_rate", *METRICS)
    ]  # fmt: skip
    store.seal(
        run_id,
        summary={"n": 1},
        aggregates=aggregates,
        verdicts={row["verdict"]: row["n"] for row in counted},
    )


def copy(store: Store, number: int, written: int) -> None:
    """A run with the contents of a written one and other verdicts."""
    chance = random.Random(number)
    store.create_run(a_run(number), [])
    base = chance.randrange(written)
    with store.write() as connection:
        to, source = store.run_key(f"run-{number:03}"), store.run_key(f"run-{base:03}")
        for table in ("run_cases", "outputs", "results"):
            _copy_rows(connection, table, source, to)
        connection.execute(
            "UPDATE results SET verdict = CASE verdict WHEN 'PASS' THEN 'FAIL' ELSE 'PASS' END "
            "WHERE run_key = ? AND (case_key * 7919 + ?) % 25 = 0",
            (to, number),
        )
    seal(store, number, chance)


def _copy_rows(connection: sqlite3.Connection, table: str, source: int, to: int) -> None:
    names = [
        row[1]
        for row in connection.execute(f"PRAGMA table_info({table})")
        if row[1] not in ("key", "run_key")
    ]
    columns = ", ".join(names)
    connection.execute(
        f"INSERT INTO {table} (run_key, {columns}) SELECT ?, {columns} FROM {table} WHERE run_key = ?",
        (to, source),
    )
