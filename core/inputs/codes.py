"""Codes as people type them → codes as a code list has them: check digits dropped, leading zeros regained."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from core.inputs.cells import as_list, as_text

CPV_WIDTH = 8
_CHECKED = re.compile(r"(?P<code>\d{7,8})\s*[-–]\s*\d")
_SPACED = re.compile(r"(?<=\d)[\s.](?=\d)")
_INSIDE = re.compile(r"(?<!\d)(\d{8})(?:\s?[-–]\s?\d)?(?!\d)")


@dataclass(slots=True)
class CodeForm:
    """How codes of one list are written. `width` is the digits of a full code, None where codes have no fixed
    width; `known` are the codes of the list, None where there is none.

    Counts what was put right: `restored` (leading zero regained), `checked` (check digit dropped).
    """

    width: int | None = CPV_WIDTH
    known: Collection[str] | None = None
    restored: int = 0
    checked: int = 0

    def read(self, value: Any) -> str:
        """One code. Text that is no code of this form comes back stripped.

        >>> CodeForm().read("45000000-7"), CodeForm().read(9310000), CodeForm().read("09310000.0")
        ('45000000', '09310000', '09310000')
        """
        text = as_text(value)
        if self.known is not None and text in self.known:
            return text
        if self.width is None:
            return text
        if text.endswith(".0") and text[:-2].isdigit():
            text = text[:-2]
        if self.width == CPV_WIDTH:
            text = self._without_check_digit(text)
        if text.isdigit() and len(text) == self.width - 1:
            self.restored += 1
            return text.zfill(self.width)
        return text

    def read_many(self, value: Any) -> list[str]:
        """The codes of a cell, in order, each once: a list, a list as text, or codes between blanks, commas,
        semicolons or bars."""
        found: list[str] = []
        for item in as_list(value):
            text = as_text(item)
            inside = _INSIDE.findall(text) if self.width == CPV_WIDTH else []
            whole = len(inside) > 1 and not re.sub(r"[\s,;|/-]|\d", "", text)
            found += inside if whole else [self.read(part) for part in self._parts(item, text)]
        return list(dict.fromkeys(code for code in found if code))

    def _parts(self, item: Any, text: str) -> list[Any]:
        if not isinstance(item, str) or (self.known is not None and text in self.known):
            return [item]
        return [part for part in re.split(r"\s*[;|,]\s*", text) if part]

    def _without_check_digit(self, text: str) -> str:
        match = _CHECKED.fullmatch(text)
        if match:
            self.checked += 1
            return match["code"]
        joined = _SPACED.sub("", text)
        return joined if joined.isdigit() and len(joined) in (CPV_WIDTH, CPV_WIDTH - 1) else text

    def notices(self, what: str) -> list[str]:
        """What was put right, said once."""
        said = []
        if self.restored:
            said.append(
                f"{what}: {self.restored} code(s) had lost their leading zero and were filled up to {self.width} digits"
            )
        if self.checked:
            said.append(f"{what}: the check digits of {self.checked} code(s) were dropped")
        return said


def is_cpv_like(codes: Collection[str]) -> bool:
    """Whether every code has eight digits."""
    return bool(codes) and all(len(code) == CPV_WIDTH and code.isdigit() for code in codes)


@dataclass(slots=True)
class Tree:
    """Parents and levels of codes under one scheme; `remarks` are worth saying."""

    scheme: str
    level_names: tuple[str, ...]
    parents: dict[str, str | None]
    levels: dict[str, int]
    remarks: list[str] = field(default_factory=list)


PREFIXES: dict[str, tuple[tuple[int, str], ...]] = {
    # Regulation (EC) 2195/2002 as amended by 213/2008: division, group, class, category, then finer
    "official": (
        (2, "division"),
        (3, "group"),
        (4, "class"),
        (5, "category"),
        (6, "subcategory"),
        (7, "subcategory_7"),
        (8, "subcategory_8"),
    ),
    # the levels of the tool this one replaces; its names do not match the official ones
    "two_digit_steps": ((2, "division"), (4, "group"), (6, "class"), (8, "category")),
}


def prefix_tree(codes: Collection[str], scheme: str) -> Tree:
    """Parents by prefixes of the digits: a code's parent is its nearest existing ancestor (None at the top)."""
    lengths = [length for length, _ in PREFIXES[scheme]]
    known = set(codes)
    parents: dict[str, str | None] = {}
    levels: dict[str, int] = {}
    moved = 0
    for code in known:
        own = significant(code)
        level = next(i for i, length in enumerate(lengths, 1) if own <= length or length == lengths[-1])
        levels[code] = level
        above = [
            candidate
            for length in reversed(lengths[: level - 1])
            if (candidate := code[:length].ljust(len(code), "0")) != code and candidate in known
        ]
        parents[code] = above[0] if above else None
        direct = code[: lengths[level - 2]].ljust(len(code), "0") if level > 1 else None
        moved += direct is not None and above[:1] != [direct]
    tree = Tree(scheme, tuple(name for _, name in PREFIXES[scheme]), parents, levels)
    if moved:
        tree.remarks.append(
            f"{moved} code(s) whose direct parent is not in the list hang from their nearest existing ancestor"
        )
    return tree


def significant(code: str) -> int:
    """How many digits of a padded code say something: without the zeros at its end, at least two."""
    return max(2, len(code.rstrip("0")))


def given_tree(parents: dict[str, str | None]) -> Tree:
    """The tree as the file has it; levels count from 1 at the top. The parents must exist and form no cycle."""
    levels: dict[str, int] = {}

    def level(code: str) -> int:
        path: list[str] = []
        current: str | None = code
        while current is not None and current not in levels:
            path.append(current)
            current = parents[current]
        depth = levels[current] if current is not None else 0
        for each in reversed(path):
            depth += 1
            levels[each] = depth
        return levels[code]

    deepest = max((level(code) for code in parents), default=1)
    return Tree("catalog", tuple(f"level_{n}" for n in range(1, deepest + 1)), dict(parents), levels)
