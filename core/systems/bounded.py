"""Where agents run: every call is bounded in time, and an agent finds the thread and the event loop it knows.

An agent may hold a database connection that belongs to one thread or a client that belongs to one event loop. So it
lives at a `Desk`, a thread that builds it and makes all its calls; calls that are coroutines from the start share
one `EventLoop`. No loop of the caller is ever touched.
"""

from __future__ import annotations

import asyncio
import inspect
import queue
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from core.bounded import TimeIsUp, within
from core.errors import SystemFailure


def call_bounded(function: Callable[[], Any], timeout_s: float | None) -> Any:
    """`function()`, its result awaited when it is a coroutine, in at most `timeout_s` seconds.

    Raises SystemFailure(kind="timeout") when the time is up: the call is left behind on a thread that dies with the
    process. Exceptions of the function are raised as they are.
    """

    def work() -> Any:
        value = function()
        return asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value

    try:
        return _raised(lambda: within(work, timeout_s))
    except TimeIsUp as error:
        raise SystemFailure(str(error), kind="timeout") from None


class Desk:
    """A thread that makes one call after another. One that is stuck with a call is `abandoned`: it ends when that
    call does, and takes no further ones."""

    def __init__(self) -> None:
        self.abandoned = False
        self._inbox: queue.SimpleQueue[tuple[Callable[[], Any] | None, queue.SimpleQueue[Any]]] = (
            queue.SimpleQueue()
        )
        threading.Thread(target=self._serve, name="plumbline-agent", daemon=True).start()

    def call(self, function: Callable[[], Any], timeout_s: float | None) -> Any:
        """As `call_bounded`, on this thread and its event loop."""
        reply: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()
        self._inbox.put((function, reply))
        try:
            good, value = reply.get(timeout=timeout_s)
        except queue.Empty:
            self.abandoned = True
            raise SystemFailure(f"no answer within {timeout_s:.3g} s", kind="timeout") from None
        if good:
            return value

        def again() -> Any:
            raise value

        return _raised(again)

    def close(self) -> None:
        self._inbox.put((None, queue.SimpleQueue()))

    def _serve(self) -> None:
        loop: asyncio.AbstractEventLoop | None = None
        while not self.abandoned:
            function, reply = self._inbox.get()
            if function is None:
                break
            try:
                value = function()
                if inspect.isawaitable(value):
                    loop = loop or asyncio.new_event_loop()
                    value = loop.run_until_complete(_awaited(value))
                reply.put((True, value))
            except BaseException as error:  # noqa: BLE001 - handed to the caller, who raises it
                reply.put((False, error))
        if loop is not None:
            loop.close()


class EventLoop:
    """An event loop in a thread of its own, for agents whose calls are coroutines: many at once, all in one loop,
    each cancelled when its time is up. A loop that a call blocks is `abandoned`."""

    def __init__(self) -> None:
        self.abandoned = False
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="plumbline-agent-loop", daemon=True).start()

    def call(self, function: Callable[[], Any], timeout_s: float | None) -> Any:
        """As `call_bounded`, in this loop."""

        async def work() -> Any:
            value = function()
            return await asyncio.wait_for(value, timeout_s) if inspect.isawaitable(value) else value

        future = asyncio.run_coroutine_threadsafe(work(), self._loop)
        # a coroutine that can be cancelled is cancelled inside the loop first; whoever is late has blocked the loop
        patience = None if timeout_s is None else timeout_s + 0.5
        try:
            return _raised(lambda: future.result(patience))
        except TimeoutError:
            self.abandoned = not future.done()
            raise SystemFailure(f"no answer within {timeout_s or 0:.3g} s", kind="timeout") from None

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)


def _raised(call: Callable[[], Any]) -> Any:
    """The call's value; an exit or an interrupt raised inside an agent is a failure of that agent."""
    try:
        return call()
    except Exception:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            raise
        raise SystemFailure(f"the system stopped with {type(error).__name__}", kind="exception") from error


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value
