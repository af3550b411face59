"""The shape of an audit's YAML: adapter, judge, thresholds, run and tests. `core.audit.reading` reads and checks it."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from core.evaluation.shapes import TestSpec


class Part(BaseModel):
    """A part of the configuration: unknown keys and NaN are refused."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True, defer_build=True
    )


class ToolDecl(Part):
    """A tool of a target that cannot describe its own tools."""

    name: str
    description: str = ""
    trigger_prompt: str | None = None
    writes: bool = False
    parameters: dict[str, Any] = Field(default_factory=dict, description="JSON Schema of the arguments")
    result: Any = Field(None, description="canned result (chat targets)")
    callable: str | None = Field(None, description="module:function that computes the result (chat targets)")


class PythonAdapter(Part):
    """A Python class that speaks the adapter contract."""

    type: Literal["python"] = "python"
    module: str
    cls: str = Field(alias="class")
    instances: Literal["shared", "per_worker"] = "shared"
    options: dict[str, Any] = Field(default_factory=dict, description="keyword arguments of the class")


class HttpAdapter(Part):
    """An agent behind an HTTP endpoint: POST {prompt, conversation}."""

    type: Literal["http"] = "http"
    endpoint: str
    headers: dict[str, SecretStr] = Field(default_factory=dict, description="values as ${ENV}")
    timeout_s: float = Field(30.0, gt=0)
    tools: tuple[ToolDecl, ...] = ()
    corpus: str | None = Field(None, description="path or URL of the documents citations resolve against")
    profiles: dict[str, dict[str, SecretStr]] = Field(default_factory=dict, description="named header sets")


class ChatAdapter(Part):
    """An OpenAI-compatible chat endpoint with tools."""

    type: Literal["openai"]
    base_url: str
    model: str
    api_key_env: str = "OPENAI_API_KEY"
    system_prompt: str = ""
    tools: tuple[ToolDecl, ...] = ()
    corpus: str | None = None
    max_steps: int = Field(6, ge=1, le=50)
    timeout_s: float = Field(60.0, gt=0)
    temperature: float | None = Field(None, ge=0, le=2)
    max_tokens: int = Field(1024, ge=1)
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    profiles: dict[str, dict[str, SecretStr]] = Field(default_factory=dict)


class LangchainAdapter(Part):
    """Anything with `invoke(input)`: a LangChain runnable, found as module:attribute."""

    type: Literal["langchain"]
    module: str
    attribute: str
    input_key: str | None = Field(
        None, description="key of the prompt in the input mapping; None: the bare prompt"
    )
    history_key: str | None = None
    output_key: str | None = None
    corpus: str | None = None


class PipelineAdapter(Part):
    """The built-in document-QA pipeline; the rest are run settings (docs, chunking, retriever…)."""

    type: Literal["pipeline"]
    settings: dict[str, Any] = Field(default_factory=dict)


class PreparedAdapter(Part):
    """Ready outputs in a file (JSONL, CSV, Excel, parquet): the agent itself is not called."""

    type: Literal["prepared"]
    path: str
    columns: dict[str, str] = Field(default_factory=dict)
    corpus: str | None = None


Adapter = PythonAdapter | HttpAdapter | ChatAdapter | LangchainAdapter | PipelineAdapter | PreparedAdapter
ADAPTERS: dict[str, type[Part]] = {
    "python": PythonAdapter,
    "http": HttpAdapter,
    "openai": ChatAdapter,
    "langchain": LangchainAdapter,
    "pipeline": PipelineAdapter,
    "prepared": PreparedAdapter,
}


class JudgeConfig(Part):
    """Who judges. `fixtures_path` is accepted for old files and ignored with a notice."""

    provider: Literal["anthropic", "openai", "local", "none"] = "anthropic"
    model: str = Field("claude-sonnet-4-6", description="model id, as the provider spells it")
    max_concurrency: int = Field(4, ge=1, le=256)
    base_url: str | None = None
    api_key_env: str | None = None
    timeout_s: float = Field(60.0, gt=0)
    retries: int = Field(4, ge=0, le=20)
    temperature: float | None = Field(None, ge=0, le=2)
    samples: int = Field(1, ge=1, le=25, description="votes a judgement")
    audit_share: float = Field(0.0, ge=0, le=1, description="share judged a second time to measure flips")
    cache: Literal["use", "refresh", "only", "off"] = "use"
    thresholds_file: str | None = Field(None, description="thresholds fitted on labels (local judge)")
    fixtures_path: str | None = None

    @model_validator(mode="after")
    def _says_its_model(self) -> JudgeConfig:
        if self.provider == "openai" and "model" not in self.model_fields_set:
            raise ValueError("an openai judge needs its model: write judge: {provider: openai, model: …}")
        return self


class Thresholds(Part):
    """Pass and weak thresholds of judge scores, each in [0, 1]."""

    faithfulness_pass: float = Field(0.85, ge=0, le=1)
    faithfulness_weak: float = Field(0.7, ge=0, le=1)
    relevance_pass: float = Field(0.85, ge=0, le=1)
    relevance_weak: float = Field(0.7, ge=0, le=1)
    citation_support_pass: float = Field(0.95, ge=0, le=1)
    citation_support_weak: float = Field(0.8, ge=0, le=1)

    @model_validator(mode="after")
    def _ordered(self) -> Thresholds:
        for name in ("faithfulness", "relevance", "citation_support"):
            if getattr(self, f"{name}_weak") > getattr(self, f"{name}_pass"):
                raise ValueError(f"{name}_weak must not exceed {name}_pass")
        return self


class RunConfig(Part):
    """How to run. `concurrency` defaults to 1 for Python adapters and 8 for HTTP and chat targets."""

    concurrency: int | None = Field(None, ge=1, le=256)
    timeout_s: float = Field(60.0, gt=0)
    retries: int = Field(2, ge=0, le=20)
    repeats: int = Field(1, ge=1, le=1000)
    seed: int = 0
    max_cost: float | None = Field(None, gt=0)


class AuditConfig(Part):
    """A whole audit."""

    adapter: Annotated[Adapter, Field(discriminator="type")]
    judge: JudgeConfig = JudgeConfig()
    thresholds: Thresholds = Thresholds()
    run: RunConfig = RunConfig()
    suite: str | None = None
    plugins: tuple[str, ...] = ()
    locale: Literal["auto", "en", "de"] = "auto"
    citation_pattern: str | None = Field(
        None, description="regular expression of citation markers, one group"
    )
    tests: tuple[TestSpec, ...]

    @field_validator("citation_pattern")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                re.compile(value)
            except re.error as error:
                raise ValueError(f"'{value}' is not a regular expression ({error})") from error
        return value
