"""Sweep, causes and Pareto over a real small sweep, and what they say where there is none."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from core.store.runs import Store
from dashboard.parts.advice import flags
from tests.dashboard import stores, sweeps
from tests.dashboard.visits import charts, links, param, sound, text_of, visit


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sweeps.sweep(tmp_path_factory.mktemp("swept"))


@pytest.mark.parametrize("page", ["sweep", "causes", "pareto"])
@pytest.mark.parametrize("name", ["empty", "small", "failures", "two_runs"])
def test_without_a_sweep_the_page_says_what_would_be_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, page: str, name: str
) -> None:
    stores.BUILDERS[name](tmp_path / "plumbline.db")
    asked = {"of": "A sweep"} if page == "causes" else {}
    app = visit(monkeypatch, tmp_path / "plumbline.db", page, **asked)
    assert "No sweep" in text_of(app)
    assert "plumbline sweep" in app.code[0].value


def test_the_sweep_names_no_configuration_by_its_slug(monkeypatch: pytest.MonkeyPatch, swept: Path) -> None:
    app = visit(monkeypatch, swept, "sweep")
    said = text_of(app).replace("\\", "")
    assert "is best:" in said
    assert "on 19 questions" in said
    assert "cannot be told from it" in said
    assert "expect" in said
    assert "on new questions" in said
    assert "fixed_words" not in said, "configurations and settings are named in words"
    assert len(charts(app)) == 2
    assert "They disagree on" in said
    assert param(app, "sweep")


def test_two_chosen_configurations(monkeypatch: pytest.MonkeyPatch, swept: Path) -> None:
    app = visit(monkeypatch, swept, "sweep")
    options = app.selectbox(key="left").options
    app.selectbox(key="left").set_value(options[0]).run()
    app.selectbox(key="right").set_value(options[-1]).run()
    assert any(page == "compare" and "baseline=" in query for _, page, query in links(sound(app)))


def test_an_unknown_sweep_is_said(monkeypatch: pytest.MonkeyPatch, swept: Path) -> None:
    app = visit(monkeypatch, swept, "sweep", sweep="nobody")
    assert "Nothing answers to this link" in text_of(app)


def test_a_sweep_under_way_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "plumbline.db"
    with Store(path) as store:
        run = stores.plain(store, 4, 1, "configuration one")
        for number, status in ((2, "sealed"), (3, "running")):
            made = run.model_copy(
                update={
                    "id": f"20261101T2{number}0000-00000{number}",
                    "name": f"c{number}",
                    "sweep_id": "s1",
                    "status": "running",
                    "sealed_at": None,
                }
            )
            store.create_run(made, [stores.case(0)])
            if status == "sealed":
                store.add_outputs(made.id, [stores.output(stores.case(0))])
                store.seal(made.id, summary={}, aggregates=[], verdicts={}, folder="")
    app = visit(monkeypatch, path, "sweep")
    assert "2 configurations so far" in text_of(app)
    assert "resume latest" in text_of(app)


def test_causes_with_their_advice_open_a_filled_in_form(monkeypatch: pytest.MonkeyPatch, swept: Path) -> None:
    app = visit(monkeypatch, swept, "causes")
    said = text_of(app)
    assert "The largest effect" in said
    assert "changed quality beyond chance" in charts(app)[0]
    filled = [query for label, page, query in links(app) if page == "new" and "filled in" in label]
    assert filled
    settings = json.loads(parse_qs(filled[0])["settings"][0])
    assert settings["questions"].endswith("questions.json")
    form = visit(monkeypatch, swept, "new", settings=json.dumps({**settings, "top_k": 7}))
    assert form.session_state["set_top_k"] == 7
    assert form.session_state["set_questions"] == settings["questions"]


def test_causes_say_what_the_scores_vary_with(monkeypatch: pytest.MonkeyPatch, swept: Path) -> None:
    app = visit(monkeypatch, swept, "causes")
    assert "Questions explain" in text_of(app)
    assert "Of which single choices" in [each.label for each in app.expander]


def test_advice_opens_a_sweep_of_before_and_after(monkeypatch: pytest.MonkeyPatch, swept: Path) -> None:
    app = visit(monkeypatch, swept, "causes")
    compared = [query for label, page, query in links(app) if page == "new" and "Compare both" in label]
    assert compared
    given = parse_qs(compared[0])
    assert given["start"] == ["Sweep"]
    ((name, values),) = json.loads(given["settings"][0])["factors"].items()
    form = visit(monkeypatch, swept, "new", start="Sweep", settings=given["settings"][0])
    assert form.multiselect(key="vary").value == [name]
    assert len(values) == 2
    assert "Show what it would take" in [each.label for each in form.button]


def test_causes_of_one_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, swept: Path) -> None:
    store = sweeps.single(tmp_path)
    opened = [query for _, page, query in links(visit(monkeypatch, store, "run")) if page == "causes"]
    assert parse_qs(opened[0])["of"] == ["One run"]
    app = visit(monkeypatch, store, "causes")
    said = text_of(app)
    assert "of alone fail; most of them at" in said
    assert "What should I try next?" in said
    assert "Effects of single choices" not in said
    cases = [query for _, page, query in links(app) if page == "case"]
    assert cases
    assert all("run=" in query for query in cases)
    member = visit(monkeypatch, swept, "causes", of="One run")
    assert "belongs to a sweep" in text_of(member)
    assert any(page == "causes" and "sweep=" in query for _, page, query in links(member))


def test_failures_by_component_open_their_cases(monkeypatch: pytest.MonkeyPatch, swept: Path) -> None:
    app = visit(monkeypatch, swept, "causes")
    offered = app.pills(key="component_pills")
    assert offered.options
    opened = [query for _, page, query in links(app) if page == "case"]
    assert opened
    assert all("run=" in query and "case=" in query for query in opened)
    app = visit(monkeypatch, swept, "causes", component="abstention")
    assert len([query for _, page, query in links(app) if page == "case"]) <= len(opened)


def test_pareto_says_how_sure_the_frontier_is(monkeypatch: pytest.MonkeyPatch, swept: Path) -> None:
    app = visit(monkeypatch, swept, "pareto")
    said = text_of(app)
    assert "configurations may be worth their price" in said
    assert "knee" in said
    assert "cost a question" not in app.dataframe[0].value, "no model was called: nothing to compare"
    assert "fixed_words_" not in said


def test_settings_of_a_command() -> None:
    assert flags("plumbline run s.json --top-k 8 --no-rerank --chunking by_section --judge-enable") == {
        "top_k": 8, "rerank": False, "chunking": "by_section", "judge_enable": True,
    }  # fmt: skip
    assert flags("plumbline run 'unclosed") == {}
    assert flags("") == {}


def test_a_link_that_cannot_be_read_leaves_the_form_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    app = visit(monkeypatch, tmp_path / "none.db", "new", settings="{not json")
    assert "cannot be read" in text_of(app)
    app = visit(monkeypatch, tmp_path / "none.db", "new", settings='{"nobody": 1, "top_k": 3}')
    assert "nobody" in text_of(app)
