"""What the terminal shows while a run goes on and when it is done."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from core.contracts import METRICS
from core.pipeline import Progress
from core.records import Aggregate, Run, Verdict

MARKS = {"PASS": ("●", "green"), "WEAK": ("▲", "yellow"), "FAIL": ("✕", "red"), "ERROR": ("◆", "magenta")}


class LiveProgress:
    """A line that tells how far the run is; on a terminal it refreshes, elsewhere it stays silent."""

    def __init__(self, quiet: bool = False) -> None:
        self.console = Console(stderr=True)
        self.quiet = quiet or not self.console.is_terminal
        self.started = time.monotonic()
        self.live = Live(console=self.console, refresh_per_second=4, transient=True)

    def __enter__(self) -> LiveProgress:
        if not self.quiet:
            self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.quiet:
            self.live.stop()

    def show(self, event: Progress) -> None:
        if self.quiet:
            return
        spent = time.monotonic() - self.started
        left = spent / event.done * (event.total - event.done) if event.done else None
        line = Text(f"{event.done} of {event.total}  ")
        for name, (mark, style) in MARKS.items():
            line.append(f"{mark} {event.verdicts.get(name, 0)} {name.title()}  ", style=style)
        if event.cost_usd:
            line.append(f"${event.cost_usd:.4f}  ")
        if left is not None:
            line.append(f"about {left:.0f} s left", style="dim")
        self.live.update(line)


def print_run(run: Run, *, quiet: bool = False) -> None:
    """The run's answer in one line; then, unless quiet, its headline metrics with intervals and coverage."""
    console = Console()
    total = sum(run.verdicts.values())
    shown = ", ".join(
        f"{MARKS[v.value][0]} {run.verdicts.get(v.value, 0)} {v.value.title()}" for v in Verdict
    )
    if not quiet:
        table = Table(box=None, pad_edge=False)
        for heading in ("metric", "mean", "95 % interval", "scored", "n/a", "error"):
            table.add_column(heading, justify="left" if heading == "metric" else "right")
        for row in headline(run):
            low_high = (
                f"[{row.low:.2f}, {row.high:.2f}]" if row.low is not None and row.high is not None else "–"
            )
            info = METRICS.get(row.metric)
            title = info.title if info else row.metric
            table.add_row(
                escape(f"{title} ({row.estimate})" if row.estimate else title),
                "–" if row.mean is None else f"{row.mean:.3f}",
                escape(low_high),
                str(row.n_scored),
                str(row.n_not_applicable),
                str(row.n_error),
            )
        console.print(table)
        for notice in run.summary.get("notices", [])[:8]:
            console.print(f"note: {escape(str(notice))}", style="dim")
        if leak := _leakage(run):
            console.print(escape(leak), style="dim")
        if run.summary.get("detectable"):
            console.print(escape(str(run.summary["detectable"])), style="dim")
    console.print(f"{total} of {run.n_cases * run.repeats} answered: {shown}")
    if run.status != "sealed":
        console.print(f"run {run.id} is {run.status}; finish it with: plumbline run … --resume {run.id}")
    else:
        console.print(f"run {run.id} · {escape(run.folder or '')}")


def _leakage(run: Run) -> str:
    """How many queries may have had their answer given away, and the accuracy with and without them."""
    found = run.summary.get("leakage") or {}
    if not found.get("n_leaking"):
        return ""
    told = [
        f"{said} {head['mean']:.3f} [{head['low']:.2f}, {head['high']:.2f}]"
        for said, name in (("with them", "headline_all"), ("without them", "headline_without_leaking"))
        if (head := (found.get(name) or {}).get("exact_top1_match")) and head.get("low") is not None
    ]
    accuracy = f": accuracy {', '.join(told)}" if told else ""
    return f"leakage: the answer of {found['n_leaking']} queries may have been given away{accuracy}"


def headline(run: Run) -> list[Aggregate]:
    """Ungrouped aggregates of the metrics declared as headlines; all of them where none is."""
    rows = [row for row in run.aggregates if not row.group_by]
    chosen = [row for row in rows if (info := METRICS.get(row.metric)) and info.headline]
    return chosen or rows[:12]
