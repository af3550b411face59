"""The shapes of the tests of an audit, one model an evaluator: names and defaults are public."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from core.evaluation.arguments import check_schema, full_schema
from core.records import Message


class Shape(BaseModel):
    """Unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class TestSpec(Shape):
    """What every test has. `min_pass_rate` judges a case by its share of passing repeats; `only_cases` asks these of
    the test's cases alone, by the part of their id after the test's name."""

    __test__ = False

    name: str = Field(min_length=1)
    evaluator: str
    min_pass_rate: float | None = Field(None, ge=0, le=1)
    tags: tuple[str, ...] = ()
    only_cases: tuple[str, ...] = ()


class CustomSpec(TestSpec):
    """A test of an evaluator from `plugins:`; its keys are its own. `model_dump()` gives the keys as they were
    written, so that an evaluator can check them against a model of its own."""

    model_config = ConfigDict(extra="allow", frozen=True)

    def model_dump(self, **options: Any) -> dict[str, Any]:
        return super().model_dump(**{"exclude_unset": True, **options})

    def parameters(self) -> dict[str, Any]:
        """The keys that belong to the evaluator itself."""
        return dict(self.model_extra or {})


class ToolCoverageSpec(TestSpec):
    """Every tool is triggered once."""

    require_all_tools: bool = True
    trigger_prompts: dict[str, str] = Field(default_factory=dict)
    required_args: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="tool → JSON Schema or {name: type}"
    )
    max_latency_ms: float | None = Field(None, gt=0)
    forbidden_tools: tuple[str, ...] = ()

    @field_validator("required_args")
    @classmethod
    def _are_schemas(cls, value: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        for tool, schema in value.items():
            try:
                check_schema(full_schema(schema))
            except ValueError as error:
                raise ValueError(f"'{tool}' has no valid JSON Schema ({error})") from error
        return value


def _patterns(given: tuple[str, ...]) -> tuple[str, ...]:
    """Regular expressions that compile."""
    for pattern in given:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"'{pattern}' is not a regular expression ({error})") from error
    return given


class RagQualityCase(Shape):
    """One question with what must hold of its answer."""

    query: str = Field(min_length=1)
    id: str | None = None
    conversation: tuple[Message, ...] = ()
    must_mention: tuple[str, ...] = ()
    must_mention_any: tuple[str, ...] = ()
    must_not_mention: tuple[str, ...] = ()
    must_match: tuple[str, ...] = ()
    must_cite: tuple[str, ...] = ()
    must_not_cite: bool = False
    must_refuse: bool = False
    expects_citations: bool = False
    max_latency_ms: float | None = Field(None, gt=0)
    max_tokens: int | None = Field(None, gt=0)
    credentials: str | None = None
    timeout_s: float | None = Field(None, gt=0)

    @field_validator("must_match", mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("must_match")
    @classmethod
    def _compiles(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _patterns(value)

    @model_validator(mode="after")
    def _no_contradiction(self) -> RagQualityCase:
        if self.must_not_cite and (self.expects_citations or self.must_cite):
            raise ValueError("must_not_cite contradicts expects_citations / must_cite")
        return self


def _named_once(cases: tuple[Any, ...]) -> tuple[Any, ...]:
    """The ids of a test's cases are unique, the numbers of those without one included."""
    names = [case.id or str(number) for number, case in enumerate(cases, 1)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"the case ids {', '.join(twice)} are used twice")
    return cases


class RagQualitySpec(TestSpec):
    """Hard assertions, then the judge."""

    cases: tuple[RagQualityCase, ...] = Field(min_length=1)

    _named = field_validator("cases")(_named_once)


class CitationAuditSpec(TestSpec):
    """Does every citation resolve, and does the source say so?"""

    sample_queries: tuple[str, ...] = Field(min_length=1)
    sample_size: int | None = Field(None, description="accepted for old files; every sample query is asked")
    citation_pattern: str | None = None

    @field_validator("citation_pattern")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        return None if value is None else _patterns((value,))[0]


class Probe(Shape):
    id: str | None = None
    timeout_s: float | None = Field(None, gt=0)


class LongInput(Probe):
    kind: Literal["long_input"]
    length: int = Field(10_000, ge=1, le=2_000_000)
    timeout_s: float | None = Field(30.0, gt=0)


class MultiTurn(Probe):
    kind: Literal["multi_turn"]
    turns: tuple[str, ...] = Field(min_length=1)
    final_query: str = Field(min_length=1)
    must_reference: tuple[str, ...] = ()
    live: bool = False


class Contradiction(Probe):
    kind: Literal["contradiction"]
    query: str = Field(min_length=1)
    false_premise: str = Field(min_length=1)


class EmptyInput(Probe):
    kind: Literal["empty_input"]
    prompt: str = ""
    allow_error: bool = True
    allow_refusal: bool = True


class AuthNegative(Probe):
    kind: Literal["auth_negative"]
    query: str = Field(min_length=1)
    credentials: str = Field("none", description="none, wrong, or the name of another user's credentials")
    must_not_reveal: tuple[str, ...] = ()


class Injection(Probe):
    kind: Literal["injection"]
    query: str = Field(min_length=1)
    instruction: str = Field(
        "", description="planted through with_documents; empty when the user planted a canary"
    )
    must_not_mention: tuple[str, ...] = Field(min_length=1)
    planted: bool = Field(False, description="the canary already stands in the agent's corpus")


EdgeCase = Annotated[
    LongInput | MultiTurn | Contradiction | EmptyInput | AuthNegative | Injection, Field(discriminator="kind")
]


class EdgeCasesSpec(TestSpec):
    """Probes at the borders of what an agent is given."""

    cases: tuple[EdgeCase, ...] = Field(min_length=1)

    _named = field_validator("cases")(_named_once)


class WriteCase(Shape):
    """`read_only`: a question that must not write. Otherwise: an order that must be previewed, then committed
    once `confirm` is said."""

    query: str = Field(min_length=1)
    id: str | None = None
    read_only: bool = False
    confirm: str | None = None
    timeout_s: float | None = Field(None, gt=0)


class WriteSafetySpec(TestSpec):
    """Tools declared `writes: true` are previewed before they commit."""

    cases: tuple[WriteCase, ...] = ()

    _named = field_validator("cases")(_named_once)
    preview_args: tuple[str, ...] = ("dry_run", "preview")


SPECS: dict[str, type[TestSpec]] = {
    "tool_coverage": ToolCoverageSpec,
    "rag_quality": RagQualitySpec,
    "citation_audit": CitationAuditSpec,
    "edge_cases": EdgeCasesSpec,
    "write_safety": WriteSafetySpec,
}
