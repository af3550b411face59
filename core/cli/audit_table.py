"""The live table of an audit: tests, verdicts so far, cost so far, time left."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from core.audit.report import MARKS, STYLES, printable
from core.contracts import ScoringContext
from core.pipeline import Progress
from core.records import Case, Output, Result, Verdict
from core.tasks.audit import AuditPlan

Evaluate = Callable[[Case, Output, ScoringContext], Result]


class LiveTests:
    """Counts verdicts as results come in; on a terminal it shows them, elsewhere it stays silent."""

    def __init__(
        self, plan: AuditPlan, repeats: int, *, quiet: bool = False, console: Console | None = None
    ) -> None:
        self.console = console or Console(stderr=True)
        self.quiet = quiet or not self.console.is_terminal
        self.totals = Counter(case.test for case in plan.task.cases)
        self.repeats, self.run_id = repeats, ""
        self.verdicts: dict[str, Counter[str]] = {test.name: Counter() for test in plan.tests}
        self.cost: float | None = 0.0
        self.started = time.monotonic()
        self._lock = threading.Lock()
        self._live = Live(
            console=self.console, refresh_per_second=4, transient=True, get_renderable=self.table
        )

    def watching(self, evaluate: Evaluate) -> Evaluate:
        """`evaluate`, with every result counted; called from many threads."""

        def watched(case: Case, output: Output, context: ScoringContext) -> Result:
            result = evaluate(case, output, context)
            spent = [each.usage for each in result.judgements if each.usage] + (
                [output.usage] if output.usage else []
            )
            with self._lock:
                self.verdicts[case.test][result.verdict.value] += 1
                for usage in spent:
                    known = usage.cost_usd is not None and self.cost is not None
                    self.cost = (self.cost or 0.0) + (usage.cost_usd or 0.0) if known else None
            return result

        return watched

    def show(self, event: Progress) -> None:
        """The table itself follows the results; an event tells which run they belong to."""
        self.run_id = event.run_id

    def table(self) -> Any:
        """The table as it stands."""
        table = Table(box=None, pad_edge=False)
        table.add_column("Test")
        table.add_column("Done", justify="right")
        for verdict in Verdict:
            table.add_column(verdict.value, justify="right")
        with self._lock:
            counts = {name: Counter(count) for name, count in self.verdicts.items()}
            cost = self.cost
        for name, count in counts.items():
            cells = [
                f"[{STYLES[v.value]}]{MARKS[v.value]} {count[v.value]}[/]" if count[v.value] else ""
                for v in Verdict
            ]
            total = self.totals[name] * self.repeats
            table.add_row(escape(printable(name)), f"{count.total()} of {total}", *cells)
        done = sum(count.total() for count in counts.values())
        total = sum(self.totals.values()) * self.repeats
        spent = time.monotonic() - self.started
        line = Text(f"{done} of {total} · {spent:.0f} s")
        line.append(" · cost unknown" if cost is None else f" · ${cost:.4f}")
        if done:
            line.append(f" · about {spent / done * (total - done):.0f} s left")
        return Group(table, line)

    def __enter__(self) -> LiveTests:
        if not self.quiet:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.quiet:
            self._live.stop()
