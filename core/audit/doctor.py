"""What is missing before an audit can run: the configuration, the agent, the judge, looked at one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.audit.config import AuditConfig
from core.audit.judging import judge_spec
from core.audit.reading import load_audit
from core.audit.targets import Audited, open_target
from core.contracts import Target
from core.errors import EvalError
from core.judge import missing_key
from core.records import Case

QUESTION = "What can you help me with?"


@dataclass(frozen=True, slots=True)
class Finding:
    """`level`: ok | note | wrong."""

    level: str
    what: str
    hint: str = ""


def examine(path: str | Path, cache_dir: Path, *, ask: bool = True) -> Iterator[Finding]:
    """Findings in the order they are made; stops where nothing further can be looked at. `ask` sends one harmless
    question to the agent."""
    try:
        loaded = load_audit(path)
    except EvalError as error:
        yield Finding("wrong", str(error), "mend the file; nothing has been called")
        return
    config = loaded.config
    yield Finding("ok", f"the configuration is valid: {len(config.tests)} tests")
    for notice in loaded.notices:
        yield Finding("note", notice)
    yield _judge(config)
    try:
        audited = open_target(config, cache_dir)
    except EvalError as error:
        yield Finding("wrong", str(error), "the agent cannot be reached")
        return
    yield Finding("ok", f"the {config.adapter.type} target can be opened")
    yield from _target(audited.target, {test.evaluator for test in config.tests})
    if ask:
        yield from _question(audited)
    audited.system.close()


def _judge(config: AuditConfig) -> Finding:
    if config.judge.provider == "none":
        return Finding(
            "note", "no judge is configured", "faithfulness, relevance and support will be unchecked"
        )
    missing = missing_key(judge_spec(config.judge, None))
    if missing:
        return Finding(
            "note",
            f"the judge needs {missing}, which is not set",
            "without it the audit runs as with --no-judge",
        )
    return Finding("ok", f"the judge {config.judge.provider} {config.judge.model} has what it needs")


def _target(target: Target, evaluators: set[str]) -> Iterator[Finding]:
    if target.tools:
        yield Finding("ok", f"{len(target.tools)} tools: {', '.join(tool.name for tool in target.tools)}")
    elif evaluators & {"tool_coverage", "write_safety"}:
        yield Finding(
            "wrong", "the agent names no tools", "implement available_tools(), or list tools: in the adapter"
        )
    if target.corpus:
        yield Finding("ok", f"{len(target.corpus)} documents to resolve citations against")
    elif "citation_audit" in evaluators:
        yield Finding(
            "note",
            "the agent names no corpus",
            "implement corpus(), or give corpus: a path or URL; until then citations are unchecked",
        )
    if "write_safety" in evaluators and not any(getattr(tool, "writes", False) for tool in target.tools):
        yield Finding("note", "no tool is declared writes: true", "write_safety has nothing to look at")


def _question(audited: Audited) -> Iterator[Finding]:
    try:
        output = audited.system.ask(Case(id="doctor", query=QUESTION))
    except Exception as error:  # noqa: BLE001 - an agent may raise anything; the doctor's job is to tell
        yield Finding(
            "wrong", f"asked “{QUESTION}”: {type(error).__name__}: {error}", "look at the agent's own log"
        )
        return
    took = f" in {output.latency_ms:.0f} ms" if output.latency_ms is not None else ""
    if not (output.text or "").strip():
        yield Finding(
            "wrong", f"asked “{QUESTION}”: the answer is empty{took}", "fill 'text' in the response"
        )
        return
    yield Finding("ok", f"it answers{took}: {' '.join((output.text or '').split())[:80]}")
    if not output.hits:
        yield Finding(
            "note", "no retrieved_context in the answer", "without it faithfulness cannot be checked"
        )
