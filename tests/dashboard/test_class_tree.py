"""Classes of a tree whose codes say nothing about their parents: cells and branches follow the parents alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core import pipeline
from core.settings import load_settings
from core.store.runs import Store
from dashboard.queries import classes, runs
from tests.dashboard.visits import links, text_of, visit

CODES = """code,label,parent
K7,Animals,
A1,Fish of the sea,K7
Z9,Herring,A1
B4,Mackerel,A1
A2,Birds of the air,K7
K70,Sparrow,A2
M5,Machines,
K8,Cranes that lift,M5
A10,Tower crane,K8
"""
QUERIES = [
    ("q1", "herring", "Z9"),
    ("q2", "mackerel", "Z9"),
    ("q3", "sparrow", "B4"),
    ("q4", "tower crane", "K70"),
    ("q5", "tower crane", "A10"),
    ("q6", "nothing of this kind 999", "A10"),
    ("q7", "birds of the air", "A2"),
]


@pytest.fixture(scope="module")
def tree_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one classification over the tree."""
    folder = tmp_path_factory.mktemp("tree")
    (folder / "codes.csv").write_text(CODES, encoding="utf-8")
    rows = [{"id": name, "query": text, "gold_cpv_code": code} for name, text, code in QUERIES]
    (folder / "queries.json").write_text(json.dumps(rows), encoding="utf-8")
    settings = load_settings(
        {
            "classifier_type": "ted_cpv",
            "cpv_catalog": str(folder / "codes.csv"),
            "cpv_queries": str(folder / "queries.json"),
            "output_dir": str(folder / "outputs"),
            "cache_dir": str(folder / "cache"),
        }
    )
    pipeline.run(settings, store=Store(folder / "plumbline.db"))
    return folder / "plumbline.db"


def test_every_cell_of_every_level_lists_as_many_cases_as_it_counts(
    monkeypatch: pytest.MonkeyPatch, tree_store: Path
) -> None:
    monkeypatch.setenv("PLUMBLINE_STORE", str(tree_store))
    (run,) = Store(tree_store, readonly=True).runs()
    version = runs.version(run.id)
    assert version
    seen = 0
    for level, name in [(1, "level_1"), (2, "level_2"), (3, "level_3"), (None, "code")]:
        for row in classes.table(version, f"confusion_{name}").fillna("").to_dict("records"):
            found = classes.cell(version, level, row["gold"], row["predicted"])
            assert len(found) == row["n"], (name, row)
            seen += 1
    assert seen > 12
    sea = classes.cell(version, 2, "A1", "A1")
    assert set(sea["case_id"]) == {"q1", "q2"}, "A10 and A2 begin like A1 and are elsewhere"


def test_the_tree_counts_errors_by_parents(monkeypatch: pytest.MonkeyPatch, tree_store: Path) -> None:
    app = visit(monkeypatch, tree_store, "classes")
    labels = [each.label.replace("\\", "") for each in app.expander]
    assert "K7 Animals · 3 of 5 wrong, 1 of them in another branch" in labels
    assert "M5 Machines · 1 of 2 wrong, 1 of them in another branch" in labels
    app.session_state["branch_K7"] = True
    app.run()
    said = text_of(app).replace("\\", "")
    assert "- A1 Fish of the sea · 2 of 3 wrong, 1 of them in another branch" in said
    assert "  - Z9 Herring · 1 of 2 wrong, 1 of them in another branch" in said


def test_a_cell_of_the_middle_level_links_its_cases(
    monkeypatch: pytest.MonkeyPatch, tree_store: Path
) -> None:
    app = visit(monkeypatch, tree_store, "classes", level="Level 2")
    picked = {"gold": "A1 Fish of the sea", "predicted": "A2 Birds of the air"}
    app.session_state["confusion_level_2"] = {"selection": {"cell": [picked]}}
    app.run()
    assert [label for label, page, _ in links(app) if page == "case"] == [":blue[sparrow]"]
