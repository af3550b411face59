"""What needs somebody today: question sets, gates, regressions, errors, sweeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.records import Verdict
from core.store.runs import Store
from tests.dashboard import stores
from tests.dashboard.visits import links, text_of, visit


def spoken(monkeypatch: pytest.MonkeyPatch, store: Path) -> str:
    return text_of(visit(monkeypatch, store, "home")).replace("\\", "")


def test_regressions_against_the_run_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Verdicts of 16 cases, shifted by one: what passes here fails there."""
    store = tmp_path / "plumbline.db"
    stores.two_runs(store)
    app = visit(monkeypatch, store, "home")
    text = text_of(app).replace("\\", "")
    assert "1 of 1 question set needs a look: library (4 regressed)." in text
    compare = [(label, query) for label, page, query in links(app) if page == "compare"]
    assert len(compare) == 1
    assert "4 regressed and 4 fixed since baseline" in compare[0][0].replace("\\", "")
    assert "baseline=" in compare[0][1]


def test_a_pinned_baseline_comes_before_the_run_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = tmp_path / "plumbline.db"
    with Store(store) as opened:
        first = stores.plain(opened, 16, 1, "first")
        stores.plain(opened, 16, 2, "second", shift=1)
        stores.plain(opened, 16, 3, "third")
        opened.set_baseline("release", first.id)
    text = " ".join(label for label, _, _ in links(visit(monkeypatch, store, "home"))).replace("\\", "")
    assert "no verdict changed since release" in text
    assert "No gate failed, nothing regressed" in spoken(monkeypatch, store)


def test_errors_are_no_regressions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A case that broke says nothing about quality; the errors themselves are named."""
    store = tmp_path / "plumbline.db"
    cases = [stores.case(n) for n in range(4)]
    with Store(store) as opened:
        stores.add_run(
            opened, cases, [stores.output(each) for each in cases], [stores.result(each, Verdict.PASS) for each in cases], number=1,
        )  # fmt: skip
        pairs = [stores.failed(each) for each in cases]
        stores.add_run(opened, cases, [out for out, _ in pairs], [res for _, res in pairs], number=2)
    assert "library (4 errors)" in spoken(monkeypatch, store)
