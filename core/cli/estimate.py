"""`plumbline estimate`: what a run would do, how long it would take and what it would cost, without running it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from core.llm.usage import estimate as estimate_calls
from core.retrieval.stages import Stages
from core.settings import RunSettings, load_settings, parse_flag
from core.tasks import TASKS, is_audit
from core.tasks.audit import plan_audit

PROMPT_CHARS = 6000  # question, answer and the retrieved passages of a typical judgement
JUDGED = {"rag_quality": 2, "citation_audit": 1, "edge_cases": 1}


@click.command()
@click.argument("config", required=False, type=click.Path(dir_okay=False))
@click.option("--set", "chosen", multiple=True, metavar="NAME=VALUE", help="A setting (may be repeated).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def estimate(config: str | None, chosen: tuple[str, ...], as_json: bool) -> None:
    """Say what a run would do and cost, without running it."""
    found = _audit(config) if config and is_audit(config) else _run(config, chosen)
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    for name, value in found.items():
        click.echo(f"{name}: {_shown(value)}")


def _run(config: str | None, chosen: tuple[str, ...]) -> dict[str, Any]:
    names = [each.partition("=")[0].replace("-", "_") for each in chosen]
    given = {
        name: parse_flag(name, each.partition("=")[2])
        if name in RunSettings.model_fields
        else each.partition("=")[2]
        for name, each in zip(names, chosen, strict=True)
    }
    settings = load_settings(config, **given)
    task = TASKS[settings.classifier_type](settings, Stages(Path(settings.cache_dir)))
    found = {
        "kind": task.kind,
        "suite": task.suite,
        "cases": len(task.cases),
        "repeats": settings.repeats,
        **{key: value for key, value in task.extra_summary.items() if key.startswith("n_")},
        "model_calls": 0,
        "cost_usd": 0.0,
        "notices": list(task.notices),
        "settings": settings.design(),
    }
    task.system.close()
    return found


def _audit(config: str) -> dict[str, Any]:
    plan = plan_audit(config)
    repeats = plan.config.run.repeats
    calls = 0
    if plan.judge is not None:
        calls = (
            sum(JUDGED.get(case.evaluator, 0) for case in plan.task.cases)
            * repeats
            * plan.config.judge.samples
        )
    judging: dict[str, Any] = {"calls": 0, "cost_usd": 0.0}
    if calls:
        judge = plan.config.judge
        judging = estimate_calls(
            calls, model=judge.model, prompt_chars=PROMPT_CHARS, concurrency=judge.max_concurrency
        ).model_dump(mode="json")
    plan.task.system.close()
    return {
        "kind": "audit",
        "suite": plan.task.suite,
        "tests": len(plan.config.tests),
        "cases": len(plan.task.cases),
        "repeats": repeats,
        "questions to the system": len(plan.task.cases) * repeats,
        "judge": judging,
        "notices": list(plan.notices),
    }


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return "none" if not value else "".join(f"\n  {each}" for each in value)
    if isinstance(value, dict):
        return "".join(f"\n  {key}: {each}" for key, each in value.items())
    return "unknown" if value is None else str(value)
