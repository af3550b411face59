"""The reports of an audit: `report.json` (published shape), `report.md`, `junit.xml`, GitHub annotations.

Text from the system is escaped for the format it lands in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from core import __version__
from core.records import Run, Verdict

MARKS = {"PASS": "●", "WEAK": "▲", "FAIL": "✕", "ERROR": "◆"}
STYLES = {"PASS": "bold green", "WEAK": "bold yellow", "FAIL": "bold red", "ERROR": "bold magenta"}
REPORT_VERSION = "1"
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def exit_code(tests: Sequence[Mapping[str, Any]], *, strict: bool = False) -> int:
    """0 all PASS or WEAK; 1 any FAIL or ERROR (with `strict` any WEAK too); 3 every test ERROR."""
    verdicts = [test["verdict"] for test in tests]
    if verdicts and all(verdict == "ERROR" for verdict in verdicts):
        return 3
    bad = {"FAIL", "ERROR", "WEAK"} if strict else {"FAIL", "ERROR"}
    return 1 if any(verdict in bad for verdict in verdicts) else 0


def report(run: Run, tests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The published `report.json`: `tests`, `summary` with all four counts; further keys are added, none removed."""
    return {
        "tests": [dict(test) for test in tests],
        "summary": {v.value: sum(test["verdict"] == v.value for test in tests) for v in Verdict},
        "unchecked": sum(test["n_unchecked_cases"] for test in tests),
        "cases": dict(run.verdicts),
        "run": {
            "id": run.id,
            "name": run.name,
            "suite": run.suite,
            "created_at": run.created_at,
            "sealed_at": run.sealed_at,
        },
        "versions": {"report": REPORT_VERSION, "plumbline": __version__},
        "notices": list(run.summary.get("notices", [])),
    }


