from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.server import ARGUMENTS, Server, dashboard
from tests.dashboard import stores


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert chromium, "these tests drive a real Chromium: install the system package (`.ci/run` does)"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield started
        started.close()


@pytest.fixture(scope="session")
def empty_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A dashboard without a store: what a first-time user sees."""
    with dashboard(tmp_path_factory.mktemp("fresh") / "plumbline.db") as server:
        yield server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A dashboard over a store with failures, errors, repeats and two comparable runs."""
    folder: Path = tmp_path_factory.mktemp("filled")
    store = folder / "plumbline.db"
    stores.two_runs(store)
    stores.failures(store, number=3)
    with dashboard(store) as started:
        yield started


@pytest.fixture(scope="session")
def hostile_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    store = tmp_path_factory.mktemp("hostile") / "plumbline.db"
    stores.hostile(store)
    with dashboard(store) as started:
        yield started
