"""What an adapter names outside its configuration (modules, classes, files): found before anything is called."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.audit.config import (
    ChatAdapter,
    HttpAdapter,
    LangchainAdapter,
    PipelineAdapter,
    PreparedAdapter,
    PythonAdapter,
)
from core.errors import ConfigError, Problem
from core.settings import RunSettings, load_settings
from core.systems.chat_apis import tool_callable
from core.systems.python_class import load_class


def problems_of(adapter: Any) -> Iterator[Problem]:
    """Everything an adapter names that is not there. Modules are imported; nothing is built or asked."""
    if isinstance(adapter, PythonAdapter):
        yield from _loads("adapter.module", adapter.module, adapter.cls)
    elif isinstance(adapter, LangchainAdapter):
        yield from _loads("adapter.module", adapter.module, adapter.attribute)
    elif isinstance(adapter, ChatAdapter):
        for index, tool in enumerate(adapter.tools):
            if tool.callable:
                try:
                    tool_callable(tool.callable)
                except ConfigError as error:
                    yield Problem(f"adapter.tools.{index}.callable", str(error))
    elif isinstance(adapter, PipelineAdapter):
        try:
            pipeline_settings(adapter)
        except ConfigError as error:
            for problem in error.problems or (Problem("", str(error)),):
                yield Problem(
                    f"adapter.settings.{problem.where}".rstrip("."), problem.message, hint=problem.hint
                )
    elif isinstance(adapter, PreparedAdapter) and not Path(adapter.path).is_file():
        yield Problem("adapter.path", f"no such file: {adapter.path}")
    if isinstance(adapter, HttpAdapter | ChatAdapter) and not _address(adapter).startswith(
        ("http://", "https://")
    ):
        where = "adapter.endpoint" if isinstance(adapter, HttpAdapter) else "adapter.base_url"
        yield Problem(where, f"'{_address(adapter)}' is no address", hint="begin it with http:// or https://")
    corpus = getattr(adapter, "corpus", None)
    if corpus and not corpus.startswith(("http://", "https://")) and not Path(corpus).exists():
        yield Problem("adapter.corpus", f"no such file or folder: {corpus}")


def pipeline_settings(adapter: PipelineAdapter) -> RunSettings:
    """The settings of the built-in pipeline. They need a file of questions that is there, which an audit does not
    read: it asks its own."""
    return load_settings({"questions": __file__, **adapter.settings})


def _address(adapter: HttpAdapter | ChatAdapter) -> str:
    return adapter.endpoint if isinstance(adapter, HttpAdapter) else adapter.base_url


def _loads(where: str, module: str, name: str) -> Iterator[Problem]:
    try:
        load_class(module, name)
    except ConfigError as error:
        yield Problem(where, str(error).removeprefix("adapter.module: ").removeprefix("adapter.class: "))
