"""Every error Plumbline raises on purpose.

    EvalError
    ├── ConfigError            settings are wrong, nothing has run           exit 2
    │   └── UnknownNameError   names the known ones and the nearest
    ├── InputError             a file is missing or malformed                exit 2
    ├── SystemFailure          the system failed on a case: the case is ERROR, the run goes on
    ├── JudgeFailure           no judgement, or an unusable one: likewise
    ├── StoreError             the store cannot be read or written
    │   └── EmptyStoreError    a file in which no store was made yet
    └── SweepStopped           somebody asked a sweep to stop: what was run is stored

Foreign exceptions (httpx, anthropic, pypdf, openpyxl, sqlite3) are translated where they arise, `from error`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


class EvalError(Exception):
    """Base of every error raised on purpose; `str(error)` is fit to be shown to a user."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a file or in settings.

    `where` names the place in the user's own terms (a key path, a flag, a sheet cell); `line` is 1-based or
    None where the source has no lines; `hint` says what to do.
    """

    where: str
    message: str
    line: int | None = None
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.where} (line {self.line})" if self.line else self.where
        text = f"{place}: {self.message}" if place else self.message
        return f"{text}; {self.hint}" if self.hint else text


class ProblemsError(EvalError):
    """An error that lists everything wrong at once."""

    def __init__(self, message: str, problems: Sequence[Problem] = ()) -> None:
        self.message = message
        self.problems = tuple(problems)
        super().__init__("\n".join([message, *(f"  - {problem}" for problem in self.problems)]))


class ConfigError(ProblemsError):
    """Settings are wrong; nothing has run."""

    exit_code = 2


class UnknownNameError(ConfigError):
    """A name that no registry or model knows."""

    def __init__(self, kind: str, name: str, known: Iterable[str], where: str = "") -> None:
        self.kind, self.name, self.known = kind, name, tuple(sorted(known))
        super().__init__(f"{where + ': ' if where else ''}unknown {kind} '{name}'{nearest(name, self.known)}")


class InputError(ProblemsError):
    """A file is missing or malformed: which file, sheet, row, column, and what to do."""

    exit_code = 2


class SystemFailure(EvalError):
    """The system under test failed on one case. `kind` is one of `core.records.FAILURE_KINDS`; `status` is the
    HTTP status it answered with, where it did."""

    def __init__(
        self, message: str, kind: str = "exception", retries: int = 0, status: int | None = None
    ) -> None:
        super().__init__(message)
        self.kind, self.retries, self.status = kind, retries, status


class JudgeFailure(EvalError):
    """The judge gave no usable answer; `raw_text` keeps what it did say, `kind` is one of FAILURE_KINDS."""

    def __init__(self, message: str, kind: str = "judge", raw_text: str = "", retries: int = 0) -> None:
        super().__init__(message)
        self.kind, self.raw_text, self.retries = kind, raw_text, retries


class StoreError(EvalError):
    """The store cannot be read or written."""

    exit_code = 2


class EmptyStoreError(StoreError):
    """There is a file, but no run store was made in it yet."""


class SweepStopped(EvalError):
    """Somebody asked the sweep to stop. What was answered is stored, and it can be resumed by its id."""

    def __init__(self, sweep_id: str) -> None:
        self.sweep_id = sweep_id
        super().__init__(
            f"the sweep {sweep_id} was stopped; what was answered is stored, and it can be resumed"
        )


def nearest(name: str, known: Iterable[str]) -> str:
    """`"; did you mean 'bm25'?"` when something is close, else the list of what is known, else nothing."""
    names = sorted(known)
    close = difflib.get_close_matches(name.lower(), [n.lower() for n in names], n=1, cutoff=0.6)
    if close:
        match = next(n for n in names if n.lower() == close[0])
        return f"; did you mean '{match}'?"
    return f"; known: {', '.join(names)}" if 0 < len(names) <= 25 else ""
