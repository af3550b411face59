"""Pairs of configurations on the same questions: controlled, confounded or replicate, over complete settings.

Controlled: exactly one independent setting differs. A setting that applies to one side only, because its parent
was switched, is not a further difference: the parent entails it (statistics.md 6.2).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.attribution.grid import Factor, Grid

Array = np.ndarray[Any, Any]
CONTROLLED, CONFOUNDED, REPLICATE = "controlled", "confounded", "replicate"


@dataclass(frozen=True, slots=True)
class Pairs:
    """Unordered pairs (left < right). `changed[f]` and `entailed[f]` are booleans over pairs for factor f;
    `factor` is the one that changed in a controlled pair, else −1."""

    left: Array
    right: Array
    changed: Array
    entailed: Array
    factor: Array

    def kind(self, pair: int) -> str:
        n = int(self.changed[:, pair].sum())
        return CONTROLLED if n == 1 else (REPLICATE if n == 0 else CONFOUNDED)

    @property
    def n_changed(self) -> Array:
        return np.asarray(self.changed.sum(axis=0))


def find_pairs(grid: Grid) -> Pairs:
    size = len(grid.configurations)
    left, right = (np.asarray(side) for side in np.triu_indices(size, 1))
    place = {factor.name: i for i, factor in enumerate(grid.factors)}
    differs = np.zeros((len(grid.factors), len(left)), dtype=bool)
    one_side = np.zeros_like(differs)
    for i, factor in enumerate(grid.factors):
        a, b = factor.codes[left], factor.codes[right]
        differs[i] = a != b
        one_side[i] = (a < 0) != (b < 0)
    entailed = np.zeros_like(differs)
    for i, factor in enumerate(grid.factors):
        for parent in factor.parents:
            if parent in place:
                entailed[i] |= one_side[i] & differs[place[parent]]
    changed = differs & ~entailed
    single = changed.sum(axis=0) == 1
    which = np.where(single, changed.argmax(axis=0) if len(changed) else -1, -1)
    return Pairs(left, right, changed, entailed, which)


@dataclass(frozen=True, slots=True)
class Contrast:
    """All controlled pairs in which `factor` goes from level `base` to level `value` (−1: does not apply): blocks
    in which everything else is equal. `base_side[b]` and `value_side[b]` are configurations."""

    factor: Factor
    base: int
    value: int
    base_side: Array
    value_side: Array
    entails: tuple[str, ...]

    @property
    def blocks(self) -> int:
        return len(self.base_side)

    def differences(self, scores: Array) -> Array:
        """Per question, value − base averaged over blocks: (Q,), NaN where no block has both."""
        return mean_over_blocks(scores[self.value_side] - scores[self.base_side])


def mean_over_blocks(differences: Array) -> Array:
    count = (~np.isnan(differences)).sum(axis=0)
    return np.where(count > 0, np.nansum(differences, axis=0) / np.maximum(count, 1), np.nan)


def contrasts(grid: Grid, pairs: Pairs) -> Iterator[Contrast]:
    """Every contrast of every factor that has controlled pairs, base before value in the order of levels."""
    for number, factor in enumerate(grid.factors):
        mine = np.flatnonzero(pairs.factor == number)
        a, b = factor.codes[pairs.left[mine]], factor.codes[pairs.right[mine]]
        for low, high in itertools.combinations(range(-1, len(factor.levels)), 2):
            up, down = mine[(a == low) & (b == high)], mine[(a == high) & (b == low)]
            if not len(up) + len(down):
                continue
            chosen = np.concatenate([up, down])
            entailed = np.asarray(pairs.entailed[:, chosen].any(axis=1))
            yield Contrast(
                factor,
                low,
                high,
                np.concatenate([pairs.left[up], pairs.right[down]]),
                np.concatenate([pairs.right[up], pairs.left[down]]),
                tuple(f.name for f, e in zip(grid.factors, entailed, strict=True) if e),
            )


def reverse(contrast: Contrast) -> Contrast:
    """The same contrast seen from the other level."""
    return Contrast(
        contrast.factor,
        contrast.value,
        contrast.base,
        contrast.value_side,
        contrast.base_side,
        contrast.entails,
    )


def base_level(grid: Grid, factor: Factor) -> int:
    """The level others are held against: the baseline configuration's, or the commonest where it has none."""
    code = int(factor.codes[grid.baseline])
    if code >= 0:
        return code
    return int(np.bincount(factor.codes[factor.codes >= 0]).argmax())
