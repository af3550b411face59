"""The pages that compare, explain and calibrate, as a cold deep link opens them: light and dark, wide and narrow."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.server import SECOND, Server, Visit, dashboard
from tests.dashboard import stores, sweeps

pytestmark = pytest.mark.browser
PICTURES = Path(tempfile.gettempdir()) / "plumbline-pages"
NAMES = "compare trends sweep causes pareto classes calibration judge reference home".split()
BASELINE, CANDIDATE = "20261101T100000-000001", "20261101T110000-000002"


@pytest.fixture(scope="module")
def swept_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A dashboard over a real small sweep and two comparable runs."""
    store = sweeps.sweep(tmp_path_factory.mktemp("swept"))
    stores.two_runs(store)
    with dashboard(store) as started:
        yield started


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_every_page_by_a_cold_link(browser: Browser, swept_server: Server, scheme: str, width: int) -> None:
    PICTURES.mkdir(exist_ok=True)
    for name in NAMES:
        with Visit(browser, swept_server, scheme, width) as visit:
            page = visit.open(f"compare?run={CANDIDATE}&baseline={BASELINE}" if name == "compare" else name)
            expect(page.locator("h1")).to_have_count(1)
            expect(page.get_by_text("This page could not be drawn")).to_have_count(0)
            expect(page.get_by_text("Page not found")).to_have_count(0)
            visit.well_set()
            visit.whole(PICTURES / f"{name}-{scheme}-{width}.png")


def test_arrow_keys_walk_through_the_regressions(browser: Browser, swept_server: Server) -> None:
    with Visit(browser, swept_server) as visit:
        page = visit.open(f"compare?run={CANDIDATE}&baseline={BASELINE}&change=regressed&case=q3")
        expect(page.get_by_role("heading", name="How long are books number 3 lent for?")).to_be_visible()
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("heading", name="How long are books number 7 lent for?")).to_be_visible()
        expect(page).to_have_url(re.compile("case=q7"), timeout=20 * SECOND)
        page.keyboard.press("ArrowLeft")
        expect(page.get_by_role("heading", name="How long are books number 3 lent for?")).to_be_visible()


def test_answers_are_labelled_by_keyboard(browser: Browser, swept_server: Server) -> None:
    with Visit(browser, swept_server) as visit:
        page = visit.open(f"judge?run={CANDIDATE}&view=Label+answers")
        main = page.locator("[data-testid=stMain]")
        for key, done in (("p", 1), ("f", 2), ("w", 3), ("u", 2), ("s", 2)):
            page.keyboard.press(key)
            expect(main.get_by_text(re.compile(f"^{done} of 16 answers labelled"))).to_be_visible()
            visit.settled()
        expect(main.get_by_text(re.compile("agree on .* of 2 labelled answers"))).to_be_visible()
        page.reload()
        visit.settled()
        expect(main.get_by_text(re.compile("^2 of 16 answers labelled"))).to_be_visible()


def test_swap_stands_in_the_address(browser: Browser, swept_server: Server) -> None:
    with Visit(browser, swept_server) as visit:
        page = visit.open(f"compare?run={CANDIDATE}&baseline={BASELINE}")
        page.get_by_role("button", name="Swap").click()
        expect(page).to_have_url(
            re.compile(f"run={BASELINE}.*baseline={CANDIDATE}|baseline={CANDIDATE}.*run={BASELINE}"),
            timeout=20 * SECOND,
        )
        visit.settled()
        page.reload()
        visit.settled()
        expect(page.get_by_text(re.compile("^baseline, .*against candidate"))).to_be_visible()


def test_advice_opens_a_form_that_is_filled_in(browser: Browser, swept_server: Server) -> None:
    with Visit(browser, swept_server) as visit:
        page = visit.open("causes")
        command = page.locator("[data-testid=stCode]", has_text="plumbline run").first.inner_text()
        name, value = re.findall(r"--([a-z-]+)\s+(\S+)", command)[-1]
        page.get_by_role("link", name="Open New run filled in").first.click()
        expect(page.get_by_role("heading", name="New run")).to_be_visible()
        visit.settled()
        expect(
            page.get_by_text(re.compile(f"Document QA; .*{name.replace('-', '_')} = {value}"))
        ).to_be_visible()
