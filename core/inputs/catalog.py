"""Code lists → Catalog with real parents: the official CPV list, the legacy catalogue, a TED corpus export, and
any CSV (Excel, JSON…) with `code,label[,parent][,description][,examples]`."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.corpus import Catalog, Code
from core.errors import InputError, Problem
from core.inputs.cells import as_list, as_text, code_width
from core.inputs.codes import CPV_WIDTH, CodeForm, Tree, given_tree, is_cpv_like, prefix_tree
from core.inputs.notices import is_export, notices_of_table
from core.inputs.table_files import MAX_PROBLEMS, Table, missing, read_table
from core.inputs.training_texts import catalog_entries
from core.records import digest

CATALOG_VERSION = "1"
EXAMPLE_SEPARATOR = "||"
_CODE = ("code", "code_with_check", "cpv", "cpv_code")
_PARENT = ("parent", "parent_code", "parent_id")
_LABEL = re.compile(r"label_([a-z]{2})|([a-z]{2})")


@dataclass(frozen=True, slots=True)
class LoadedCatalog:
    """`notices` say what was put right or is worth knowing; `form` reads codes as this list writes them."""

    catalog: Catalog
    notices: tuple[str, ...]
    form: CodeForm


@dataclass(slots=True)
class _Entry:
    code: str
    label: str
    labels: dict[str, str] = field(default_factory=dict)
    parent: str | None = None
    description: str = ""
    examples: tuple[str, ...] = ()
    line: int = 0


def load_catalog(path: str | Path, *, scheme: str = "official") -> LoadedCatalog:
    """Read a code list and build its tree.

    `scheme` is official | two_digit_steps (levels by digits; only for lists of 8-digit codes) or catalog
    (parents as the file gives them). A list of other codes always uses its own parents, which is said. Raises
    InputError with row and column of everything that cannot be used.
    """
    file = Path(path)
    table = read_table(file)
    notices = list(table.notices)
    if is_export(table.columns):
        entries = _from_export(file, table, notices)
        form = CodeForm()
    else:
        entries, form = _from_list(file, table, notices)
        notices += _labels_beside(file, entries)
    tree = _tree(file, entries, scheme, notices)
    codes = [
        Code(
            code=entry.code,
            label=entry.label,
            labels=entry.labels,
            parent=tree.parents[entry.code],
            level=tree.levels[entry.code],
            description=entry.description,
            examples=entry.examples,
        )
        for entry in sorted(entries.values(), key=lambda each: each.code)
    ]
    notices += [*tree.remarks, *form.notices("code list")]
    cpv = is_cpv_like(entries)
    catalog = Catalog(
        name=file.stem,
        scheme=tree.scheme,
        codes=tuple(codes),
        level_names=tree.level_names,
        width=CPV_WIDTH if cpv else None,
        digest=digest([CATALOG_VERSION, tree.scheme, [code.model_dump(mode="json") for code in codes]]),
    )
    form = CodeForm(catalog.width, known=catalog.by_code)
    return LoadedCatalog(catalog, tuple(notices), form)


# --- rows -----------------------------------------------------------------------------------------------------


def _from_list(file: Path, table: Table, notices: list[str]) -> tuple[dict[str, _Entry], CodeForm]:
    names = {column.strip().casefold(): place for place, column in enumerate(table.columns)}
    code_at = next((names[name] for name in _CODE if name in names), None)
    labels = _label_columns(names)
    if code_at is None or (not labels and "label" not in names):
        found = Problem(
            "header",
            ", ".join(table.columns) or "(empty)",
            table.lines[0] - 1 if table.lines else 1,
            "a code list needs the columns code and label (or CODE and EN, or label_en…)",
        )
        raise InputError(f"{file}: is no code list that can be read", [found])
    form = CodeForm(CPV_WIDTH if _looks_cpv(row[code_at] for row in table.rows) else None)
    problems: list[Problem] = []
    entries: dict[str, _Entry] = {}
    for row, line in zip(table.rows, table.lines, strict=True):
        entry = _entry(row, line, names, code_at, labels, form)
        _check(entry, entries, table.columns[code_at], form, problems)
        entries.setdefault(entry.code, entry)
    if problems:
        more = f" (and {len(problems) - MAX_PROBLEMS} more)" if len(problems) > MAX_PROBLEMS else ""
        raise InputError(f"{file}: the code list cannot be used{more}", problems[:MAX_PROBLEMS])
    if not entries:
        raise InputError(f"{file}: the code list holds no codes")
    return entries, form


def _looks_cpv(values: Any) -> bool:
    given = [value for value in values if not missing(value)]
    reader = CodeForm()
    plain = [reader.read(value) for value in given]
    return is_cpv_like(plain) and (
        code_width(given, None) == CPV_WIDTH or not reader.restored or bool(reader.checked)
    )


def _label_columns(names: dict[str, int]) -> dict[str, int]:
    """Language → column: `label_en`, or the two-letter names of the official list."""
    found = {}
    for name, place in names.items():
        match = _LABEL.fullmatch(name)
        if match:
            found[match[1] or match[2]] = place
    return found


def _entry(
    row: Sequence[Any],
    line: int,
    names: dict[str, int],
    code_at: int,
    labels: dict[str, int],
    form: CodeForm,
) -> _Entry:
    def cell(*keys: str) -> Any:
        return next((row[names[key]] for key in keys if key in names), None)

    by_language = {lang: text for lang, at in labels.items() if (text := as_text(row[at]))}
    label = as_text(cell("label")) or by_language.get("en") or next(iter(by_language.values()), "")
    parent = cell(*_PARENT)
    examples = as_text(cell("examples"))
    return _Entry(
        code=form.read(row[code_at]) if not missing(row[code_at]) else "",
        label=label,
        labels=by_language,
        parent=form.read(parent) if not missing(parent) else None,
        description=as_text(cell("description")),
        examples=_examples(examples),
        line=line,
    )


def _examples(text: str) -> tuple[str, ...]:
    if text.startswith("["):
        return tuple(each for item in as_list(text) if (each := as_text(item)))
    return tuple(part.strip() for part in text.split(EXAMPLE_SEPARATOR) if part.strip())


def _check(
    entry: _Entry, entries: dict[str, _Entry], column: str, form: CodeForm, problems: list[Problem]
) -> None:
    where = f"column '{column}'"
    if not entry.code:
        problems.append(Problem(where, "is empty", entry.line))
    elif entry.code in entries:
        first = entries[entry.code].line
        problems.append(Problem(where, f"'{entry.code}' stands in row {first} too", entry.line))
    if not entry.label:
        problems.append(Problem("column 'label'", f"code '{entry.code}' has no label", entry.line))


def _labels_beside(file: Path, entries: dict[str, _Entry]) -> list[str]:
    """Labels in further languages from a file beside the list (`<name>_other_langs.csv`, also `.gz`)."""
    said = []
    family = file.stem.split("_")[0]
    for other in sorted(file.parent.glob(f"{family}*_other_langs.csv*")):
        if other == file:
            continue
        content = gzip.decompress(other.read_bytes()) if other.suffix == ".gz" else other.read_bytes()
        rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        languages = {
            name: match[1] or match[2]
            for name in rows.fieldnames or ()
            if (match := _LABEL.fullmatch(name.casefold()))
        }
        added = 0
        for row in rows:
            entry = entries.get(str(row.get("code", "")))
            if entry is not None:
                found = {lang: row[name] for name, lang in languages.items() if row[name]}
                entry.labels = found | entry.labels
                added += bool(found)
        said.append(
            f"labels in {', '.join(sorted(languages.values()))} read from {other.name} ({added} codes)"
        )
    return said


def _from_export(file: Path, table: Table, notices: list[str]) -> dict[str, _Entry]:
    read, said = notices_of_table(table, str(file))
    notices += said
    if not read:
        raise InputError(f"{file}: no row has a publication number, a code of 8 digits and a text")
    notices.append(
        "the code list was built from notices: only codes that occur in them can be predicted; give the official "
        "list as cpv_catalog and the export as cpv_notices to search all codes"
    )
    return {
        code: _Entry(code, label, description=description, examples=examples)
        for code, (label, description, examples) in catalog_entries(read).items()
    }


# --- the tree -------------------------------------------------------------------------------------------------


def _tree(file: Path, entries: dict[str, _Entry], scheme: str, notices: list[str]) -> Tree:
    if scheme != "catalog" and is_cpv_like(entries):
        return prefix_tree(entries, scheme)
    if scheme != "catalog":
        notices.append(
            "the codes are not all of eight digits: the levels are those of the list's own parents "
            "(hierarchy_scheme: catalog)"
        )
    parents = {code: entry.parent for code, entry in entries.items()}
    problems = [
        Problem(
            "column 'parent'", f"'{entry.parent}' (parent of '{entry.code}') is not in the list", entry.line
        )
        for entry in entries.values()
        if entry.parent is not None and entry.parent not in entries
    ]
    problems += _cycles(entries) if not problems else []
    if problems:
        raise InputError(f"{file}: the parents form no tree", problems[:MAX_PROBLEMS])
    if not any(parents.values()):
        notices.append("the code list names no parents: it is flat, and near misses are not told apart")
    return given_tree(parents)


def _cycles(entries: dict[str, _Entry]) -> list[Problem]:
    safe: set[str] = set()
    found = []
    for start in entries:
        path: dict[str, None] = {}
        current: str | None = start
        while current is not None and current not in safe and current not in path:
            path[current] = None
            current = entries[current].parent
        if current is not None and current in path:
            found.append(
                Problem("column 'parent'", f"'{current}' is its own ancestor", entries[current].line)
            )
        safe.update(path)
    return found
