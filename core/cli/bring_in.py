"""`plumbline import`: another tool's results as runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from core import components, provenance
from core.cli.mapping import roles_of
from core.cli.store import store_option
from core.errors import InputError
from core.evaluation.summary import aggregate, summarise
from core.inputs.foreign import Imported, load_foreign
from core.records import Run, Verdict, digest
from core.store.runs import Store

BLOCK = 1_000
SHIPPED = components.SHIPPED  # loaded so that every metric has its name, kind and direction


@click.command("import")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--format", "form", help="Format of the file; recognised by its contents where it can be.")
@click.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="ROLE=COLUMN",
    help="Column of a generic table (may be repeated).",
)
@click.option("--name", help="Name of the run.")
@click.option("--suite", help="Suite it belongs to.")
@store_option
def import_(
    path: Path,
    form: str | None,
    mapping: tuple[str, ...],
    name: str | None,
    suite: str | None,
    store_path: Path,
) -> None:
    """Bring in another tool's results as runs.

    A wrong file is refused with row and column, and the store stays as it was.
    """
    imported = load_foreign(path, format=form, mapping=roles_of(mapping))
    with Store(store_path) as store:
        runs = store_imported(store, imported, name=name, suite=suite)
    for run, found in zip(runs, imported, strict=True):
        shown = ", ".join(f"{n} {verdict}" for verdict, n in run.verdicts.items() if n) or "no verdicts"
        click.echo(f"run {run.id} ({run.name}): {run.n_cases} cases, {shown}")
        for notice in found.notices:
            click.echo(f"note: {notice}")
        if found.results is None and found.outputs and run.kind != "audit":
            click.echo(f"note: it has no verdicts yet; plumbline score {run.id} gives it some")


def store_imported(
    store: Store, imported: Sequence[Imported], *, name: str | None = None, suite: str | None = None
) -> list[Run]:
    """Store what another tool's files hold, one sealed run each: all or none. InputError where nothing is in
    them."""
    if not any(found.cases for found in imported):
        raise InputError("the file holds no cases")
    with store.write():
        return [_store_one(store, found, name if len(imported) == 1 else None, suite) for found in imported]


def _store_one(store: Store, found: Imported, name: str | None, suite: str | None) -> Run:
    now = datetime.now(UTC)
    run = Run(
        id=provenance.new_id(now),
        name=name or found.name,
        kind=found.kind,
        suite=suite or found.suite,
        suite_digest=digest([case.model_dump(mode="json", exclude={"order"}) for case in found.cases]),
        created_at=now.isoformat(timespec="milliseconds"),
        settings={"imported_from": found.name, "classifier_type": found.kind},
        digests={"source": found.digest},
        versions=provenance.versions(),
        n_cases=len(found.cases),
        repeats=1 + max((output.repeat for output in found.outputs), default=0),
    )
    results = list(found.results or ())
    store.create_run(run, found.cases)
    for at in range(0, len(found.outputs), BLOCK):
        store.add_outputs(run.id, found.outputs[at : at + BLOCK])
    for at in range(0, len(results), BLOCK):
        store.add_results(run.id, results[at : at + BLOCK])
    aggregates = aggregate(found.cases, results)
    counts = Counter(result.verdict.value for result in results)
    summary = summarise(run.kind, found.cases, found.outputs, results, aggregates)
    return store.seal(
        run.id,
        summary={**summary, "notices": list(found.notices)},
        aggregates=aggregates,
        verdicts={verdict.value: counts.get(verdict.value, 0) for verdict in Verdict},
    )
