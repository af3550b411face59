"""Paths of codes in a code list: what every hierarchical figure of a classifier is computed from.

A *path* is the tuple of nodes from the top down to the code itself, the root left out (Kiritchenko et al. 2006).
Under `official` it holds the prefixes of 2, 3, 4, 5… significant digits whose code exists; under
`two_digit_steps` the prefixes of 2, 4, 6 and 8 digits, padding zeros included, as the tool of that scheme
counts; under `catalog` the parents the list itself gives.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from core.corpus import Catalog

Path = tuple[str, ...]
NO_OVERLAP, EXACT = "no_overlap", "exact"
OFFICIAL = (("division", 2), ("group", 3), ("class", 4), ("category", 5))
OFFICIAL_FINER = (("subcategory", 6), ("subcategory_7", 7), ("subcategory_8", 8))
TWO_DIGIT = (("division", 2), ("group", 4), ("class", 6), ("category", 8))
_WIDTH = 8


@dataclass(frozen=True, slots=False)
class CodeTree:
    """The hierarchy of one run. Without a catalogue, codes of eight digits have the path of their digits, and
    all others stand alone."""

    scheme: str
    catalog: Catalog | None = None
    _paths: dict[str, Path] = field(default_factory=dict, repr=False, compare=False)
    _nodes: dict[str, tuple[str | None, ...]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def by_digits(self) -> bool:
        return self.scheme in ("official", "two_digit_steps")

    @cached_property
    def levels(self) -> tuple[tuple[str, int], ...]:
        """(name, digits) of each level from the top; (name, depth) under `catalog`."""
        if self.scheme == "official":
            return (*OFFICIAL, *OFFICIAL_FINER)
        if self.scheme == "two_digit_steps":
            return TWO_DIGIT
        names = self.catalog.level_names if self.catalog is not None else ("level_1",)
        return tuple((name, depth) for depth, name in enumerate(names, 1))

    def known(self, code: str) -> bool:
        """Whether the code is in the list; without a list every code is."""
        return self.catalog is None or code in self.catalog

    def path(self, code: str) -> Path:
        """Nodes from the top to the code; empty for a code that is not in the list."""
        if code not in self._paths:
            self._paths[code] = self._path(code)
        return self._paths[code]

    def _path(self, code: str) -> Path:
        if not self.known(code):
            return ()
        if not self.by_digits:
            return self.catalog.ancestors(code) if self.catalog is not None else (code,)
        if not is_digits(code):
            return (code,)
        if self.scheme == "two_digit_steps":
            return tuple(code[:digits] for _, digits in TWO_DIGIT)
        own = significant(code)
        return tuple(
            code[:digits]
            for _, digits in self.levels
            if digits <= own and (self.catalog is None or code[:digits].ljust(_WIDTH, "0") in self.catalog)
        )

    def lineage(self, code: str) -> Path:
        """The path without nodes that only repeat padding zeros: on it an ancestor is a prefix of its descendants
        under every scheme."""
        path = self.path(code)
        if self.scheme != "two_digit_steps" or not path or not is_digits(code):
            return path
        return path[: -(-significant(code) // 2)]

    def node(self, code: str, level: int) -> str | None:
        """The ancestor-or-self of a code at a level (from 1); None where the code is shallower or unknown."""
        nodes = self.nodes(code)
        return nodes[level - 1] if level <= len(nodes) else None

    def nodes(self, code: str) -> tuple[str | None, ...]:
        """`node` of every level, from the top."""
        if code not in self._nodes:
            self._nodes[code] = tuple(self._node(code, size) for _, size in self.levels)
        return self._nodes[code]

    def _node(self, code: str, size: int) -> str | None:
        if not self.known(code):
            return None
        if self.by_digits:
            if not is_digits(code):
                return None
            return code[:size] if self.scheme == "two_digit_steps" or significant(code) >= size else None
        path = self.path(code)
        return path[size - 1] if len(path) >= size else None

    def label(self, code: str | None) -> str:
        """The label of a code or of a node (a prefix of digits); empty where there is none."""
        if code is None or self.catalog is None:
            return ""
        entry = self.catalog.by_code.get(code) or self.catalog.by_code.get(code.ljust(_WIDTH, "0"))
        return entry.label if entry is not None else ""

    def match_level(self, predicted: str, gold: str) -> tuple[int, str]:
        """(level, name) of the deepest level on which two codes agree. The level is in digits (depth under
        `catalog`), 0 and `no_overlap` for none; the whole code is `exact` (the last level's name under
        `two_digit_steps`, as published)."""
        if predicted == gold and self.known(gold):
            if self.scheme == "two_digit_steps":
                return TWO_DIGIT[-1][1], TWO_DIGIT[-1][0]
            return (_WIDTH, EXACT) if self.by_digits and is_digits(gold) else (len(self.path(gold)), EXACT)
        found = (0, NO_OVERLAP)
        for (name, size), node, other in zip(
            self.levels, self.nodes(gold), self.nodes(predicted), strict=True
        ):
            if node is not None and node == other:
                found = (size, name)
        return found


def is_digits(code: str) -> bool:
    return len(code) == _WIDTH and code.isdigit()


def significant(code: str) -> int:
    """How many digits of a padded code say something, at least two."""
    return max(2, len(code.rstrip("0")))


def relation(predicted: Path, gold: Path) -> str:
    """How a prediction stands to the gold: exact | ancestor (too general) | descendant (too specific) | sibling
    (same direct parent) | same_branch (anything else below a shared node) | unrelated | invalid_code.

    >>> relation(("45", "452"), ("45", "452", "4521")), relation(("45", "453"), ("45", "452"))
    ('ancestor', 'sibling')
    """
    if not predicted:
        return "invalid_code"
    if predicted == gold:
        return "exact"
    shared = common(predicted, gold)
    if shared == len(predicted):
        return "ancestor"
    if shared == len(gold):
        return "descendant"
    if not shared:
        return "unrelated"
    if len(predicted) == len(gold) == shared + 1:
        return "sibling"
    return "same_branch"


def common(a: Path, b: Path) -> int:
    """How many nodes from the top two paths share."""
    shared = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        shared += 1
    return shared
