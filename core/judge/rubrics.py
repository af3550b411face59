"""Rubrics: what a judge is asked, as versioned files (`rubrics/*.yaml`, or a folder of the user's own).

A rubric has one criterion and a few labels with an anchor and a counter-example each, "cannot_tell" among them. A
label's score is fixed by the rubric; the judge chooses a label and never a number, except in a rubric of kind
`score`. The judge first quotes its evidence, then reasons, then decides: the form asks in this order.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from core.config_files import read_mapping, validate
from core.errors import ConfigError, UnknownNameError
from core.records import JsonDict, Record, digest

SHIPPED = Path(__file__).parent / "rubrics"
CANNOT_TELL = "cannot_tell"
NO_CLAIM = "no_claim"


class Label(Record):
    """One legal answer. `score` in [0, 1], or None where the label decides nothing. `quote`: the label needs a
    verbatim quote from the rubric's `quote_from` part."""

    label: str
    score: float | None = Field(ge=0, le=1)
    anchor: str
    counter_example: str
    quote: bool = False


class Rubric(Record):
    """What is judged, from which material, with which labels.

    `kind`: `labels` (one label for the whole), `statements` (one label for each sentence of the part
    `statements_of`; the score is the mean over its claims) or `score` (a number in [0, 1]; for rubrics of the
    user's own). `parts` maps each role of the material to what it is; all are needed and none may be empty.
    `shared_part` is the part that many questions have in common, and stands first in the prompt.
    """

    name: str
    version: str
    kind: Literal["labels", "statements", "score"] = "labels"
    criterion: str
    parts: dict[str, str]
    labels: tuple[Label, ...] = ()
    statements_of: str = ""
    shared_part: str = ""
    quote_from: str = ""

    @model_validator(mode="after")
    def _complete(self) -> Rubric:
        names = [each.label for each in self.labels]
        if len(set(names)) != len(names):
            raise ValueError("a label is given twice")
        if self.kind != "score" and (CANNOT_TELL not in names or len(self.scores) < 2):
            raise ValueError(f"labels needs two labels with a score, and '{CANNOT_TELL}'")
        if self.kind == "statements" and not self.statements_of:
            raise ValueError("statements_of must name the part that is judged sentence by sentence")
        if self.quote_from and self.quote_from not in self.parts:
            raise ValueError(f"quote_from names no part: '{self.quote_from}'")
        if self.shared_part and self.shared_part not in self.parts:
            raise ValueError(f"shared_part names no part: '{self.shared_part}'")
        return self

    @property
    def scores(self) -> dict[str, float]:
        """Labels that have a score, with it."""
        return {each.label: each.score for each in self.labels if each.score is not None}

    @property
    def needed(self) -> tuple[str, ...]:
        """Every part that must be there, the shared one first."""
        names = [*self.parts, *([self.statements_of] if self.statements_of else [])]
        return tuple(sorted(names, key=lambda name: name != self.shared_part))

    @property
    def digest(self) -> str:
        """Digest of the whole rubric: an edit without a new version is seen too."""
        return digest(self)

    def label(self, name: str) -> Label:
        return next(each for each in self.labels if each.label == name)

    def form(self, n_statements: int = 0) -> JsonDict:
        """JSON Schema of the reply: evidence first, then reasoning, then the decision."""
        if self.kind != "statements":
            return _object({**_EVIDENCE, **self._decision()})
        index = {
            "type": "integer",
            "enum": list(range(1, n_statements + 1)),
            "description": "number of the statement",
        }
        item = _object({"statement": index, **_EVIDENCE, **self._decision()})
        items = {
            "type": "array",
            "items": item,
            "description": f"one entry for each of the {n_statements} statements",
        }
        return _object({"statements": items})

    def _decision(self) -> JsonDict:
        if self.kind == "score":
            return {"score": {"type": "number", "description": "between 0 and 1"}}
        return {"label": {"type": "string", "enum": [each.label for each in self.labels]}}


class Rubrics:
    """The shipped rubrics, with those of a folder of the user's own on top."""

    def __init__(self, folder: str | Path | None = None) -> None:
        self._rubrics = dict(_load(SHIPPED))
        if folder is not None:
            if not Path(folder).is_dir():
                raise ConfigError(f"no such folder of rubrics: {folder}")
            self._rubrics.update(_load(Path(folder)))

    def get(self, name: str) -> Rubric:
        """UnknownNameError names the nearest."""
        try:
            return self._rubrics[name]
        except KeyError:
            raise UnknownNameError("rubric", name, self._rubrics) from None

    def names(self) -> list[str]:
        return sorted(self._rubrics)

    def versions(self) -> dict[str, str]:
        """`{name: "version digest8"}` for the record of a run."""
        return {name: f"{each.version} {each.digest[:8]}" for name, each in sorted(self._rubrics.items())}


_EVIDENCE: JsonDict = {
    "evidence_quote": {
        "type": "string",
        "description": "the decisive words, copied exactly; empty if there are none",
    },
    "reasoning": {"type": "string", "description": "at most 60 words"},
}


def _object(properties: JsonDict) -> JsonDict:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@lru_cache(maxsize=8)
def _load(folder: Path) -> dict[str, Rubric]:
    rubrics = {}
    for file in sorted(folder.glob("*.yaml")):
        source = read_mapping(file)
        rubric = validate(Rubric, source.data, source)
        rubrics[rubric.name] = rubric
    return rubrics
