"""A threshold for an offline score, fitted on claims that people labelled, and whether it can be trusted.

The best threshold of such a score moved between 0.57 and 0.97 from one data set to another (statistics.md 2.5): one
that was not fitted on the user's own data decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import Field

from core.errors import InputError
from core.records import Record

MIN_CLAIMS = 30
MIN_EACH = 10


class Fit(Record):
    """A fitted threshold: scores at or above it count as supported.

    `balanced_accuracy` is the mean of sensitivity and specificity on claims the threshold was not fitted on
    (cross-validated), with a bootstrap interval; `length_only` is what the length of the claim alone reaches in the
    same way. `auroc` is over all claims. `usable`: the lower bound is above 0.5 and length alone does worse.
    """

    threshold: float
    balanced_accuracy: float
    low: float
    high: float
    auroc: float
    length_only: float
    n: int = Field(ge=MIN_CLAIMS)
    n_supported: int
    folds: int
    seed: int
    usable: bool
    note: str = ""


def fit_threshold(
    scores: Sequence[float],
    supported: Sequence[bool],
    lengths: Sequence[int],
    *,
    folds: int = 5,
    seed: int = 0,
) -> Fit:
    """Fit on scores, labels of people and lengths (characters of each claim), all of the same items.

    InputError below 30 claims or below 10 of either label: such a fit would say more about chance than the score.
    """
    s, y = np.asarray(scores, dtype=float), np.asarray(supported, dtype=bool)
    if not len(s) == len(y) == len(lengths):
        raise InputError("scores, labels and lengths must belong to the same claims")
    yes, no = int(y.sum()), int((~y).sum())
    if len(y) < MIN_CLAIMS or min(yes, no) < MIN_EACH:
        raise InputError(
            f"{len(y)} labelled claims ({yes} supported, {no} not): at least {MIN_CLAIMS} are needed, {MIN_EACH} of each"
        )
    parts = _folds(y, folds, seed)
    said = _held_out(s, y, parts)
    by_length = max(
        _balanced(y, _held_out(sign * np.asarray(lengths, dtype=float), y, parts)) for sign in (1, -1)
    )
    accuracy = _balanced(y, said)
    low, high = _interval(y, said, seed)
    usable = low > 0.5 and accuracy > by_length
    return Fit(
        threshold=_best(s, y),
        balanced_accuracy=accuracy,
        low=low,
        high=high,
        auroc=_auroc(s, y),
        length_only=by_length,
        n=len(y),
        n_supported=yes,
        folds=folds,
        seed=seed,
        usable=usable,
        note="" if usable else "not shown to do better than chance and length: it decides no verdict",
    )


def _best(s: Any, y: Any) -> float:
    """The threshold with the highest balanced accuracy; the middle of the widest gap among equals."""
    values = np.unique(s)
    cuts = np.concatenate([[values[0]], (values[1:] + values[:-1]) / 2])
    sensitivity = np.array([(s[y] >= cut).mean() for cut in cuts])
    specificity = np.array([(s[~y] < cut).mean() for cut in cuts])
    quality = sensitivity + specificity
    best = np.flatnonzero(quality >= quality.max() - 1e-12)
    gaps = np.concatenate([[0.0], values[1:] - values[:-1]])
    return float(cuts[best[np.argmax(gaps[best])]])


def _held_out(s: Any, y: Any, parts: Any) -> Any:
    said = np.zeros(len(y), dtype=bool)
    for part in np.unique(parts):
        held = parts == part
        said[held] = s[held] >= _best(s[~held], y[~held])
    return said


def _folds(y: Any, folds: int, seed: int) -> Any:
    """A fold for each item, both labels spread evenly."""
    stream = np.random.default_rng(seed)
    parts = np.zeros(len(y), dtype=int)
    for label in (True, False):
        places = stream.permutation(np.flatnonzero(y == label))
        parts[places] = np.arange(len(places)) % folds
    return parts


def _balanced(y: Any, said: Any) -> float:
    return float((said[y].mean() + (~said[~y]).mean()) / 2)


def _interval(y: Any, said: Any, seed: int, resamples: int = 2000) -> tuple[float, float]:
    stream = np.random.default_rng(seed)
    hits, misses = said[y].astype(float), (~said[~y]).astype(float)
    draws = [
        (stream.choice(hits, len(hits)).mean() + stream.choice(misses, len(misses)).mean()) / 2
        for _ in range(resamples)
    ]
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(low), float(high)


def _auroc(s: Any, y: Any) -> float:
    """Share of (supported, unsupported) pairs that the score puts in order, ties counting half."""
    above = (s[y][:, None] > s[~y][None, :]).mean()
    equal = (s[y][:, None] == s[~y][None, :]).mean()
    return float(above + equal / 2)
