"""Random signs and bootstrap weights in blocks: constant memory, and the same numbers whatever the block size.

Each resample draws a whole number of 64-bit words from one seeded stream, so that resample i is the same
however many are drawn at once and on however many threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
BLOCK_BYTES = 16 * 2**20


def block_rows(n: int, bytes_per_item: int = 16) -> int:
    """How many resamples of `n` items fit into one block of 16 MB."""
    return int(max(1, BLOCK_BYTES // max(1, n * bytes_per_item)))


def random_signs(n: int, resamples: int, seed: int, block: int | None = None) -> Iterator[Array]:
    """Blocks (rows ≤ block, n) of independent ±1 (float64), `resamples` rows in all."""
    stream = np.random.PCG64(seed)
    words = -(-n // 64)
    block = block or block_rows(n)
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        raw = stream.random_raw(rows * words).astype("<u8").view(np.uint8).reshape(rows, words * 8)
        bits = np.unpackbits(raw, axis=1, count=n)
        yield 1.0 - 2.0 * bits


def all_signs(n: int) -> Array:
    """All 2ⁿ sign vectors, (2ⁿ, n)."""
    numbers = np.arange(2**n, dtype=np.uint64)[:, None]
    bits = (numbers >> np.arange(n, dtype=np.uint64)[None, :]) & np.uint64(1)
    return 1.0 - 2.0 * bits.astype(float)


def bootstrap_counts(n: int, resamples: int, seed: int, block: int | None = None) -> Iterator[Array]:
    """Blocks (rows, n) of how often each of `n` items was drawn in a resample of size n (float32)."""
    stream = np.random.PCG64(seed)
    words = -(-n // 2)
    block = block or block_rows(n, 24)
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        raw = stream.random_raw(rows * words).astype("<u8").view(np.uint32).reshape(rows, words * 2)[:, :n]
        drawn = (raw.astype(np.uint64) * np.uint64(n)) >> np.uint64(32)
        flat = drawn.astype(np.int64) + np.arange(rows, dtype=np.int64)[:, None] * n
        yield np.bincount(flat.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float32)


def bootstrap_means(values: Array, resamples: int, seed: int, block: int | None = None) -> Array:
    """Means of resampled rows: `values` (n,) or (n, m) gives (resamples, m). All columns share their draws, so
    that differences of columns stay paired. No NaN allowed."""
    x = np.asarray(values, dtype=float)
    x = x[:, None] if x.ndim == 1 else x
    centre = x.mean(axis=0)
    # float32 is exact enough only on centred values (performance.md 5)
    centred = (x - centre).astype(np.float32)
    means = [counts @ centred for counts in bootstrap_counts(len(x), resamples, seed, block)]
    return np.concatenate(means).astype(float) / len(x) + centre
