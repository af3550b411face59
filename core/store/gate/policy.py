"""What a gate decides on: a short list of metrics with margins, declared before the run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from core.config_files import read_mapping, validate

Mode = Literal["detect", "prove"]
PASS_RATE = "pass_rate"
RATE_MARGIN, SCORE_MARGIN = 0.05, 0.02


class GateMetric(BaseModel):
    """One gating metric. `margin` is how much worse than the baseline is still acceptable, in the unit of the
    metric (0.05 for rates and 0.02 for scores by default); `min` and `max` bound the candidate's own mean."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str = Field(min_length=1)
    margin: float | None = Field(None, ge=0)
    min: float | None = None
    max: float | None = None


def _by_name(given: Any) -> Any:
    return {"name": given} if isinstance(given, str) else given


class GatePolicy(BaseModel):
    """A gate.yaml. `mode`: detect asks whether a drop is shown (for CI), prove whether non-inferiority is (for
    releases). `alpha` is the one-sided family-wise error over the metrics."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    metrics: tuple[Annotated[GateMetric, BeforeValidator(_by_name)], ...] = Field(
        (GateMetric(name=PASS_RATE),), min_length=1, max_length=5
    )
    must_pass: tuple[str, ...] = ()
    max_error_rate: float = Field(0.05, ge=0, le=1)
    mode: Mode = "detect"
    alpha: float = Field(0.05, gt=0, lt=0.5)

    @model_validator(mode="after")
    def _once(self) -> GatePolicy:
        names = [metric.name for metric in self.metrics]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"metrics are given twice: {', '.join(twice)}")
        return self


def load_policy(path: str | Path | None, *, mode: Mode | None = None) -> GatePolicy:
    """Read a policy (YAML, JSON or TOML); without a file the default one. ConfigError names key and line."""
    if path is None:
        return GatePolicy(mode=mode or "detect")
    source = read_mapping(path)
    data = dict(source.data)
    if mode is not None:
        data["mode"] = mode
    return validate(GatePolicy, data, source)
