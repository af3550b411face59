"""Parser processes that can be killed: files in, one `Parsed` each, however badly a file behaves."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from core.corpus import ParsingReport
from core.inputs.files import SourceFile
from core.inputs.parse_cache import Parsed

MEMORY_MEGABYTES = 2_048
STARTUP_SECONDS = 60.0
READY = "ready\n"


class Worker:
    """One parser process, started when first needed and again after it had to be killed.

    `module` is what it runs: it speaks the line protocol of `core.inputs.parse_worker`.
    """

    def __init__(self, module: str = "core.inputs.parse_worker", memory: int = MEMORY_MEGABYTES) -> None:
        self._command = [sys.executable, "-m", module, str(memory)]
        self._process: subprocess.Popen[str] | None = None

    def parse(self, file: SourceFile, timeout: float, passwords: Sequence[tuple[str, str]]) -> Parsed:
        """Parse one file within `timeout` seconds, or say in the report that it took longer."""
        if self._process is None:
            self._process = self._start()
            if self._timed(self._process, "", STARTUP_SECONDS) != READY:
                self.close()
                return failed("the parser process does not start")
        process = self._process
        request = {
            "path": str(file.path),
            "kind": file.kind,
            "timeout": timeout,
            "passwords": list(passwords),
        }
        reply = self._timed(process, json.dumps(request) + "\n", timeout)
        if reply:
            return Parsed.model_validate_json(reply)
        self.close()
        if reply is None:
            return failed(
                f"took longer than {timeout:g} seconds and was stopped (raise --parse-timeout)", timeout
            )
        return failed(f"ended the parser process (exit code {process.returncode})")

    def close(self) -> None:
        """End the process; may be called twice."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):  # the reader of this pipe is already gone
                    stream.close()

    def _start(self) -> subprocess.Popen[str]:
        root = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"},
        )

    @staticmethod
    def _timed(process: subprocess.Popen[str], request: str, timeout: float) -> str | None:
        """The reply to a request: empty when the process ended, None when it was killed for being late."""
        late = threading.Event()

        def kill() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(timeout, kill)
        timer.daemon = True
        timer.start()
        try:
            reply = _exchange(process, request)
        finally:
            timer.cancel()
        return None if late.is_set() else reply


def _exchange(process: subprocess.Popen[str], request: str) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(request)
        process.stdin.flush()
        return process.stdout.readline()
    except (OSError, ValueError):  # the process ended
        return ""


def parse_all(
    files: Sequence[SourceFile],
    *,
    timeout: float,
    passwords: Sequence[tuple[str, str]] = (),
    workers: int = 2,
    on_parsed: Callable[[SourceFile, Parsed], None] | None = None,
    module: str = "core.inputs.parse_worker",
) -> list[Parsed]:
    """Parse files in up to `workers` processes; the results come in the order of `files`. `on_parsed` is called
    as each file is done, from the thread that waited for it."""
    if not files:
        return []
    idle: SimpleQueue[Worker] = SimpleQueue()
    crew = [Worker(module) for _ in range(max(1, min(workers, len(files))))]
    for worker in crew:
        idle.put(worker)

    def one(file: SourceFile) -> Parsed:
        worker = idle.get()
        try:
            parsed = worker.parse(file, timeout, passwords)
        finally:
            idle.put(worker)
        if on_parsed is not None:
            on_parsed(file, parsed)
        return parsed

    try:
        with ThreadPoolExecutor(len(crew), thread_name_prefix="parse") as pool:
            return list(pool.map(one, files))
    finally:
        for worker in crew:
            worker.close()


def failed(problem: str, seconds: float = 0.0) -> Parsed:
    """The outcome of a file from which nothing could be read, for a reason that may not last."""
    report = ParsingReport(doc_path="", status="failed", seconds=seconds, problems=(problem,))
    return Parsed(document=None, report=report, keep=False)
