"""Word lists as data: stop words by language, abbreviations, units. Read by `core.text` and `core.metrics`.

One entry a line; `#` starts a comment. Lists are in Unicode NFKC and case-folded.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def entries(name: str) -> tuple[str, ...]:
    """The lines of the list `name` (a file name of this folder), without comments and empty lines."""
    lines = files(__name__).joinpath(name).read_text("utf-8").splitlines()
    kept = (line.split("#", 1)[0].strip() for line in lines)
    return tuple(line for line in kept if line)


@cache
def word_list(name: str) -> frozenset[str]:
    """Every white-space separated word of the list `name`."""
    return frozenset(word for line in entries(name) for word in line.split())
