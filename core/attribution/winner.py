"""The winner, honestly: rank bands, who is tied with the best, how much of its lead is luck, and what this question
set can show at all (statistics.md 4.6, 4.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from core.attribution.effects import flip_units
from core.attribution.grid import CORRECT, QUALITY, Grid
from core.statistics.clusters import cluster_sums, row_means
from core.statistics.intervals import clustered_rate
from core.statistics.power import (
    detectable_difference,
    detectable_mean_difference,
    questions_needed,
    questions_needed_mean,
)
from core.statistics.resampling import bootstrap_counts
from core.statistics.selection import bootstrap_bias_correction, tied_with_best

if TYPE_CHECKING:
    import pandas as pd

WINNER_COLUMNS = [
    "experiment", "rank", "rank_low", "rank_high", "band", f"mean_{QUALITY}", "quality_low", "quality_high",
    f"mean_{CORRECT}", "correct_low", "correct_high", "delta_to_best", "delta_low", "delta_high", "p_to_best", "tied_with_best",
    "probability_best", "delta_to_baseline", "baseline_low", "baseline_high", "n_questions",
]  # fmt: skip
TARGET = 0.05  # the difference one usually asks about: five points


def winner_table(grid: Grid, *, seed: int = 0) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A row per configuration, best first, and what to say about the winner.

    Everything is compared on the questions that all configurations answered. `tied_with_best` is not shown to be
    worse than the best at a family-wise 5 % (max-T). `rank_low`–`rank_high` is the 95 % range of the rank when
    questions are resampled; `band` 1 are those tied with the best, the next band those tied with the best of the
    rest, and so on.
    """
    import pandas as pd

    quality = grid.scores.get(QUALITY)
    empty = pd.DataFrame(columns=WINNER_COLUMNS)
    if quality is None or not len(quality):
        return empty, {"statement": "no configuration was scored"}
    shared = np.asarray(~np.isnan(quality).any(axis=0))
    if not shared.any():
        return empty, {"statement": "no question was answered by every configuration"}
    scores, index = quality[:, shared], np.unique(grid.index[shared], return_inverse=True)[1]
    groups = [int(i) for i in index] if flip_units(grid) is not None else None
    best = int(scores.mean(axis=1).argmax())
    tied, p = tied_with_best(scores, groups, seed=seed)
    chosen = bootstrap_bias_correction(scores, groups, seed=seed)
    plain, to_best, to_base = (
        row_means(x, index) for x in (scores, scores - scores[best], scores - scores[grid.baseline])
    )
    order = np.argsort(-plain.mean, kind="stable")
    low, high = _rank_range(scores, index, seed)
    bands = _bands(scores, groups, order, seed)
    rows = []
    for rank, c in enumerate(order, 1):
        correct = grid.scores[CORRECT][c][shared] if CORRECT in grid.scores else np.array([])
        known = correct[~np.isnan(correct)]
        limits = clustered_rate(known.tolist(), index[~np.isnan(correct)].tolist()) if len(known) else None
        rows.append([
            grid.names[c], rank, low[c], high[c], bands[c], plain.mean[c], max(0.0, plain.low[c]), plain.high[c],
            float(known.mean()) if len(known) else None, limits.low if limits else None, limits.high if limits else None,
            to_best.mean[c], to_best.low[c] if c != best else None, to_best.high[c] if c != best else None, p[c], tied[c],
            chosen.probability_best[c] if chosen else None,
            to_base.mean[c], to_base.low[c] if c != grid.baseline else None, to_base.high[c] if c != grid.baseline else None, int(shared.sum()),
        ])  # fmt: skip
    frame = pd.DataFrame(rows, columns=WINNER_COLUMNS)
    summary = {
        "best": grid.names[best],
        "n_configurations": len(scores),
        "n_questions": int(shared.sum()),
        "n_units": int(index.max()) + 1,
        "tied_with_best": [grid.names[c] for c in order if tied[c]],
        "apparent_quality": float(plain.mean[best]),
        "corrected_quality": chosen.corrected if chosen else None,
        "optimism": chosen.optimism if chosen else None,
        "corrected_low": chosen.low if chosen else None,
        "corrected_high": chosen.high if chosen else None,
        **_power(grid, scores, shared, order, index),
    }
    summary["statement"] = statement(summary)
    return frame, summary


