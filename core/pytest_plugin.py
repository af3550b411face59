"""`pytest --plumbline plumbline.yaml`: the options; the items themselves are loaded only when it is given, so that
other projects' test runs do not pay for them."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("plumbline", "behavioural audits of RAG agents")
    group.addoption(
        "--plumbline", action="append", default=[], metavar="CONFIG", help="audit to run as tests"
    )
    group.addoption("--plumbline-no-judge", action="store_true", help="judge nothing")
    group.addoption("--plumbline-output-dir", default="outputs", help="where the run and the store go")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--plumbline"):
        config.pluginmanager.import_plugin("core.audit.pytest_items")
