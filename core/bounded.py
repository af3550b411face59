"""Calls that may never come back, run where they can be abandoned: every wait ends, and the process exits on time
even when what was called hangs for ever."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class TimeIsUp(Exception):
    """The call did not come back in time; it was left behind."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:.3g} s")
        self.seconds = seconds


def within(function: Callable[[], T], seconds: float | None) -> T:
    """The function's value in at most `seconds` (None: however long it takes), or TimeIsUp. What the function
    raises is raised here as it is."""
    task = _Task(function)
    _workers.give(task)
    if not task.done.wait(None if seconds is None else max(seconds, 0.001)):
        raise TimeIsUp(seconds or 0.0)
    if task.error is not None:
        raise task.error
    value: T = task.value
    return value


class _Task:
    """A function to be run, and what became of it."""

    __slots__ = ("done", "error", "function", "value")

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.done = threading.Event()
        self.value: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.value = self.function()
        except BaseException as error:  # noqa: BLE001 - handed to the waiting thread, which raises it
            self.error = error
        self.done.set()


class _Workers:
    """Daemon threads that are used again when they are free. One whose task never returns is simply never free
    again, so there is always another for the next task."""

    def __init__(self) -> None:
        self._free: list[queue.SimpleQueue[_Task]] = []
        self._lock = threading.Lock()

    def give(self, task: _Task) -> None:
        with self._lock:
            inbox = self._free.pop() if self._free else None
        if inbox is None:
            inbox = queue.SimpleQueue()
            threading.Thread(
                target=self._serve, args=(inbox,), daemon=True, name="plumbline-bounded-call"
            ).start()
        inbox.put(task)

    def _serve(self, inbox: queue.SimpleQueue[_Task]) -> None:
        while True:
            inbox.get().run()
            with self._lock:
                self._free.append(inbox)


_workers = _Workers()
