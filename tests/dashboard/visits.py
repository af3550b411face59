"""The dashboard without a browser: every page is entered through `app.py`, as a user enters it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]


def visit(monkeypatch: pytest.MonkeyPatch, store: Path, page: str, **params: Any) -> AppTest:
    """A page as it is drawn for a link with these parameters."""
    monkeypatch.setenv("PLUMBLINE_STORE", str(store))
    monkeypatch.delenv("PLUMBLINE_REVIEW", raising=False)
    app = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=120).run()
    for name, value in params.items():
        app.query_params[name] = value
    app.switch_page(f"app_pages/{page}.py").run()
    return sound(app)


def sound(app: AppTest) -> AppTest:
    """Fails where the page ended in an error."""
    titles: list[str] = [each.proto.title for each in app.error if hasattr(each.proto, "title")]
    assert not app.exception, str(app.exception)
    assert "This page could not be drawn" not in titles, text_of(app)
    return app


def text_of(app: AppTest) -> str:
    """Everything that is said on a page."""
    parts = [
        str(getattr(element, "value", ""))
        for kind in ("title", "header", "subheader", "markdown", "caption")
        for element in app.get(kind)
    ]
    for kind in ("info", "warning", "error", "success"):
        parts += [
            f"{getattr(each.proto, 'title', '')}: {getattr(each, 'value', '')}" for each in app.get(kind)
        ]
    parts += [str(getattr(each.proto, "body", "")) for each in app.get("html")]
    parts += [str(each.proto.body) for each in app.get("badge")] if app.get("badge") else []
    return "\n".join(parts)


def charts(app: AppTest) -> list[str]:
    """The charts: the title of each, its lines joined, and its specification."""
    specs = [each.proto.spec for each in app.get("vega_lite_chart")]
    return [f"{_title(json.loads(spec))}\n{spec}" for spec in specs]


def _title(spec: dict[str, Any]) -> str:
    text = (spec.get("title") or {}).get("text", "")
    if isinstance(text, dict):  # the browser chooses between two breakings of one title
        text = json.loads(text["expr"].partition("? ")[2].rpartition(" : [")[0])
    return text if isinstance(text, str) else " ".join(text)


def links(app: AppTest) -> list[tuple[str, str, str]]:
    """(label, page, query) of each link."""
    return [(each.proto.label, each.proto.page, each.proto.query_string) for each in app.get("page_link")]


def param(app: AppTest, name: str) -> str:
    """A parameter of the address; "" where it has none."""
    value = app.query_params.get(name, "")
    return str(value if isinstance(value, str) else value[-1])
