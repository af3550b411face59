"""`pytest --plumbline plumbline.yaml`: every case of an audit as a pytest item.

FAIL and ERROR fail the item, WEAK is a warning. The audit runs once, when its first item is asked for.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import EvalError
from core.pipeline import Options, execute
from core.records import Result, Run, Verdict
from core.store.runs import Store
from core.tasks.audit import AuditPlan, plan_audit

_CONCLUDING = ("citation_audit", "tool_coverage", "write_safety")


class PlumblineWeak(UserWarning):
    """A case whose verdict is WEAK."""


class CaseFailed(Exception):
    """A case whose verdict is FAIL or ERROR."""


class AuditFile(pytest.File):
    """A configuration named with --plumbline."""

    plan: AuditPlan
    results: dict[str, list[Result]] | None = None
    run: Run | None = None

    def collect(self) -> Iterator[pytest.Item]:
        try:
            self.plan = plan_audit(self.path, no_judge=self.config.getoption("--plumbline-no-judge"))
        except EvalError as error:
            raise self.CollectError(str(error)) from error
        for case in self.plan.task.cases:
            yield AuditCase.from_parent(self, name=case.id, case_id=case.id)
        asked = {case.test for case in self.plan.task.cases}
        for test in self.plan.tests:
            # the verdict of these tests says more than their cases do
            if test.evaluator in _CONCLUDING or test.name not in asked:
                yield AuditTest.from_parent(self, name=test.name)

    def outcome(self, case_id: str) -> list[Result]:
        """Results of a case (one a repeat); the whole audit runs at the first call."""
        if self.results is None:
            output_dir = Path(self.config.getoption("--plumbline-output-dir"))
            store = Store(output_dir / "plumbline.db")
            run = self.plan.config.run
            options = Options(
                output_dir=output_dir,
                seed=run.seed,
                repeats=run.repeats,
                settings=self.plan.settings,
            )
            self.run = execute(self.plan.task, store, options)
            self.results = {}
            for result in store.results(self.run.id):
                self.results.setdefault(result.case_id, []).append(result)
        return self.results.get(case_id, [])

    def verdict(self, name: str) -> dict[str, Any] | None:
        """The row of a test in the report."""
        self.outcome("")
        rows = self.run.summary.get("tests", []) if self.run else []
        return next((row for row in rows if row["name"] == name), None)


class AuditTest(pytest.Item):
    """A test whose verdict is more than the worst of its cases (a mean, a chain of versions, nothing to ask)."""

    def runtest(self) -> None:
        audit = self.parent
        assert isinstance(audit, AuditFile)
        row = audit.verdict(self.name)
        if row is None or row["verdict"] in ("FAIL", "ERROR"):
            raise CaseFailed(f"{row['verdict']}: {row['detail']}" if row else "no result")
        if row["verdict"] == "WEAK":
            warnings.warn(PlumblineWeak(f"{self.name} is WEAK: {row['detail']}"), stacklevel=1)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, CaseFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


class AuditCase(pytest.Item):
    """One case."""

    def __init__(self, *, case_id: str, **more: Any) -> None:
        super().__init__(**more)
        self.case_id = case_id

    def runtest(self) -> None:
        audit = self.parent
        assert isinstance(audit, AuditFile)
        results = audit.outcome(self.case_id)
        verdict = Verdict.worst(result.verdict for result in results)
        reasons = "; ".join(dict.fromkeys(reason for result in results for reason in result.reasons))
        if verdict in (None, Verdict.FAIL, Verdict.ERROR):
            raise CaseFailed(f"{verdict or 'no result'}: {reasons}")
        if verdict is Verdict.WEAK:
            warnings.warn(PlumblineWeak(f"{self.case_id} is WEAK: {reasons}"), stacklevel=1)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, CaseFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.case_id


def pytest_collection(session: pytest.Session) -> None:
    """The named configurations are collected beside whatever else was asked for."""
    session.config.args.extend(str(Path(each)) for each in session.config.getoption("--plumbline"))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> AuditFile | None:
    named = {Path(each).resolve() for each in parent.config.getoption("--plumbline")}
    return AuditFile.from_parent(parent, path=file_path) if file_path.resolve() in named else None
