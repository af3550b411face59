"""A sweep from New run: what can vary, the plan before the start, and a job that is started once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.settings import RunSettings, is_factor
from core.store.runs import Store
from dashboard import uploads
from dashboard.parts import form
from dashboard.queries import jobs
from tests.dashboard.test_jobs import ended
from tests.dashboard.visits import ROOT, sound, text_of, visit


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty store, with the demo's documents and questions among the uploads."""
    path = tmp_path / "outputs" / "plumbline.db"
    monkeypatch.setenv("PLUMBLINE_STORE", str(path))
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "data/demo/documents", uploads.folder("documents"))
    uploads.folder("questions").mkdir()
    shutil.copy(ROOT / "data/demo/questions.json", uploads.folder("questions"))
    return path


def link(docs: Sequence[str] = (), **factors: list[object]) -> dict[str, str]:
    inputs = {
        "docs": docs or [str(uploads.folder("documents"))],
        "questions": str(uploads.folder("questions") / "questions.json"),
    }
    return {"start": "Sweep", "settings": json.dumps({**inputs, "factors": factors})}


def test_every_setting_that_can_be_a_factor_is_offered(monkeypatch: pytest.MonkeyPatch, store: Path) -> None:
    app = visit(monkeypatch, store, "new", start="Sweep")
    offered = app.multiselect(key="vary")
    wanted = {
        name
        for name in RunSettings.model_fields
        if is_factor(RunSettings, name) and name not in form.HIDDEN | {"classifier_type", "retriever_options"}
    }
    applies = {"top_k", "rerank_top_n", "hybrid_alpha", "chunking", "abstain_on_weak_evidence", "llm_model"}
    assert applies <= wanted
    app.session_state["vary"] = sorted(applies)
    assert set(sound(app.run()).multiselect(key="vary").value) == applies
    assert len(offered.options) >= 20
    assert len(set(offered.options)) == len(offered.options), "labels tell settings apart"


def test_nothing_starts_without_two_values_and_a_plan(monkeypatch: pytest.MonkeyPatch, store: Path) -> None:
    app = visit(monkeypatch, store, "new", **link(top_k=[3]))
    assert "at least two values" in text_of(app)
    app.text_input(key="vary_top_k").set_value("3, many, 5")
    app.run()
    assert "not a number: many" in text_of(app)
    assert not [each for each in app.button if each.key == "start_sweep"]
    app.button(key="plan_sweep").click().run(timeout=120)
    said = text_of(sound(app))
    assert "2 configurations on 19 questions" in said
    assert "it costs nothing" in said
    steps = next(each.value for each in app.dataframe if "step" in each.value)
    assert steps.set_index("step").loc["chunking (all documents)"].tolist() == [1, 2]
    assert app.button(key="start_sweep").label == "Start the sweep of 2 configurations"
    app.text_input(key="vary_top_k").set_value("3, 4, 5")
    assert not [each for each in app.run().button if each.key == "start_sweep"], "another sweep, another plan"


def test_what_is_wrong_is_said_by_the_plan(monkeypatch: pytest.MonkeyPatch, store: Path) -> None:
    app = visit(monkeypatch, store, "new", **link(["no/such/folder"], top_k=[1, 2]))
    app.button(key="plan_sweep").click().run(timeout=120)
    assert "no/such/folder" in text_of(sound(app)).replace("\\", "")
    assert not [each for each in app.button if each.key == "start_sweep"]


def test_the_sweep_runs_as_a_job_of_its_own(monkeypatch: pytest.MonkeyPatch, store: Path) -> None:
    app = visit(monkeypatch, store, "new", **link(top_k=[2, 3]))
    app.button(key="plan_sweep").click().run(timeout=120)
    app.button(key="start_sweep").click().run(timeout=120)
    assert "could not" not in text_of(app)
    (job,) = jobs.recent()
    done = ended(job["id"])
    assert done["status"] == "done", done["error"]
    with Store(store, readonly=True) as kept:
        assert len(kept.runs(sweep_id=str(done["run_id"]), status="sealed")) == 2
    assert "Sweep is complete" in text_of(sound(app.run()))
