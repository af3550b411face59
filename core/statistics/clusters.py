"""Questions that belong together (one document, one notice, paraphrases): variances that know it.

The unit of inference is the cluster. A question without a cluster (None) is a cluster of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

MIN_CLUSTERS = 5  # below it no interval by cluster is given (statistics.md 4.3)
Array = np.ndarray[Any, Any]


def cluster_index(clusters: Sequence[Hashable | None] | None, n: int) -> Array:
    """Cluster number (0 … G−1, in order of first appearance) of each of `n` values; None is its own cluster."""
    if clusters is None:
        return np.arange(n)
    if len(clusters) != n:
        raise ValueError(f"{n} values but {len(clusters)} clusters")
    numbers: dict[Hashable, int] = {}
    return np.array(
        [
            numbers.setdefault(("alone", i) if c is None else ("in", c), len(numbers))
            for i, c in enumerate(clusters)
        ],
        dtype=np.int64,
    )


def is_clustered(clusters: Sequence[Hashable | None] | None) -> bool:
    """Whether any two values share a cluster."""
    if clusters is None:
        return False
    named = [c for c in clusters if c is not None]
    return len(set(named)) < len(named)


def cluster_sums(values: Array, index: Array) -> Array:
    """Sums of `values` (n,) or (n, m) by cluster: (G,) or (G, m)."""
    if values.ndim == 1:
        return np.bincount(index, weights=values)
    sums = np.zeros((int(index.max(initial=-1)) + 1, values.shape[1]))
    np.add.at(sums, index, values)
    return sums


def clustered_se(
    values: Sequence[float] | Array, clusters: Sequence[Hashable | None] | None, *, corrected: bool = True
) -> tuple[float, int]:
    """Standard error of the mean with whole clusters as units, and the number of clusters G.

    CR1: Var = G/(G−1) · Σ_g (Σ_{i in g}(x_i − x̄))² / n² (statistics.md 4.3); CR0 without the first factor.
    With one value a cluster CR1 is the usual s/√n. G = 1 gives NaN.
    """
    x = np.asarray(values, dtype=float)
    index = cluster_index(clusters, len(x))
    sums = cluster_sums(x - x.mean(), index)
    groups = len(sums)
    variance = float((sums**2).sum()) / len(x) ** 2
    if corrected:
        variance = variance * groups / (groups - 1) if groups > 1 else float("nan")
    return float(np.sqrt(variance)), groups


def effective_size(
    values: Sequence[float] | Array, clusters: Sequence[Hashable | None]
) -> tuple[float, float, int]:
    """(design effect, effective n, G) of a rate: Var_CR1 against p(1−p)/n, clipped to [1, largest cluster].

    Where all values are equal the variation between clusters cannot be seen: each cluster then counts once.
    """
    x = np.asarray(values, dtype=float)
    index = cluster_index(clusters, len(x))
    sizes = np.bincount(index)
    mean, n, groups = float(x.mean()), len(x), len(sizes)
    naive = mean * (1 - mean) / n
    if naive <= 0:
        return n / groups, float(groups), groups
    se, _ = clustered_se(x, clusters)
    deff = float(np.clip(se**2 / naive, 1.0, sizes.max())) if groups > 1 else float(n)
    return deff, n / deff, groups


@dataclass(frozen=True, slots=True)
class RowMeans:
    """Means of many rows of paired differences at once; arrays over rows. `low`/`high` are NaN where there is
    nothing to estimate a spread from; `units` is the number of clusters (questions, where clusters are too few)."""

    mean: Array
    low: Array
    high: Array
    se: Array
    n: Array
    units: Array


def row_means(matrix: Array, index: Array, level: float = 0.95, bound: float | None = 1.0) -> RowMeans:
    """Mean of each row of `matrix` (rows × questions; NaN is absent) with a CR1 interval over clusters `index`.

    With fewer than five clusters questions count as independent. `bound` b says that differences lie in [−b, b]:
    a row without any spread then gets the interval of the share of questions that could differ.
    """
    from scipy.special import stdtrit

    present = ~np.isnan(matrix)
    n = present.sum(axis=1)
    safe = np.maximum(n, 1)
    filled = np.where(present, matrix, 0.0)
    mean = filled.sum(axis=1) / safe
    residual = np.where(present, matrix - mean[:, None], 0.0)
    counts = np.bincount(index) if len(index) else np.zeros(0, dtype=int)
    clustered = MIN_CLUSTERS <= len(counts) < len(index)
    if clustered:
        one_hot = np.zeros((len(index), len(counts)))
        one_hot[np.arange(len(index)), index] = 1.0
        units = ((present @ one_hot) > 0).sum(axis=1)
        squares = ((residual @ one_hot) ** 2).sum(axis=1)
    else:
        units, squares = n, (residual**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        se = np.sqrt(squares * units / np.maximum(units - 1, 1)) / safe
        half = np.where(units > 1, stdtrit(np.maximum(units - 1, 1), 0.5 + level / 2), np.nan) * se
    low, high = mean - half, mean + half
    flat = (squares <= 1e-18) & (n > 0)
    if flat.any():
        low[flat], high[flat] = _flat_limits(mean[flat], units[flat], level, bound)
    empty = n == 0
    for array in (mean, low, high, se):
        array[empty] = np.nan
    if bound is not None:
        low, high = np.maximum(low, -bound), np.minimum(high, bound)
    return RowMeans(mean, low, high, se, n, units)


def _flat_limits(mean: Array, units: Array, level: float, bound: float | None) -> tuple[Array, Array]:
    from scipy.special import ndtri

    if bound is None:
        return np.full(len(mean), np.nan), np.full(len(mean), np.nan)
    z2 = float(ndtri(0.5 + level / 2)) ** 2
    share = z2 / (units + z2)  # Wilson's upper limit at 0 of n
    return mean - share * (bound + mean), mean + share * (bound - mean)
