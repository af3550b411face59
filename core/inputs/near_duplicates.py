"""Texts that are the same or nearly the same, found without comparing all pairs.

Near means a Jaccard similarity of at least `THRESHOLD` between the sets of three-word shingles (Broder 1997).
Candidates come from MinHash bands with fixed seeds; every candidate is compared exactly.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from core.text import words

THRESHOLD = 0.8
_SHINGLE = 3
_BANDS, _ROWS = 24, 4  # a pair at .8 is missed with probability (1 - .8^4)^24 < 1e-5
_PRIME = (1 << 61) - 1
_CROWD = 50  # in a bucket of more, each text is compared with its neighbours only
Shingles = frozenset[int]


def shingles(text: str) -> Shingles:
    """Hashes of the runs of three words; of the whole text where it is shorter. Empty for no words."""
    found = words(text)
    if len(found) < _SHINGLE:
        return (
            frozenset({zlib.crc32(" ".join(found).encode("utf-8", "surrogatepass"))})
            if found
            else frozenset()
        )
    return frozenset(
        zlib.crc32(" ".join(found[i : i + _SHINGLE]).encode("utf-8", "surrogatepass"))
        for i in range(len(found) - _SHINGLE + 1)
    )


def similarity(a: Shingles, b: Shingles) -> float:
    """Jaccard similarity; 0 where one is empty."""
    return len(a & b) / len(a | b) if a and b else 0.0


def near_pairs(
    texts: Sequence[str], others: Sequence[str] | None = None, threshold: float = THRESHOLD
) -> Iterator[tuple[int, int, float]]:
    """(place in `texts`, place in `others`, similarity) of every near pair; within `texts` where `others` is
    None (each pair once, the smaller place first). In no particular order."""
    left = [shingles(text) for text in texts]
    right = None if others is None else [shingles(text) for text in others]
    every = left if right is None else [*left, *right]
    seen: set[tuple[int, int]] = set()
    for bucket in _buckets(every):
        for a, b in _pairs(bucket, len(left) if right is not None else None):
            if (a, b) in seen:
                continue
            seen.add((a, b))
            alike = similarity(every[a], every[b])
            if alike >= threshold:
                yield a, b if right is None else b - len(left), alike


def duplicate_groups(texts: Sequence[str], threshold: float = THRESHOLD) -> list[int]:
    """A group number for each text; texts joined by a chain of near pairs share one."""
    parent = list(range(len(texts)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for a, b, _ in near_pairs(texts, threshold=threshold):
        high, low = sorted((root(a), root(b)), reverse=True)
        parent[high] = low
    return [root(i) for i in range(len(texts))]


def _buckets(every: Sequence[Shingles]) -> Iterator[list[int]]:
    signatures = _signatures(every)
    for band in range(_BANDS):
        found: dict[bytes, list[int]] = defaultdict(list)
        part = np.ascontiguousarray(signatures[:, band * _ROWS : (band + 1) * _ROWS])
        for place, own in enumerate(every):
            if own:
                found[part[place].tobytes()].append(place)
        yield from (bucket for bucket in found.values() if len(bucket) > 1)


def _signatures(every: Sequence[Shingles]) -> NDArray[np.uint64]:
    rng = np.random.default_rng(20_080)
    n = _BANDS * _ROWS
    factor = rng.integers(1, 1 << 31, n, dtype=np.uint64)
    offset = rng.integers(0, 1 << 31, n, dtype=np.uint64)
    result = np.zeros((len(every), n), dtype=np.uint64)
    for place, own in enumerate(every):
        if own:
            values = np.fromiter(own, dtype=np.uint64, count=len(own))
            hashed = (values[:, None] * factor[None, :] + offset[None, :]) % np.uint64(_PRIME)
            result[place] = hashed.min(axis=0)
    return result


def _pairs(bucket: Sequence[int], border: int | None) -> Iterator[tuple[int, int]]:
    if border is None:
        if len(bucket) <= _CROWD:
            yield from combinations(bucket, 2)
        else:
            yield from ((bucket[i], bucket[i + 1]) for i in range(len(bucket) - 1))
        return
    left = [place for place in bucket if place < border]
    right = [place for place in bucket if place >= border]
    if len(left) * len(right) <= _CROWD * _CROWD:
        yield from ((a, b) for a in left for b in right)
    elif right:
        yield from ((a, right[0]) for a in left)