def statement(found: dict[str, Any]) -> str:
    """What may be said about the winner, in plain words."""
    tied, total = len(found["tied_with_best"]), found["n_configurations"]
    words = [
        f"{found['best']} scores best on these {found['n_questions']} questions ({found['apparent_quality']:.3f})."
    ]
    if total == 1:
        return words[0].replace("scores best", "scores")
    words.append(
        f"{tied - 1} of the other {total - 1} configurations are statistically tied with it; of those, take the cheapest or simplest."
        if tied > 1
        else "It is shown to be better than every other configuration."
    )
    if found["optimism"] is not None:
        words.append(
            f"Choosing the best of {total} makes it look {found['optimism']:.3f} better than it is: expect about {found['corrected_quality']:.3f} on new questions."
        )
    if found["detectable_difference"] is not None:
        words.append(
            f"On this question set only differences of about {found['detectable_difference']:.3f} or more are found with 80 % power."
        )
    if (
        found["questions_for_five_points"] is not None
        and found["questions_for_five_points"] > found["n_questions"]
    ):
        words.append(
            f"About {found['questions_for_five_points']:,} questions would be needed to find a difference of five points."
        )
    return " ".join(words)


def _power(grid: Grid, scores: Any, shared: Any, order: Any, index: Any) -> dict[str, Any]:
    """Detectable differences of the best against the others: with the median spread of their differences."""
    found: dict[str, Any] = dict.fromkeys(
        (
            "detectable_difference",
            "questions_for_five_points",
            "discordance",
            "detectable_correct_difference",
            "questions_for_five_correct_points",
        )
    )
    if len(order) < 2:
        return found
    best, others = order[0], order[1:]
    stats = row_means(scores[others] - scores[best], index)
    units = int(index.max()) + 1
    spread = float(np.nanmedian(stats.se * np.sqrt(stats.units)))
    if spread > 0:
        found["detectable_difference"] = detectable_mean_difference(units, spread)
        needed = questions_needed_mean(TARGET, spread)
        # clusters are the units: as many questions in each as here
        found["questions_for_five_points"] = (
            None if needed is None else round(needed * scores.shape[1] / units)
        )
    if CORRECT in grid.scores:
        correct = grid.scores[CORRECT][:, shared]
        gap = np.abs(correct[others] - correct[best]) > 0.5
        share = float(np.median(gap.mean(axis=1)))
        found["discordance"] = share
        if share > 0:
            found["detectable_correct_difference"] = detectable_difference(scores.shape[1], share)
            found["questions_for_five_correct_points"] = questions_needed(TARGET, share)
    return found


def _rank_range(scores: Any, index: Any, seed: int, resamples: int = 1_000) -> tuple[list[int], list[int]]:
    sums, sizes = cluster_sums(scores.T, index), np.bincount(index).astype(float)
    if len(sizes) < 2:
        return [1] * len(scores), [len(scores)] * len(scores)
    ranks = []
    for counts in bootstrap_counts(len(sizes), resamples, seed):
        means = (counts @ sums) / (counts @ sizes)[:, None]
        ranks.append((-means).argsort(axis=1, kind="stable").argsort(axis=1, kind="stable") + 1)
    low, high = np.quantile(np.concatenate(ranks), [0.025, 0.975], axis=0)
    return [int(np.floor(v)) for v in low], [int(np.ceil(v)) for v in high]


def _bands(scores: Any, groups: Any, order: Any, seed: int) -> list[int]:
    bands = [0] * len(scores)
    left = list(order)
    band = 0
    while left:
        band += 1
        tied, _ = tied_with_best(scores[left], groups, seed=seed, resamples=1_999)
        # a band never ends with a configuration that scores less than one outside of it
        inside = max(i for i, t in enumerate(tied) if t) + 1 if all(tied) else max(1, tied.index(False))
        for c in left[:inside]:
            bands[c] = band
        left = left[inside:]
    return bands
