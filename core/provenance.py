"""Where a run comes from: its id, the versions of what computed it, the git revision."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import secrets
import subprocess
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from core import __version__
from core.contracts import METRICS
from core.records import Run, digest

LIBRARIES = ("numpy", "scipy", "scikit-learn", "pypdf", "rank-bm25", "pydantic", "anthropic")


def new_id(now: datetime) -> str:
    """A run id that sorts by time and does not repeat: `20261130T211408-1f3a9c`."""
    return f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"


def versions() -> dict[str, str]:
    """Versions of Plumbline, of the metric definitions and of the libraries that decide results."""
    return {
        "plumbline": __version__,
        "python": platform.python_version(),
        "metrics": metrics_version(),
        **{name: version for name in LIBRARIES if (version := _installed(name))},
    }


def metrics_version() -> str:
    """Digest of every metric's name and version: equal versions, comparable numbers."""
    return digest({name: info.version for name, info in sorted(METRICS.items())})[:12]


@lru_cache(maxsize=1)
def git_revision() -> str | None:
    """The commit of the working directory, with `+` when it has changes; None outside a repository."""
    try:
        head = _git("rev-parse", "HEAD")
        return head + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, timeout=5, check=True)
    return done.stdout.strip()


def folder_name(run: Run) -> str:
    """A run's folder name: its own name made safe for every file system."""
    return re.sub(r"[^\w.\-]+", "_", run.name).strip("._")[:80] or run.id


def unused_folder(path: Path) -> Path:
    """The path, or the path with `-2`, `-3`… when it exists: no folder is ever overwritten."""
    if not path.exists():
        return path
    number = 2
    while (candidate := path.with_name(f"{path.name}-{number}")).exists():
        number += 1
    return candidate


@lru_cache(maxsize=32)
def _installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
