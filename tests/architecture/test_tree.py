"""Whoever opens the repository sees only what belongs there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOP = {
    ".ci", ".gitignore", ".streamlit", "CHANGELOG.md", "LICENSE", "README.md", "core", "dashboard", "data",
    "outputs", "pyproject.toml", "requirements.txt", "tests",
}  # fmt: skip


def tracked() -> list[str]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout: the list of tracked files is unknown")
    return done.stdout.splitlines()


def test_top_level() -> None:
    assert {name.split("/")[0] for name in tracked()} <= TOP


def test_no_module_without_a_meaning() -> None:
    assert not [name for name in tracked() if Path(name).stem in {"utils", "helpers", "misc", "common"}]


def test_nothing_names_this_machine() -> None:
    home = str(ROOT.parent) + "/"
    suffixes = {".py", ".md", ".toml", ".yaml", ".yml", ".json", ".txt", ".sh", ".cfg", ""}
    wrong = []
    for name in tracked():
        file = ROOT / name
        if file.suffix in suffixes and file.is_file():
            text = file.read_text(encoding="utf-8", errors="ignore")
            if home in text and len(home) > 2:
                wrong.append(name)
    assert not wrong
