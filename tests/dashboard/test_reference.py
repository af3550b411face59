"""The reference: every metric, component and setting, searchable, with a link of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dashboard.visits import sound, text_of, visit


def test_every_metric_is_listed_and_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = visit(monkeypatch, tmp_path / "none.db", "reference", metric="ndcg_at_k")
    said = text_of(app)
    assert "ndcg_at_k" in said
    assert "Where there is nothing to count" in said
    app.text_input(key="reference_find").set_value("reciprocal rank").run()
    assert "mrr" in text_of(sound(app))


def test_an_unknown_metric_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = visit(monkeypatch, tmp_path / "none.db", "reference", metric="nobody")
    assert "No metric has this name" in text_of(app)


def test_components_and_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = visit(monkeypatch, tmp_path / "none.db", "reference", part="Components", reference_find="bm25")
    assert "how fast repeated words stop adding score" in text_of(app)
    app = visit(monkeypatch, tmp_path / "none.db", "reference", part="Settings", reference_find="chunk_size")
    assert "can be a factor of a sweep" in text_of(app)
    app.text_input(key="reference_find").set_value("nothing has this").run()
    assert "0 of" in text_of(sound(app))
