"""What core can do and what its numbers mean, as `plumbline describe --json` says it.

The command runs in a process of its own, once a server and version: the dashboard itself never imports what
finds, answers or judges. `warm` starts it early, so that the page that needs it does not wait.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

ROOT = Path(__file__).resolve().parent.parent.parent
WAIT_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command said: its exit code, its output and its complaints."""

    code: int
    out: str
    err: str


def command(*arguments: str, timeout: float = WAIT_SECONDS) -> Answer:
    """Run `plumbline ARGUMENTS` and wait for it."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "core", *arguments],
            capture_output=True, text=True, encoding="utf-8", errors="replace", env=environment(),
            stdin=subprocess.DEVNULL, timeout=timeout, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Answer(124, "", f"`plumbline {arguments[0]}` did not answer within {timeout:.0f} seconds")
    return Answer(done.returncode, done.stdout, done.stderr)


@st.cache_resource(show_spinner=False)
def warm() -> _Description:
    """Start `describe` in the background; the same one for the life of the server."""
    return _Description()


def description() -> dict[str, Any]:
    """version, settings (list), components (kind → list), metrics (list). Empty lists where it failed; then
    `error` says why."""
    return warm().read()


def metrics() -> dict[str, dict[str, Any]]:
    """Metric name → title, kind, direction, formula, inputs, empty, source, headline…"""
    return warm().metrics()


class _Description:
    def __init__(self) -> None:
        # files, not pipes: nobody reads until a page asks, and a full pipe would stop the process
        self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - closed with the object
        self._process = subprocess.Popen(
            [sys.executable, "-m", "core", "describe", "--json"],
            stdout=self._out, stderr=self._err, stdin=subprocess.DEVNULL, env=environment(),
        )  # fmt: skip
        self._found: dict[str, Any] | None = None
        self._metrics: dict[str, dict[str, Any]] = {}

    def read(self) -> dict[str, Any]:
        if self._found is None:
            self._found = self._wait()
            self._metrics = {each["name"]: each for each in self._found["metrics"]}
        return self._found

    def metrics(self) -> dict[str, dict[str, Any]]:
        self.read()
        return self._metrics

    def _wait(self) -> dict[str, Any]:
        nothing: dict[str, Any] = {"version": "", "settings": [], "components": {}, "metrics": []}
        try:
            code = self._process.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            return {**nothing, "error": f"`plumbline describe` did not answer within {WAIT_SECONDS} seconds"}
        self._out.seek(0)
        self._err.seek(0)
        if code:
            return {**nothing, "error": self._err.read().decode("utf-8", "replace")[-2_000:]}
        return {**nothing, **json.loads(self._out.read().decode("utf-8"))}


def environment() -> dict[str, str]:
    """Variables for a process of ours: `core` is found from a checkout that is not installed too."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"}
