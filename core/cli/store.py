"""`plumbline store`: check, compact, move and tidy the run store."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from core.errors import StoreError
from core.store import portable
from core.store.runs import Store

DEFAULT = Path("outputs/plumbline.db")


def store_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--store-path`, as on every command that reads the store."""
    return click.option(
        "--store-path",
        type=click.Path(dir_okay=False, path_type=Path),
        default=lambda: Path(os.environ.get("PLUMBLINE_STORE", DEFAULT)),
        show_default=str(DEFAULT),
        help="SQLite file with the runs.",
    )(command)


def open_store(path: Path) -> Store:
    """A store that exists; commands that only tidy do not make a new one. StoreError otherwise."""
    if not path.is_file():
        raise StoreError(f"no run store at {path}; name it with --store-path")
    return Store(path)


@click.group()
def store() -> None:
    """Check, compact, move and tidy the run store."""


@store.command("list")
@click.option("--suite", help="Only runs of this suite.")
@click.option("--tag", help="Only runs with this tag.")
@click.option("--archived", is_flag=True, help="Archived runs.")
@click.option("--deleted", is_flag=True, help="Deleted runs that can be brought back.")
@click.option("--limit", default=50, show_default=True)
@click.option("--json", "as_json", is_flag=True)
@store_option
def list_(
    suite: str | None,
    tag: str | None,
    archived: bool,
    deleted: bool,
    limit: int,
    as_json: bool,
    store_path: Path,
) -> None:
    """List runs, newest first."""
    with Store(store_path, readonly=True) as opened:
        if deleted:
            for run_id, name, when in opened.deleted():
                click.echo(f"{run_id}  {name}  deleted {when}")
            return
        runs = opened.runs(suite=suite, tag=tag, archived=archived, limit=limit, light=True)
        pinned = {found.run_id: found.name for found in opened.baselines()}
        tags = {run.id: opened.tags(run.id) for run in runs}
    if as_json:
        entries = [
            {**run.model_dump(mode="json", exclude={"aggregates", "summary"}), "tags": tags[run.id]}
            for run in runs
        ]
        click.echo(json.dumps(entries, ensure_ascii=False, indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for name in ("run", "name", "suite", "made", "status", "pass", "weak", "fail", "error", ""):
        long = name in ("name", "suite")
        table.add_column(name, no_wrap=not long, overflow="fold", min_width=16 if long else None)
    for run in runs:
        marks = [
            *([f"baseline {pinned[run.id]}"] if run.id in pinned else []),
            *(f"#{tag}" for tag in tags[run.id]),
        ]
        counts = [str(run.verdicts.get(name, 0)) for name in ("PASS", "WEAK", "FAIL", "ERROR")]
        cells = (run.id, run.name, run.suite, run.created_at[:16], run.status, *counts, " ".join(marks))
        table.add_row(*map(escape, cells))
    console = Console()
    console.width = max(console.width, 160)  # piped output has no width of its own
    console.print(table)


@store.command()
@store_option
@click.pass_context
def check(ctx: click.Context, store_path: Path) -> None:
    """Check the store; exit 1 when something is wrong."""
    with Store(store_path, readonly=True) as opened:
        problems = opened.check()
    for problem in problems:
        click.echo(problem)
    click.echo(f"{store_path}: {'ok' if not problems else f'{len(problems)} problems'}")
    ctx.exit(1 if problems else 0)


@store.command()
@click.option(
    "--purge-days", default=30.0, show_default=True, help="Purge runs deleted longer ago than this."
)
@store_option
def vacuum(purge_days: float, store_path: Path) -> None:
    """Purge deleted runs and give room back."""
    with open_store(store_path) as opened:
        done = opened.vacuum(purge_days=purge_days)
    click.echo(f"purged {done['purged']} runs; {done['bytes_before']:,} → {done['bytes_after']:,} bytes")


@store.command("export")
@click.argument("run")
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
@store_option
def export_(run: str, path: Path, store_path: Path) -> None:
    """Write a run as one portable file."""
    with Store(store_path, readonly=True) as opened:
        click.echo(f"written: {portable.export_run(opened, run, path)}")


@store.command("import")
@click.argument("path", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@store_option
def import_(path: Path, store_path: Path) -> None:
    """Bring in the runs of a portable file: all or none."""
    with Store(store_path) as opened:
        new = portable.import_runs(opened, path)
    click.echo(
        f"{len(new)} new: {', '.join(new)}" if new else "nothing new: the store holds these runs already"
    )


@store.group()
def baseline() -> None:
    """Pin runs under a name that gates refer to."""


@baseline.command("set")
@click.argument("name")
@click.argument("run")
@click.option("--move", is_flag=True, help="Move a name that is pinned to another run.")
@store_option
def baseline_set(name: str, run: str, move: bool, store_path: Path) -> None:
    """Pin a sealed run under a name."""
    with open_store(store_path) as opened:
        made = opened.set_baseline(name, run, move=move)
    click.echo(f"baseline '{made.name}' is {made.run_id} ({made.run_name})")


@baseline.command("list")
@store_option
def baseline_list(store_path: Path) -> None:
    """List the baselines."""
    with Store(store_path, readonly=True) as opened:
        for found in opened.baselines():
            click.echo(
                f"{found.name}: {found.run_id} ({found.run_name}), suite {found.suite}, pinned {found.pinned_at}"
            )


@baseline.command("remove")
@click.argument("name")
@store_option
def baseline_remove(name: str, store_path: Path) -> None:
    """Unpin a baseline; its run stays."""
    with open_store(store_path) as opened:
        opened.remove_baseline(name)
    click.echo(f"'{name}' is no baseline any more")


@store.command()
@click.argument("run")
@click.argument("tags", nargs=-1, required=True)
@click.option("--remove", is_flag=True, help="Take the tags away.")
@store_option
def tag(run: str, tags: tuple[str, ...], remove: bool, store_path: Path) -> None:
    """Tag a run."""
    with open_store(store_path) as opened:
        (opened.untag if remove else opened.tag)(run, *tags)
        click.echo(f"tags: {', '.join(opened.tags(run)) or 'none'}")


@store.command()
@click.argument("run")
@click.argument("text", required=False)
@store_option
def note(run: str, text: str | None, store_path: Path) -> None:
    """Write a note to a run, or show it."""
    with open_store(store_path) as opened:
        if text is not None:
            opened.set_note(run, text)
        click.echo(opened.note(run) or "no note")


@store.command()
@click.argument("run")
@click.option("--undo", "back", is_flag=True, help="Bring it back into the lists.")
@store_option
def archive(run: str, back: bool, store_path: Path) -> None:
    """Take a run out of the lists; nothing is deleted."""
    with open_store(store_path) as opened:
        opened.archive(run, not back)
    click.echo("back in the lists" if back else "archived")


@store.command()
@click.argument("runs", nargs=-1, required=True)
@store_option
def delete(runs: tuple[str, ...], store_path: Path) -> None:
    """Delete runs; `undo` brings them back for 30 days."""
    with open_store(store_path) as opened:
        for run in runs:
            deleted = opened.delete(run)
            click.echo(f"deleted {deleted}; `plumbline store undo {deleted}` brings it back")


@store.command()
@click.argument("run", required=False)
@store_option
def undo(run: str | None, store_path: Path) -> None:
    """Bring back a deleted run (the last one without an argument)."""
    with open_store(store_path) as opened:
        click.echo(f"{opened.undo(run)} is back")


@store.command()
@click.option("--keep", type=click.IntRange(0), help="Newest runs to keep of every suite.")
@click.option("--days", type=click.FloatRange(0), help="Keep what is younger than this.")
@click.option("--suite", help="Only runs of this suite.")
@click.option("--dry-run", is_flag=True, help="Say what would go.")
@store_option
def retain(keep: int | None, days: float | None, suite: str | None, dry_run: bool, store_path: Path) -> None:
    """Delete old runs (with undo). Baselines, tagged runs and runs with a note always stay."""
    with open_store(store_path) as opened:
        gone = opened.retain(keep=keep, days=days, suite=suite, dry_run=dry_run)
    click.echo(
        f"{'would delete' if dry_run else 'deleted'} {len(gone)} runs" + "".join(f"\n  {run}" for run in gone)
    )
