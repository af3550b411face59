"""Reading a judge's form: exactly the fields asked for, with legal values, or no judgement at all.

Nothing is guessed, converted or filled in. "false", 0, "nein", 1.0 as a label, a seventh statement, a missing one,
a score of 7: each is a reason not to use the reply, said in words the judge can act on in the repair round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.judge.rubrics import Rubric
from core.llm.client import LlmFailure
from core.llm.strict_json import well_formed
from core.records import JsonDict


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision as the judge gave it. `label` is empty in a rubric of kind `score`; `score` is then set."""

    label: str
    score: float | None
    quote: str
    reasoning: str


def read_decisions(form: JsonDict, rubric: Rubric, n_statements: int = 0) -> list[Decision]:
    """The decisions of a form: one, or one for each statement in order. LlmFailure (`malformed`) says what is wrong."""
    if rubric.kind != "statements":
        return [_decision(form, rubric, extra=(), where="the form")]
    _exact_keys(form, ("statements",), "the form")
    entries = form["statements"]
    if not isinstance(entries, list):
        raise _bad(f"statements must be a list, not {_named(entries)}")
    by_number: dict[int, Decision] = {}
    for entry in entries:
        if not isinstance(entry, dict):
            raise _bad(f"an entry of statements must be an object, not {_named(entry)}")
        number = entry.get("statement")
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= n_statements:
            raise _bad(f"statement must be a number from 1 to {n_statements}, not {_named(number)}")
        if number in by_number:
            raise _bad(f"statement {number} is judged twice")
        by_number[number] = _decision(entry, rubric, extra=("statement",), where=f"statement {number}")
    missing = [number for number in range(1, n_statements + 1) if number not in by_number]
    if missing:
        raise _bad(f"statements without an entry: {', '.join(map(str, missing[:20]))}")
    return [by_number[number] for number in range(1, n_statements + 1)]


def _decision(entry: JsonDict, rubric: Rubric, extra: tuple[str, ...], where: str) -> Decision:
    decisive = "score" if rubric.kind == "score" else "label"
    _exact_keys(entry, (*extra, "evidence_quote", "reasoning", decisive), where)
    for name in ("evidence_quote", "reasoning"):
        if not isinstance(entry[name], str):
            raise _bad(f"{where}: {name} must be text, not {_named(entry[name])}")
    quote, reasoning = well_formed(entry["evidence_quote"]), well_formed(entry["reasoning"])
    if rubric.kind == "score":
        return Decision("", _score(entry["score"], where), quote, reasoning)
    label = entry["label"]
    legal = [each.label for each in rubric.labels]
    if not isinstance(label, str) or label not in legal:
        raise _bad(f"{where}: label must be one of {', '.join(legal)}, not {_named(label)}")
    return Decision(label, rubric.label(label).score, quote, reasoning)


def _score(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _bad(f"{where}: score must be a number, not {_named(value)}")
    if not 0 <= value <= 1:  # false for NaN too
        raise _bad(f"{where}: score must lie between 0 and 1, not {_named(value)}")
    return float(value)


def _exact_keys(entry: JsonDict, keys: tuple[str, ...], where: str) -> None:
    missing = [key for key in keys if key not in entry]
    unknown = [str(key) for key in entry if key not in keys]
    if missing:
        raise _bad(f"{where}: {', '.join(missing)} missing")
    if unknown:
        raise _bad(f"{where}: unknown field {', '.join(unknown[:5])[:200]}")


def _named(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 80 else text[:77] + '…'}"


def _bad(message: str) -> LlmFailure:
    return LlmFailure(well_formed(message), "malformed")