def write_reports(
    run: Run, tests: Sequence[Mapping[str, Any]], folder: Path, junit: str | None = None
) -> None:
    """Write the three reports; each is complete or absent."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report(run, tests), ensure_ascii=False, indent=2, allow_nan=False)
    _write(folder / "report.json", text + "\n")
    _write(folder / "report.md", markdown(run, tests))
    xml = junit_xml(run, tests)
    _write(folder / "junit.xml", xml)
    if junit:
        Path(junit).parent.mkdir(parents=True, exist_ok=True)
        _write(Path(junit), xml)


def markdown(run: Run, tests: Sequence[Mapping[str, Any]]) -> str:
    counts = ", ".join(f"{sum(t['verdict'] == v.value for t in tests)} {v.value}" for v in Verdict)
    lines = [f"# Audit of {_cell(run.suite)}", "", f"{_number(len(tests), 'test')}: {counts}.", ""]
    unchecked = sum(test["n_unchecked_cases"] for test in tests)
    if unchecked:
        lines += [
            f"**{_number(unchecked, 'case')} with checks that could not be made** (see the column *unchecked*).",
            "",
        ]
    lines += [
        "| Test | Evaluator | Verdict | Time | Detail | Unchecked |",
        "| --- | --- | --- | ---: | --- | --- |",
    ]
    for test in tests:
        lines.append(
            f"| {_cell(test['name'])} | {_cell(test['evaluator'])} | {MARKS[test['verdict']]} **{test['verdict']}** | "
            f"{test['duration_ms']} ms | {_cell(test['detail'])} | {_cell(', '.join(test['unchecked']))} |"
        )
    for notice in run.summary.get("notices", []):
        lines += ["", f"> {_cell(str(notice))}"]
    for test in tests:
        lines += _shortcomings(test)
    return "\n".join(lines) + "\n"


def _shortcomings(test: Mapping[str, Any]) -> list[str]:
    """The cases of a test that did not pass, and how repeats came out."""
    rows = [
        *test["artifacts"].get("cases", []),
        *test["artifacts"].get("per_tool", []),
        *test["artifacts"].get("per_citation", []),
    ]
    bad = [row for row in rows if row.get("verdict") in ("WEAK", "FAIL", "ERROR")]
    repeats = test["artifacts"].get("repeats", [])
    if not bad and not repeats:
        return []
    lines = ["", f"## {_cell(test['name'])}", ""]
    for row in bad[:50]:
        about = row.get("query") or row.get("tool") or row.get("id") or ""
        why = row.get("detail") or (f"cites {row['source_id']}" if "source_id" in row else "")
        lines.append(f"- **{row['verdict']}** {_cell(about[:200])}: {_cell(why)}")
    if len(bad) > 50:
        lines.append(f"- … and {len(bad) - 50} more, see report.json")
    if repeats:
        lines += ["", "| Case | Passed | Rate | 95 % interval | Flaky |", "| --- | ---: | ---: | --- | --- |"]
        lines += [
            f"| {_cell(row['id'])} | {row['passed']} of {row['n']} | {row['pass_rate']:.2f} | "
            f"{row['low']:.2f}–{row['high']:.2f} | {'yes' if row['flaky'] else ''} |"
            for row in repeats
        ]
    return lines


def junit_xml(run: Run, tests: Sequence[Mapping[str, Any]]) -> str:
    """FAIL is a failure, ERROR an error, WEAK a system-out with a property."""
    fails = sum(test["verdict"] == "FAIL" for test in tests)
    errors = sum(test["verdict"] == "ERROR" for test in tests)
    suite = ElementTree.Element(
        "testsuite",
        {
            "name": _xml(run.suite),
            "tests": str(len(tests)),
            "failures": str(fails),
            "errors": str(errors),
            "time": f"{sum(test['duration_ms'] for test in tests) / 1000:.3f}",
            "timestamp": run.created_at[:19],
        },
    )
    for test in tests:
        attributes = {
            "name": _xml(test["name"]),
            "classname": _xml(test["evaluator"]),
            "time": f"{test['duration_ms'] / 1000:.3f}",
        }
        case = ElementTree.SubElement(suite, "testcase", attributes)
        properties = ElementTree.SubElement(case, "properties")
        ElementTree.SubElement(properties, "property", {"name": "verdict", "value": test["verdict"]})
        if test["unchecked"]:
            ElementTree.SubElement(
                properties, "property", {"name": "unchecked", "value": _xml(", ".join(test["unchecked"]))}
            )
        detail = _xml(test["detail"])
        if test["verdict"] in ("FAIL", "ERROR"):
            kind = "failure" if test["verdict"] == "FAIL" else "error"
            ElementTree.SubElement(
                case, kind, {"message": detail[:300], "type": test["evaluator"]}
            ).text = detail
        elif test["verdict"] == "WEAK":
            ElementTree.SubElement(case, "system-out").text = f"WEAK: {detail}"
    tree = ElementTree.Element("testsuites")
    tree.append(suite)
    ElementTree.indent(tree)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(tree, encoding="unicode") + "\n"


def github_annotations(tests: Sequence[Mapping[str, Any]], path: str) -> str:
    """Workflow commands: errors for FAIL and ERROR, warnings for WEAK."""
    lines = []
    for test in tests:
        level = {"FAIL": "error", "ERROR": "error", "WEAK": "warning"}.get(test["verdict"])
        if level:
            title = _command(f"{test['verdict']} {test['name']}", prop=True)
            lines.append(
                f"::{level} file={_command(path, prop=True)},title={title}::{_command(test['detail'] or test['verdict'])}"
            )
    return "\n".join(lines)


def print_tests(run: Run, tests: Sequence[Mapping[str, Any]], folder: Path, *, quiet: bool = False) -> None:
    """The table of tests (unless quiet) with the counts, what was unchecked, and where the reports are."""
    console = Console()
    if not quiet:
        console.print(_table(tests))
    counts = ", ".join(f"{sum(t['verdict'] == v.value for t in tests)} {v.value}" for v in Verdict)
    unchecked_cases = sum(test["n_unchecked_cases"] for test in tests)
    more = f"; {_number(unchecked_cases, 'case')} with unchecked checks" if unchecked_cases else ""
    seconds = run.summary.get("runtime_seconds")
    took = f" in {seconds:.1f} s" if isinstance(seconds, int | float) else ""
    console.print(f"{_number(len(tests), 'test')}{took}: {counts}{more}", highlight=False)
    console.print(f"reports in {escape(str(folder))}/ · run {run.id}", highlight=False, soft_wrap=True)


def _table(tests: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("Test", "Evaluator", "Verdict", "Time", "Detail"):
        table.add_column(heading, overflow="fold", justify="right" if heading == "Time" else "left")
    for test in tests:
        shown = f"[{STYLES[test['verdict']]}]{MARKS[test['verdict']]} {test['verdict']}[/]"
        unchecked = f" (unchecked: {', '.join(test['unchecked'])})" if test["unchecked"] else ""
        detail = printable(test["detail"])
        detail = detail if len(detail) <= 160 else detail[:157] + "…"
        table.add_row(
            escape(printable(test["name"])),
            test["evaluator"],
            shown,
            f"{test['duration_ms']} ms",
            escape(detail + unchecked),
        )
    return table


def _number(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def printable(text: str) -> str:
    """Text of a system without the control characters that steer a terminal."""
    return _CONTROLS.sub("", str(text))


def _write(path: Path, text: str) -> None:
    draft = path.with_name(path.name + ".partial")
    draft.write_text(text, encoding="utf-8", errors="backslashreplace")
    draft.replace(path)


def _cell(text: str) -> str:
    """Untrusted text inside a Markdown table cell: one line, no markup."""
    flat = " ".join(str(text).split())
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~$])", r"\\\1", flat)


def _xml(text: str) -> str:
    return _NOT_XML.sub("�", str(text))


def _command(text: str, *, prop: bool = False) -> str:
    escaped = str(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return escaped.replace(":", "%3A").replace(",", "%2C") if prop else escaped
