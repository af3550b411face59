"""Attribution on disk: the published tables, the reports, and what the store keeps for the dashboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.attribution import Attribution
from core.attribution.reports import attribution_report, quality_report
from core.store.export import write_csv
from core.store.export.tabular import neutralise, write_json, write_text

if TYPE_CHECKING:
    import pandas as pd

    from core.store.runs import Store

Writer = Callable[[Path], None]
LARGE = 500  # rows from which a table is written a column at a time
STORED_ROWS = 50_000  # a larger table stays in its file; the store keeps its summary by pair
# rows by question live in the results already, and pairs in their summary
NOT_STORED = ("design_trace", "failure_taxonomy", "paired_design_comparisons")


def artifacts(attribution: Attribution, settings: Mapping[str, Any] | None = None) -> dict[str, Writer]:
    """Writers of every attribution file by its published name, for `Task.artifacts` and `write_run_folder`.
    `settings` are those of the explained configuration; they are written as `settings.json`, ready to run."""
    files: dict[str, Writer] = {
        f"{name}.csv": table_writer(table) for name, table in attribution.tables.items()
    }
    files["design_attribution_summary.json"] = lambda path: write_json(path, attribution.summary)
    files["design_attribution_report.md"] = lambda path: write_text(path, attribution_report(attribution))
    files["quality_advisor.json"] = lambda path: write_json(path, attribution.advisor)
    files["quality_report.md"] = lambda path: write_text(path, quality_report(attribution))
    if settings:
        files["settings.json"] = lambda path: write_json(path, dict(settings))
    return files


def write_attribution(
    folder: Path, attribution: Attribution, settings: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """Write every file into an existing folder; returns file name → path."""
    written = {}
    for name, writer in artifacts(attribution, settings).items():
        writer(folder / name)
        written[name] = str(folder / name)
    return written


def store_attribution(store: Store, owner: str, attribution: Attribution) -> None:
    """Keep the tables under a run's or a sweep's id; summary and advice as tables of one row."""
    for name, table in attribution.tables.items():
        if name not in NOT_STORED and len(table) <= STORED_ROWS:
            store.add_attribution(owner, name, records(table))
    store.add_attribution(owner, "design_attribution_summary", [attribution.summary])
    store.add_attribution(owner, "quality_advisor", [attribution.advisor])


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as plain values; what is missing is None."""
    if table.empty:
        return []
    names = list(table.columns)
    columns = (zip(table[name].tolist(), table[name].isna().tolist(), strict=True) for name in names)
    plain = ([None if absent else _plain(value) for value, absent in column] for column in columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*plain, strict=True)]


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def table_writer(table: pd.DataFrame) -> Writer:
    """Writer of a CSV with its header always; large tables go a column at a time."""
    if len(table) >= LARGE:
        return lambda path: _write_columns(path, table)
    columns = [str(name) for name in table.columns]
    return lambda path: write_csv(path, columns, ([row[c] for c in columns] for row in records(table)))


def _write_columns(path: Path, table: pd.DataFrame) -> None:
    """The same cells as `write_csv`, a column at a time: a million rows in seconds."""
    import pandas as pd
    import pyarrow
    import pyarrow.csv

    arrays = []
    for name in table.columns:
        column = table[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            words = pyarrow.array([neutralise(str(c)) for c in column.cat.categories], type=pyarrow.string())
            codes = pyarrow.array(column.cat.codes.to_numpy(), mask=(column.cat.codes == -1).to_numpy())
            arrays.append(pyarrow.DictionaryArray.from_arrays(codes, words).cast(pyarrow.string()))
        elif column.dtype == bool:
            arrays.append(pyarrow.array(column.map({True: "True", False: "False"})))
        elif column.dtype.kind in "iuf":
            arrays.append(pyarrow.array(column.to_numpy(), from_pandas=True))
        else:
            arrays.append(
                pyarrow.array([None if v is None or v != v else neutralise(str(v)) for v in column])
            )
    pyarrow.csv.write_csv(pyarrow.Table.from_arrays(arrays, names=[str(c) for c in table.columns]), path)
