"""Cold links: each opens what it names, and what nothing answers to is said on a whole page."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs

import pytest

from tests.dashboard import stores
from tests.dashboard.visits import links, text_of, visit

BASELINE, CANDIDATE = (f"20261101T1{n}0000-00000{n + 1}" for n in range(2))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("links") / "plumbline.db"
    stores.two_runs(path)
    return path


@pytest.mark.parametrize("page", "run verdicts case compare trends classes calibration judge data".split())
def test_a_run_that_is_not_there(monkeypatch: pytest.MonkeyPatch, store: Path, page: str) -> None:
    app = visit(monkeypatch, store, page, run="nobody")
    assert "No run answers to this link" in text_of(app)
    assert len(app.title) == 1, "one heading a page"


@pytest.mark.parametrize(
    ("page", "params", "said"),
    [
        ("case", {"run": CANDIDATE, "case": "nobody"}, "This run has no such case"),
        ("case", {"run": CANDIDATE, "case": "q1", "repeat": "9"}, "How long are books number 1 lent for"),
        ("compare", {"run": CANDIDATE, "baseline": "nobody"}, "Nothing answers to this link"),
        (
            "compare",
            {"run": CANDIDATE, "baseline": BASELINE, "case": "nobody"},
            "Neither run has such a case",
        ),
        ("trends", {"suite": "nobody"}, "Nothing answers to this link"),
        ("reference", {"metric": "nobody"}, "No metric has this name"),
        ("new", {"settings": "{not json"}, "The settings of this link cannot be read"),
        ("judge", {"run": CANDIDATE, "view": "nobody"}, "Nobody has labelled these answers"),
        ("verdicts", {"run": CANDIDATE, "verdict": "nobody"}, "16 cases"),
    ],
)
def test_a_parameter_that_means_nothing(
    monkeypatch: pytest.MonkeyPatch, store: Path, page: str, params: dict[str, str], said: str
) -> None:
    app = visit(monkeypatch, store, page, **params)
    assert said in text_of(app).replace("\\", "")


@pytest.mark.parametrize(
    ("page", "params", "said"),
    [
        ("run", {"run": BASELINE}, "baseline"),
        ("verdicts", {"run": BASELINE, "verdict": "Fail"}, "baseline: 2 of 16 cases"),
        ("case", {"run": BASELINE, "case": "q3"}, "How long are books number 3 lent for"),
        ("compare", {"run": BASELINE, "baseline": CANDIDATE}, "baseline, "),
        ("judge", {"run": BASELINE, "view": "Label answers"}, "stays hidden until you have"),
        ("reference", {"metric": "ndcg_at_k"}, "ndcg_at_k"),
    ],
)
def test_a_link_opens_what_it_names(
    monkeypatch: pytest.MonkeyPatch, store: Path, page: str, params: dict[str, str], said: str
) -> None:
    app = visit(monkeypatch, store, page, **params)
    assert said in text_of(app).replace("\\", "")
    for name, value in params.items():
        assert app.query_params[name] in (value, [value]), "the address stays as it was"


def test_each_count_of_a_run_opens_just_its_cases(monkeypatch: pytest.MonkeyPatch, store: Path) -> None:
    """4 of 16 do not pass: 2 FAIL, 2 WEAK."""
    app = visit(monkeypatch, store, "run", run=BASELINE)
    counts = {}
    for label, page, query in links(app):
        asked = parse_qs(query)
        if page == "verdicts" and "verdict" in asked:
            opened = visit(monkeypatch, store, "verdicts", run=BASELINE, verdict=asked["verdict"][0])
            counts[asked["verdict"][0]] = sum(page == "case" for _, page, _ in links(opened))
            assert "show" in label
    assert counts == {"Fail": 2, "Weak": 2, "Pass": 12}
