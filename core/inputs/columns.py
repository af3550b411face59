"""Which column of a results table plays which role, each column one role only: guessed from names and contents,
or given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.errors import ConfigError, Problem, nearest
from core.inputs.cells import CODE, as_number
from core.inputs.column_names import (
    ALIASES,
    BY_NAME,
    CONTENT_ROLES,
    NUMBER_ROLES,
    PLACE,
    RANKED_ROLES,
    normal_name,
    numbers_in,
    split_rank,
)
from core.inputs.table_files import Table, missing

SAMPLE = 200
UNUSED = "unused"  # in a given mapping: columns that play no role
_Fits = dict[str, tuple[str, int | None, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class MappingGuess:
    """Columns by role: `roles` in order of preference (the first that is not empty in a row counts), `ranked`
    by rank for wide tables. `candidates` are all columns whose name fits a role. `sure` is False where a column
    fits several roles and its content does not decide, where its content speaks against its name, or where
    nothing is predicted; `doubts` says so in words, and what to do.

    `grounds` says for each column why: "given"; "name" (its name fits this role only); "content" (it fits several,
    and its values or the other columns decide); "unsure"; "" (no role).
    """

    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ranked: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    candidates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sure: bool = True
    doubts: tuple[str, ...] = ()
    grounds: Mapping[str, str] = field(default_factory=dict)

    def columns(self, role: str) -> tuple[str, ...]:
        """All columns of a role, ranked ones last."""
        return (*self.roles.get(role, ()), *self.ranked.get(role, {}).values())

    def used(self) -> set[str]:
        return {column for role in {*self.roles, *self.ranked} for column in self.columns(role)}

    def role_of(self, column: str) -> str:
        """The role of a column; "" where it has none."""
        return next(
            (role for role in (*self.roles, *self.ranked) if column in self.columns(role)), ""
        )  # each column has one role only


def guess_mapping(table: Table, given: Mapping[str, Any] | None = None) -> MappingGuess:
    """The roles of a table's columns. `given` maps roles to a column or to several ("" leaves a role out; several of
    a ranking are its ranks, by the numbers in their names or else in the order given; `unused` names columns
    without a role): it is taken as it is, and only the rest is guessed. Unknown roles and columns are a
    ConfigError."""
    fixed = _given(table, given or {})
    unused = fixed.pop(UNUSED, ())
    taken = {*unused, *(column for columns in fixed.values() for column in columns)}
    doubts: list[str] = []
    fits = _fits(table, fixed, taken, doubts)
    chosen: dict[str, list[str]] = {role: list(columns) for role, columns in fixed.items()}
    ranked: dict[str, dict[int, str]] = {}
    grounds = dict.fromkeys(table.columns, "") | dict.fromkeys(taken - set(unused), "given")
    for column, (_, rank, roles) in sorted(fits.items(), key=lambda item: len(item[1][2])):
        before = len(doubts)
        role = roles[0] if len(roles) == 1 else _decide(table, column, roles, rank, chosen, ranked, doubts)
        if not role:
            continue
        if rank is not None and role in RANKED_ROLES:
            ranked.setdefault(role, {}).setdefault(rank, column)
        else:
            chosen.setdefault(role, []).append(column)
        grounds[column] = "unsure" if len(doubts) > before else "name" if len(roles) == 1 else "content"
    for role in list(chosen):
        if role in fixed and role in RANKED_ROLES and len(chosen[role]) > 1:
            names = chosen.pop(role)
            ranked[role] = dict(zip(numbers_in(names) or range(1, len(names) + 1), names, strict=True))
        elif role not in fixed:
            chosen[role].sort(key=lambda column: (PLACE[role, fits[column][0]], table.columns.index(column)))
    guess = MappingGuess(
        roles={role: tuple(columns) for role, columns in chosen.items() if columns},
        ranked={role: dict(sorted(places.items())) for role, places in ranked.items()},
        candidates=_candidates(fits, fixed),
        grounds=grounds,
    )
    if not any(guess.columns(role) for role in CONTENT_ROLES):
        doubts.append("no column holds predictions, answers or retrieved texts")
    if not guess.columns("query"):
        doubts.append("no column holds the questions")
    return replace(guess, sure=not doubts, doubts=tuple(doubts))


def column_map(table: Table, guess: MappingGuess, wanted: Mapping[str, str]) -> dict[str, str | list[str]]:
    """What to give `guess_mapping` so that each column plays the wanted role ("" for none); {} where the guess has
    them all already. `guess` is the guess without anything given."""
    now = {column: wanted.get(column, guess.role_of(column)) for column in table.columns}
    changed = {column for column, role in now.items() if role != guess.role_of(column)}
    roles = {role for column in changed for role in (now[column], guess.role_of(column)) if role}
    found: dict[str, str | list[str]] = {}
    for role in ALIASES:
        columns = [column for column in table.columns if now[column] == role]
        if role in roles:
            found[role] = columns[0] if len(columns) == 1 else columns or ""
    fitting = {column for columns in guess.candidates.values() for column in columns}
    unused = [column for column in table.columns if not now[column] and column in fitting]
    return found | ({UNUSED: unused} if found and unused else {})


def _fits(table: Table, fixed: Mapping[str, Any], taken: set[str], doubts: list[str]) -> _Fits:
    """Columns whose name fits roles that are still open: (name, rank, roles)."""
    fits: _Fits = {}
    for column in table.columns:
        if column in taken:
            continue
        base, rank = split_rank(column)
        roles = [role for role in BY_NAME.get(base, ()) if role not in fixed]
        if rank is not None and not set(roles) & set(RANKED_ROLES):
            continue
        for role in list(roles):
            if against := _against(table, column, role):
                roles.remove(role)
                if not roles:
                    doubts.append(
                        f"column '{column}' {against}: it is left out (--map {role}='{column}' takes it)"
                    )
        if roles:
            fits[column] = (base, rank, tuple(roles))
    return fits


def _against(table: Table, column: str, role: str) -> str:
    """Why the values of a column cannot be what its name says; "" where they can."""
    place = table.columns.index(column)
    values = [row[place] for row in table.rows if not missing(row[place])]
    if role in NUMBER_ROLES:
        sample = [value for value in values[:SAMPLE] if not isinstance(value, list)]
        texts = [value for value in sample if as_number(value) is None and not str(value).startswith("[")]
        return "holds texts, not numbers" if sample and len(texts) > len(sample) / 2 else ""
    if role == "model" and len(table.rows) > 2:
        names = {str(value) for value in values}
        return "differs in every row, so it names no model" if len(names) == len(table.rows) else ""
    return ""


def _candidates(fits: _Fits, fixed: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {role: list(columns) for role, columns in fixed.items()}
    for column, (_, _, roles) in fits.items():
        for role in roles:
            found.setdefault(role, []).append(column)
    return {role: tuple(columns) for role, columns in found.items()}


def _given(table: Table, given: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    problems: list[Problem] = []
    fixed: dict[str, tuple[str, ...]] = {}
    by_name = {normal_name(column): column for column in reversed(table.columns)}
    for role, columns in given.items():
        if role not in ALIASES and role != UNUSED:
            hint = f"roles are {', '.join(ALIASES)} and {UNUSED}"
            problems.append(Problem(f"map: {role}", f"unknown role{nearest(role, ALIASES)}", hint=hint))
            continue
        names = [columns] if isinstance(columns, str) else list(columns or ())
        found = []
        for name in filter(None, names):
            column = name if name in table.columns else by_name.get(normal_name(name))
            if column is None:
                problems.append(
                    Problem(f"map: {role}", f"there is no column '{name}'{nearest(name, table.columns)}")
                )
            else:
                found.append(column)
        fixed[role] = tuple(dict.fromkeys(found))
    twice = [c for c in table.columns if sum(c in columns for columns in fixed.values()) > 1]
    problems.extend(Problem("map", f"column '{column}' is given two roles") for column in twice)
    if problems:
        raise ConfigError("the columns cannot be mapped", problems)
    return fixed


def _decide(
    table: Table,
    column: str,
    roles: Sequence[str],
    rank: int | None,
    chosen: Mapping[str, list[str]],
    ranked: Mapping[str, Mapping[int, str]],
    doubts: list[str],
) -> str:
    """The role of a column whose name fits several ("Label": gold or prediction; "Answer": text or code); none
    where all of them have their column already."""
    if rank is not None:
        return next(role for role in roles if role in RANKED_ROLES)
    open_roles = [role for role in roles if not chosen.get(role) and not ranked.get(role)]
    codes = _share_of_codes(table, column)
    if set(roles) == {"prediction", "answer"}:
        if "prediction" in open_roles and codes > 0.5:
            return "prediction"
        return "answer" if "answer" in open_roles else ""
    if len(open_roles) <= 1:
        return open_roles[0] if open_roles else ""
    role = "expected" if "expected" in open_roles else open_roles[0]
    others = [other for other in open_roles if other != role]
    words = " or ".join([role, *others])
    settle = " or ".join(f"--map {other}='{column}'" for other in [role, *others])
    doubts.append(f"column '{column}' may hold {words}; it is taken for {role} (settle it with {settle})")
    return role


def _share_of_codes(table: Table, column: str) -> float:
    place = table.columns.index(column)
    values = [row[place] for row in table.rows[:SAMPLE] if not missing(row[place])]
    hits = sum(1 for value in values if len(str(value)) <= 40 and CODE.search(str(value)))
    hits += sum(
        1 for value in values if type(value) is int and 10**6 <= value < 10**8 and not CODE.search(str(value))
    )
    return hits / len(values) if values else 0.0
