from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.dashboard.stores import BUILDERS

ROOT = Path(__file__).resolve().parents[2]
Open = Callable[..., AppTest]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The store of a name, made once."""
    made: dict[str, Path] = {}

    def build(name: str) -> Path:
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name) / "plumbline.db"
            BUILDERS[name](made[name])
        return made[name]

    return build


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, built: Callable[[str], Path]) -> Callable[[str], Path]:
    """Point the dashboard at the store of a name."""

    def choose(name: str) -> Path:
        st.cache_data.clear()
        path = built(name)
        monkeypatch.setenv("PLUMBLINE_STORE", str(path))
        return path

    return choose


@pytest.fixture
def app(store: Callable[[str], Path]) -> Open:
    """Open a page of a store through `app.py`, with the parameters of a link."""

    def go(name: str, page: str = "home", **params: str | list[str]) -> AppTest:
        store(name)
        at = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=60).run()
        for key, value in params.items():
            at.query_params[key] = value
        if page != "home":
            at.switch_page(f"app_pages/{page}.py")
        return at.run()

    return go


def words(at: AppTest) -> str:
    """Everything a visitor reads on the page."""
    kinds = (
        "title",
        "header",
        "subheader",
        "markdown",
        "caption",
        "text",
        "info",
        "warning",
        "error",
        "success",
        "html",
    )
    found = [str(element.value) for kind in kinds for element in at.get(kind)]
    found += [str(element.label) for kind in ("button", "expander", "toggle") for element in at.get(kind)]
    found += [element.proto.label for element in at.get("page_link")]
    return "\n".join(found)


def fine(at: AppTest) -> AppTest:
    """Nothing went wrong in the app, neither loudly nor behind its error guard."""
    assert not at.exception, at.exception
    assert "could not be drawn" not in "".join(str(each.proto) for each in at.error)
    assert len(at.title) == 1, "each page has one title"
    return at
