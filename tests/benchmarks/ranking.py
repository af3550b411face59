"""Ranking metrics against pytrec_eval: CPU ratio, agreement, and what one case costs inside a run."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from core.contracts import ScoringContext
from core.metrics.ranking_batch import Grid, Judgements, batch_scores
from core.metrics.retrieval_scores import retrieval_scores
from core.records import Case, Hit, Output

MEASURES = {"ndcg_cut.10", "recip_rank", "recall.10", "map"}
OURS = {"ndcg_cut_10": "ndcg_at_k", "recall_10": "recall_at_k", "map": "average_precision"}


def main(argv: list[str]) -> int:
    """Prints one line a shape (queries × depth) and tie mode; 0 when all figures agree to 1e-9."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(argv)
    worst = 0.0
    for n, depth in ((10_000, 20), (10_000, 100), (100_000, 10)):
        for mode in ("in rank order", "shuffled", "tied"):
            worst = max(worst, _compare(n, depth, mode, options.rounds))
    _single_case()
    print(f"largest difference from pytrec_eval: {worst:.1e}")
    return 0 if worst <= 1e-9 else 1


def _data(n: int, depth: int, mode: str, seed: int = 0) -> tuple[Grid, Judgements]:
    rng = np.random.default_rng(seed)
    pool = depth * 3
    items = rng.permuted(np.tile(np.arange(pool, dtype=np.int32), (n, 1)), axis=1)[:, :depth].copy()
    scores = np.sort(rng.random((n, depth)), axis=1)[:, ::-1].copy()
    if mode == "tied":
        scores = np.floor(scores * 6) / 6
    if mode != "in rank order":
        shuffle = rng.permuted(np.tile(np.arange(depth), (n, 1)), axis=1)
        scores = np.take_along_axis(scores, shuffle, axis=1)
    judged = rng.permuted(np.tile(np.arange(pool, dtype=np.int32), (n, 1)), axis=1)[:, :4]
    row = np.repeat(np.arange(n), 4)
    grades = rng.integers(0, 4, size=n * 4)
    grid = Grid(items, None if mode == "in rank order" else scores)
    return grid, Judgements(row, judged.reshape(-1), grades)


def _dicts(grid: Grid, judgements: Judgements) -> tuple[dict[str, Any], dict[str, Any]]:
    depth = grid.items.shape[1]
    scores = (
        grid.scores if grid.scores is not None else np.tile(np.arange(depth, 0, -1.0), (len(grid.items), 1))
    )
    run = {
        str(q): {f"d{item:06d}": float(score) for item, score in zip(row, of_row, strict=True)}
        for q, (row, of_row) in enumerate(zip(grid.items.tolist(), scores.tolist(), strict=True))
    }
    qrels: dict[str, dict[str, int]] = {}
    for q, item, grade in zip(
        judgements.row.tolist(), judgements.item.tolist(), judgements.grade.tolist(), strict=True
    ):
        qrels.setdefault(str(q), {})[f"d{item:06d}"] = int(grade)
    return run, qrels


def _compare(n: int, depth: int, mode: str, rounds: int) -> float:
    try:
        import pytrec_eval
    except ImportError:
        print("pytrec_eval is not installed (it comes with ir-measures): only our own time is measured")
        pytrec_eval = None
    grid, judgements = _data(n, depth, mode)
    ours = _best(lambda: batch_scores(grid, judgements, 10), rounds)
    line = f"{n:>7} x {depth:<4} {mode:<14} ours {1000 * ours[0]:7.1f} ms CPU"
    if pytrec_eval is None:
        print(line)
        return 0.0
    run, qrels = _dicts(grid, judgements)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, MEASURES)
    theirs = _best(lambda: evaluator.evaluate(run), rounds)
    print(f"{line}, pytrec_eval {1000 * theirs[0]:7.1f} ms, ratio {ours[0] / theirs[0]:.3f}")
    worst = 0.0
    for theirs_name, name in OURS.items():
        reference = np.array([theirs[1][str(q)][theirs_name] for q in range(n)])
        values = np.where(ours[1]["defined"], ours[1][name], 0.0)
        worst = max(worst, float(np.abs(values - reference).max()))
    return worst


def _best(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    times, result = [], None
    for _ in range(rounds):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times), result


def _single_case() -> None:
    hits = tuple(
        Hit(
            id=f"c{i}",
            rank=i + 1,
            score=1.0 / (i + 1),
            text=f"passage number {i} about thesis rules",
            doc_path="a.pdf",
        )
        for i in range(8)
    )
    case = Case(
        id="1",
        query="How long?",
        gold_answer="Six months.",
        qrels={"c1": 2, "c5": 1, "x": 1},
        doc_paths=("a.pdf",),
    )
    output, context = Output(case_id="1", hits=hits), ScoringContext(top_k=8)
    spent, _ = _best(lambda: [retrieval_scores(case, output, context) for _ in range(2_000)], 3)
    print(f"retrieval_scores, 8 hits: {spent / 2:.4f} ms CPU a case")
