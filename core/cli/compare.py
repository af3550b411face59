"""`plumbline compare`: two runs, or up to ten against the first, case by case."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from core import components
from core.cli.store import store_option
from core.contracts import METRICS
from core.store.compare import Comparison, compare_many, sentence
from core.store.compare.page import compare_page
from core.store.runs import Store

SHIPPED = components.SHIPPED  # loaded so that every metric has its name, kind and direction
_LISTED = 15
_SIDES = {"only_in_a": "only in the baseline", "only_in_b": "only in the candidate"}


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="A B [...]")
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option(
    "--html",
    "html_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write one self-contained page.",
)
@click.option("--all", "show_all", is_flag=True, help="List every metric and every changed case.")
@click.pass_context
def compare(
    ctx: click.Context,
    runs: tuple[str, ...],
    store_path: Path,
    as_json: bool,
    html_path: Path | None,
    show_all: bool,
) -> None:
    """Compare two runs (or up to ten) case by case.

    The first run is the baseline. Exit 0 when they could be compared, 3 when they could not.
    """
    with Store(store_path, readonly=True) as store:
        names = [named.id if (named := store.baseline(ref)) else ref for ref in runs]
        comparisons = compare_many(store, names)
        if html_path is not None:
            html_path.write_text(compare_page(store, comparisons), encoding="utf-8")
    if as_json:
        found = [comparison.to_dict() for comparison in comparisons]
        click.echo(json.dumps(found[0] if len(found) == 1 else found, indent=2, default=str))
    else:
        for comparison in comparisons:
            print_comparison(comparison, None if show_all else _LISTED)
        if html_path is not None:
            click.echo(f"written: {html_path}")
    ctx.exit(0 if all(comparison.comparable for comparison in comparisons) else 3)


def print_comparison(comparison: Comparison, listed: int | None) -> None:
    """Counts, metrics and changed cases of one comparison."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=140)
    a, b = comparison.a, comparison.b
    console.print(f"[bold]{escape(b.name)}[/bold] ({b.id}) against [bold]{escape(a.name)}[/bold] ({a.id})")
    for problem in comparison.problems:
        mark = "cannot be compared" if problem.severity == "refused" else "note"
        console.print(
            escape(f"{mark}: {problem.message}"), style="red" if problem.severity == "refused" else "dim"
        )
    counts = comparison.counts
    console.print(", ".join(f"{n} {_title(name)}" for name, n in counts.items() if n) or "no cases")
    changed = [factor for factor in comparison.factors if not factor.entailed_by]
    if changed:
        text = "; ".join(f"{factor.name}: {factor.a} → {factor.b}" for factor in changed)
        console.print(escape(f"changed ({comparison.design}): {text}"))
    if comparison.pass_rate is not None:
        console.print(escape(sentence(comparison.pass_rate)))
    if comparison.metrics:
        console.print(_metrics(comparison, everything=listed is None))
        if listed is not None:
            console.print(
                "(headline metrics and what changed; --all lists every metric and case)", style="dim"
            )
    _cases(console, comparison, listed)


def _metrics(comparison: Comparison, *, everything: bool) -> Table:
    """Headline metrics and what changed; all of them when asked for."""
    table = Table(box=None, pad_edge=False)
    for name in ("metric", "baseline", "candidate", "Δ", "95 % interval", "p corr.", "n", "change"):
        left = name in ("metric", "change")
        table.add_column(
            name, justify="left" if left else "right", no_wrap=True, max_width=26 if left else None
        )
    colours = {"better": "green", "worse": "red"}
    for metric in comparison.metrics:
        headline = metric.metric in METRICS and METRICS[metric.metric].headline
        if metric.delta is None or not (everything or headline or metric.change in colours):
            continue
        interval = (
            "–" if metric.interval is None else f"{metric.interval.low:+.3f} to {metric.interval.high:+.3f}"
        )
        table.add_row(
            escape(metric.title),
            f"{metric.mean_a:.3f}",
            f"{metric.mean_b:.3f}",
            f"{metric.delta:+.3f}",
            interval,
            "–" if metric.p_holm is None else f"{metric.p_holm:.3f}",
            str(metric.n),
            metric.change,
            style=colours.get(metric.change, ""),
        )
    return table


def _title(status: str) -> str:
    return _SIDES.get(status, status.replace("_", " "))


def _cases(console: Console, comparison: Comparison, listed: int | None) -> None:
    for status in ("broken", "fixed", "flaky", "not_comparable", "only_in_a", "only_in_b"):
        pairs = comparison.having(status)
        if not pairs:
            continue
        console.print(f"\n[bold]{_title(status)}[/bold] ({len(pairs)})")
        for pair in pairs[:listed]:
            before, after = (side.verdict if side else "–" for side in (pair.a, pair.b))
            reason = f" ({pair.b.reason})" if pair.b and pair.b.reason not in ("", "ok") else ""
            console.print(
                escape(f"  {pair.id}  {before} → {after}{reason}  {' '.join(pair.query.split())[:90]}")
            )
        if listed is not None and len(pairs) > listed:
            console.print(f"  … and {len(pairs) - listed} more (--all lists them)", style="dim")
