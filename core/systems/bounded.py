"""Calls that may never come back: run where they can be abandoned, so that a wait always ends and the process
can exit on time even when a system hangs."""

from __future__ import annotations

import asyncio
import inspect
import queue
import threading
from collections.abc import Callable
from typing import Any

from core.errors import SystemFailure


def call_bounded(function: Callable[[], Any], timeout_s: float | None) -> Any:
    """`function()` with its result awaited when it is a coroutine, in at most `timeout_s` seconds.

    Runs in a daemon thread of its own with an event loop of its own (no loop of the caller is touched). Raises
    SystemFailure(kind="timeout") when the time is up; the thread is left behind and dies with the process.
    Exceptions of the function are raised as they are.
    """
    answer: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def work() -> None:
        try:
            value = function()
            if inspect.isawaitable(value):
                value = asyncio.run(_awaited(value))
            answer.put((True, value))
        except BaseException as error:  # noqa: BLE001 - handed to the caller, who raises it
            answer.put((False, error))

    threading.Thread(target=work, name="bounded-call", daemon=True).start()
    try:
        good, value = answer.get(timeout=timeout_s)
    except queue.Empty:
        raise SystemFailure(f"no answer within {timeout_s:g} s", kind="timeout") from None
    if not good:
        if isinstance(value, Exception):
            raise value
        raise SystemFailure(f"the system stopped with {type(value).__name__}", kind="exception") from value
    return value


async def _awaited(value: Any) -> Any:
    return await value
