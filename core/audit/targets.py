"""From the `adapter:` part of a configuration to a system that can be asked, and what is known of it before."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr

from core.audit.adapter import Message, ToolSpec
from core.audit.config import (
    AuditConfig,
    ChatAdapter,
    HttpAdapter,
    LangchainAdapter,
    PipelineAdapter,
    PythonAdapter,
    ToolDecl,
)
from core.contracts import System, Target
from core.deferred import Deferred
from core.errors import ConfigError, Problem
from core.systems.agent import corpus_texts
from core.systems.chat_apis import ChatApi, ChatTool, tool_callable
from core.systems.http_service import HttpService
from core.systems.langchain import LangchainRunnable
from core.systems.python_class import PythonClass, load_class

TOOLS_SECONDS = 30.0
CORPUS_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Audited:
    """A system under audit, what evaluators may know of it, and the adapter custom evaluators ask."""

    system: System
    target: Target
    adapter: Any = None


# what an agent of one's own does not need is not loaded for it: indexes, parsers, readers of workbooks
_OURS: Deferred[Callable[[Any, Path], Audited]] = Deferred(
    {"pipeline": "core.audit.own_targets:pipeline", "prepared": "core.audit.own_targets:prepared"}
)


def open_target(config: AuditConfig, cache_dir: Path) -> Audited:
    """Build the system. ConfigError when a module, class, file or setting is wrong; nothing is asked."""
    adapter, run = config.adapter, config.run
    if isinstance(adapter, PythonAdapter):
        return _python(adapter, config)
    if isinstance(adapter, HttpAdapter):
        system: System = HttpService(
            adapter.endpoint,
            headers=_revealed(adapter.headers),
            profiles={name: _revealed(headers) for name, headers in adapter.profiles.items()},
            timeout_s=adapter.timeout_s,
            retries=run.retries,
            concurrency=run.concurrency or 8,
        )
        target = Target(
            tools=_specs(adapter.tools),
            corpus=read_corpus(adapter.corpus),
            settings={"profiles": sorted(adapter.profiles)},
        )
        return Audited(system, target)
    if isinstance(adapter, ChatAdapter):
        return _chat(adapter, config)
    if isinstance(adapter, LangchainAdapter):
        runnable = load_class(adapter.module, adapter.attribute)
        built = runnable() if isinstance(runnable, type) else runnable
        system = LangchainRunnable(
            built,
            input_key=adapter.input_key,
            history_key=adapter.history_key,
            output_key=adapter.output_key,
            timeout_s=run.timeout_s,
            concurrency=run.concurrency or 1,
        )
        return Audited(system, Target(corpus=read_corpus(adapter.corpus)))
    return _OURS["pipeline" if isinstance(adapter, PipelineAdapter) else "prepared"](adapter, cache_dir)


def _python(adapter: PythonAdapter, config: AuditConfig) -> Audited:
    cls = load_class(adapter.module, adapter.cls)
    system = PythonClass(
        lambda: cls(**adapter.options),
        lambda role, content: Message(role=role, content=content),  # type: ignore[arg-type]
        instances=adapter.instances,
        timeout_s=config.run.timeout_s,
        concurrency=config.run.concurrency or 1,
    )
    built = system.adapter
    try:
        tools = system.call(_tools_of, TOOLS_SECONDS) if hasattr(built, "available_tools") else []
        corpus = (
            system.call(lambda each: corpus_texts(each.corpus()), CORPUS_SECONDS)
            if hasattr(built, "corpus")
            else None
        )
    except Exception as error:
        system.close()
        raise ConfigError(
            f"adapter: available_tools() or corpus() failed ({type(error).__name__}: {error})"
        ) from error
    target = Target(
        tools=tuple(tools),
        corpus=corpus,
        can_plant=hasattr(built, "with_documents"),
        settings={"takes": sorted(system.takes)},
    )
    return Audited(system, target, built)


def _tools_of(adapter: Any) -> list[Any]:
    """Tools with what later additions to the class may lack; a name that comes twice is one tool."""
    named = {str(tool.name): tool for tool in adapter.available_tools()}
    return list(named.values())


def _chat(adapter: ChatAdapter, config: AuditConfig) -> Audited:
    tools = [
        ChatTool(
            t.name, t.description, t.parameters, t.result, tool_callable(t.callable) if t.callable else None
        )
        for t in adapter.tools
    ]
    system = ChatApi(
        adapter.base_url,
        adapter.model,
        api_key=os.environ.get(adapter.api_key_env),
        system_prompt=adapter.system_prompt,
        tools=tools,
        headers=_revealed(adapter.headers),
        profiles={name: _revealed(headers) for name, headers in adapter.profiles.items()},
        max_steps=adapter.max_steps,
        timeout_s=adapter.timeout_s,
        retries=config.run.retries,
        temperature=adapter.temperature,
        max_tokens=adapter.max_tokens,
        concurrency=config.run.concurrency or 8,
    )
    target = Target(
        tools=_specs(adapter.tools),
        corpus=read_corpus(adapter.corpus),
        settings={"profiles": sorted(adapter.profiles)},
    )
    return Audited(system, target)


def read_corpus(where: str | None) -> dict[str, str] | None:
    """source_id → content from a JSON or JSONL file of `{source_id, content}`, a folder of text files (id: file
    name without ending and with it), or a URL that answers such JSON."""
    if where is None:
        return None
    if where.startswith(("http://", "https://")):
        try:
            return _corpus_rows(httpx.get(where, timeout=30).raise_for_status().json(), where)
        except (httpx.HTTPError, ValueError) as error:
            raise ConfigError(f"adapter.corpus: {where}: {error}") from error
    path = Path(where)
    if path.is_dir():
        found: dict[str, str] = {}
        for file in sorted(path.rglob("*")):
            if file.is_file() and file.suffix in (".txt", ".md"):
                text = file.read_text(encoding="utf-8-sig")
                found[file.name] = found[file.stem] = text
        return found
    try:
        text = path.read_text(encoding="utf-8-sig")
        rows = (
            [json.loads(line) for line in text.splitlines() if line.strip()]
            if path.suffix == ".jsonl"
            else json.loads(text)
        )
    except (OSError, ValueError) as error:
        raise ConfigError(f"adapter.corpus: {where}: {error}") from error
    return _corpus_rows(rows, where)


def _corpus_rows(rows: Any, where: str) -> dict[str, str]:
    if isinstance(rows, Mapping) and all(isinstance(value, str) for value in rows.values()):
        return dict(rows)
    listed = rows.get("documents", rows.get("corpus")) if isinstance(rows, Mapping) else rows
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise ConfigError(f"adapter.corpus: {where}: must be a list of {{source_id, content}} or a mapping")
    problems, found = [], {}
    for index, row in enumerate(listed):
        if not isinstance(row, Mapping) or "source_id" not in row or "content" not in row:
            problems.append(Problem(f"{where}[{index}]", "needs source_id and content"))
        else:
            found[str(row["source_id"])] = str(row["content"])
    if problems:
        raise ConfigError("adapter.corpus cannot be used", problems)
    return found


def _specs(tools: Sequence[ToolDecl]) -> tuple[ToolSpec, ...]:
    return tuple(
        ToolSpec(t.name, t.description, t.trigger_prompt, t.writes, dict(t.parameters)) for t in tools
    )


def _revealed(headers: Mapping[str, SecretStr]) -> dict[str, str]:
    return {name: value.get_secret_value() for name, value in headers.items()}
