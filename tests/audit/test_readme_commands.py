"""The audit commands of README.md run as they stand there, and its table of siblings is the tested one."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

from tests.audit.auditing import ROOT, plumbline
from tests.audit.test_siblings import CAUGHT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def between(start: str, end: str) -> str:
    found = re.search(rf"<!-- {start} -->\n(.*?)\n<!-- {end} -->", README, re.S)
    assert found, f"README.md has no section between {start} and {end}"
    return found[1]


def test_the_commands_run(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "data" / "demo_agent", tmp_path / "data" / "demo_agent")
    commands = re.findall(r"^plumbline (.+)$", between("audit-commands", "audit-commands:end"), re.M)
    assert len(commands) == 4
    for command in commands:
        done = plumbline(tmp_path, *shlex.split(command))
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    assert (tmp_path / "report" / "junit.xml").is_file()


def test_the_table_of_siblings_is_the_tested_one() -> None:
    rows = [
        f"| {cls} | {test} | {evaluator} | {verdict} |" for cls, (test, evaluator, verdict) in CAUGHT.items()
    ]
    assert between("siblings:start", "siblings:end").splitlines()[2:] == rows
