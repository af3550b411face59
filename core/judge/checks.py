"""`plumbline judge check`: is this judge's plumbing sound, and does the judge itself answer as it must?

The first part needs no key and no network but the loopback: the provider's client against malformed replies. The
second asks the configured judge a few dozen small questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.contracts import JUDGES, Judge
from core.errors import ConfigError, EvalError, Problem
from core.judge import create_judge, torture
from core.judge.llm_judge import LlmJudge
from core.judge.probes import ProbeItem, items, run_probes
from core.judge.votes import flip_rate
from core.llm.loopback import LoopbackServer
from core.records import Check

REPEATS = 3


def plumbing_checks(spec: Mapping[str, Any]) -> list[Check]:
    """The torture suite through the configured provider's client, and a well-formed reply as a control.

    ConfigError for a judge that talks to no model: there is no reply to malform.
    """
    provider = str(spec.get("provider", spec.get("type", "anthropic")))
    kind = JUDGES.get(provider)
    if not issubclass(kind, LlmJudge):
        raise ConfigError("nothing to check", [Problem("judge.provider", f"'{provider}' asks no model")])

    def build(server: LoopbackServer) -> Judge:
        address = server.chat_url if kind.name == "openai" else server.url
        local = {
            "provider": provider,
            "base_url": address,
            "api_key_env": "",
            "cache": "off",
            "rubrics": torture.RUBRICS,
        }
        return create_judge({**spec, **local}, cache_dir=None)

    checks = [
        Check(
            name=f"malformed reply, {outcome.name}",
            outcome="held" if outcome.held else "failed",
            detail=outcome.detail,
        )
        for outcome in torture.run(build)
    ]
    return [_control(build), *checks]


def live_checks(judge: Judge) -> list[Check]:
    """Questions to the judge itself: plain material it must pass, changes it must notice or ignore, planted commands
    it must not follow, empty material it must not be asked about, and how often it changes its mind."""
    item = items()[0]
    try:
        plain = judge.judge("faithfulness", item.faithfulness())
    except EvalError as error:
        return [Check(name="answers", outcome="error", detail=str(error))]
    scored = plain.score is not None and plain.score >= 0.85
    checks = [
        Check(name="answers", outcome="held", detail=f"{plain.model}, {plain.label}"),
        Check(
            name="passes supported text",
            outcome="held" if scored else "failed",
            detail=f"score {plain.score}, {plain.reasoning}"[:300],
            score=plain.score,
        ),
    ]
    for result in run_probes(judge, items()[:2]):
        outcome = "unchecked" if result.held is None else "held" if result.held else "failed"
        detail = f"{result.before} → {result.after} {result.note}".strip()
        checks.append(
            Check(name=f"{result.probe} ({result.item})", outcome=outcome, detail=detail, score=result.after)
        )
    if isinstance(judge, LlmJudge):
        checks.append(_flips(judge, item))
    return checks


def _control(build: Any) -> Check:
    good = torture.suite_control()
    outcome = torture.run(build, [good])[0]
    scored = outcome.detail.startswith("gave label 'supported', score 1.0")
    return Check(
        name="well-formed reply is scored", outcome="held" if scored else "failed", detail=outcome.detail
    )


def _flips(judge: LlmJudge, item: ProbeItem) -> Check:
    try:
        labels = [
            judge.judge("faithfulness", item.faithfulness(), repeat=number).label
            for number in range(1, REPEATS + 1)
        ]
    except EvalError as error:
        return Check(name="says the same again", outcome="error", detail=str(error))
    rate = flip_rate(labels) or 0.0
    detail = f"{REPEATS} times asked afresh: {', '.join(labels)}"
    return Check(
        name="says the same again",
        outcome="held" if rate == 0 else "weak",
        detail=detail,
        hard=False,
        score=1 - rate,
    )


__all__ = ["live_checks", "plumbing_checks"]
