"""(Rubric, material) → Judgement.

    judge = create_judge({"provider": "anthropic", "model": "claude-sonnet-4-6"}, cache_dir=Path(".plumbline/cache"))
    judgement = judge.judge("relevance", Material({"question": "…", "answer": "…"}))

Raises JudgeFailure when there is no usable judgement; never returns a default score.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.contracts import JUDGES, Judge
from core.errors import ConfigError, Problem
from core.judge import llm_judge, local
from core.judge.llm_judge import LlmJudge
from core.llm.usage import Budget

IGNORED_KEYS = ("fixtures_path", "sample_size")  # of the tool this replaces: accepted, without effect


def create_judge(spec: Mapping[str, Any], *, cache_dir: Path | None, budget: Budget | None = None) -> Judge:
    """A judge that is ready, from the `judge:` block of a configuration (`provider` and that judge's parameters).

    `cache_dir` holds the recorded replies (None: nothing is recorded). ConfigError for unknown providers and
    parameters, a missing key, unusable prices, and a replay without records. Close it at the end of the run.
    """
    judge: Any = JUDGES.create(_component_spec(spec))
    if hasattr(judge, "open"):
        judge.open(cache_dir, budget)
    return judge


def missing_key(spec: Mapping[str, Any]) -> str | None:
    """Name of the environment variable this judge needs and that is not set; None when it can start. Replay and the
    local judge need none."""
    judge = JUDGES.create(_component_spec(spec))
    if not isinstance(judge, LlmJudge) or judge.cache == "only" or not judge.key_env:
        return None
    return None if os.environ.get(judge.key_env) else judge.key_env


def _component_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    given = {key: value for key, value in spec.items() if key not in IGNORED_KEYS}
    provider = given.pop("provider", given.pop("type", "anthropic"))
    if not isinstance(provider, str):
        raise ConfigError("the judge cannot be built", [Problem("judge.provider", "must be a name")])
    return {"type": provider, **given}


__all__ = ["IGNORED_KEYS", "create_judge", "llm_judge", "local", "missing_key"]
