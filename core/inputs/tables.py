"""How many tables a page seems to hold, from its raw text alone."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"^[+-]?\d+(?:[.,]\d+)*%?$|^[-–x✓✗]$")
_GAP = re.compile(r"\t|\|| {2,}")
LEAST_ROWS = 3


def count_tables(page: str) -> int:
    """Number of table-like blocks: runs of at least three neighbouring lines that each look like a row.

    A line looks like a row when it is split by tabs, bars or wide gaps into three cells or more, or when it
    has at least two words that are numbers and these are at least a quarter of its words. This is an
    estimate: pypdf gives no cell borders, a table whose cells wrap may count twice or not at all.
    """
    tables = rows = 0
    for line in [*page.splitlines(), ""]:
        if _is_row(line.strip()):
            rows += 1
            continue
        tables += rows >= LEAST_ROWS
        rows = 0
    return tables


def _is_row(line: str) -> bool:
    if len([cell for cell in _GAP.split(line) if cell.strip()]) >= 3:
        return True
    parts = line.split()
    numbers = sum(1 for part in parts if _NUMBER.match(part))
    return numbers >= 2 and numbers * 4 >= len(parts)
