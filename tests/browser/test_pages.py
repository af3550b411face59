"""Every page as it is drawn: light and dark, wide and narrow, with what others wrote as text."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.server import SECOND, Server, Visit
from tests.dashboard.stores import HOSTILE, hostile_id

pytestmark = pytest.mark.browser
PAGES = ("", "run", "verdicts", "case?case=q1", "new", "data")
BASELINE, CANDIDATE, FAILURES = (f"20261101T1{n}0000-00000{n + 1}" for n in range(3))
PICTURES = Path(tempfile.gettempdir()) / "plumbline-pages"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_page(browser: Browser, server: Server, scheme: str, width: int) -> None:
    PICTURES.mkdir(exist_ok=True)
    with Visit(browser, server, scheme, width) as visit:
        for path in PAGES:
            page = visit.open(path)
            name = path.split("?")[0] or "home"
            expect(page.locator("h1")).to_have_count(1)
            expect(page.locator("[data-testid=stException]")).to_have_count(0)
            expect(page.get_by_text("This page could not be drawn")).to_have_count(0)
            visit.well_set()
            visit.whole(PICTURES / f"{name}-{scheme}-{width}.png")
            background = page.evaluate(
                "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
            )
            assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(15, 20, 27)"}[scheme]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_page_of_an_empty_store(browser: Browser, tmp_path: Path, scheme: str) -> None:
    from tests.browser.server import dashboard

    with dashboard(tmp_path / "none.db") as fresh, Visit(browser, fresh, scheme) as visit:
        for path in ("", "run", "verdicts", "case", "new", "data"):
            visit.open(path)
            visit.whole(PICTURES / f"empty-{path or 'home'}-{scheme}.png")


def test_a_link_to_another_run_by_its_id(browser: Browser, server: Server) -> None:
    """Ids and labels both open a run, and the address then says which."""
    with Visit(browser, server) as visit:
        page = visit.open(f"run?run={BASELINE}")
        expect(page.get_by_role("heading", name="baseline", exact=True)).to_be_visible()
        visit.open(f"run?run={CANDIDATE}")
        expect(page.get_by_role("heading", name="candidate", exact=True)).to_be_visible()
        page.get_by_role("link", name="Verdicts", exact=True).click()
        expect(page.get_by_role("heading", name="Verdicts")).to_be_visible()
        visit.settled()
        expect(page.get_by_text("candidate: 16 cases")).to_be_visible()
        assert f"run={CANDIDATE}" in page.url, page.url


def test_an_unknown_run_is_said(browser: Browser, server: Server) -> None:
    with Visit(browser, server) as visit:
        page = visit.open("run?run=nobody")
        expect(page.get_by_text("No run answers to this link")).to_be_visible()
        expect(page.get_by_text("nobody", exact=True)).to_be_visible()


def test_home_leads_to_the_run_that_was_clicked(browser: Browser, server: Server) -> None:
    """Also when another run was chosen before."""
    with Visit(browser, server) as visit:
        page = visit.open(f"run?run={CANDIDATE}")
        page.get_by_role("link", name="Home", exact=True).click()
        expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
        visit.settled()
        page.get_by_role("link", name="baseline", exact=True).click()
        expect(page.get_by_role("heading", name="baseline", exact=True)).to_be_visible()
        visit.settled()
        assert f"run={BASELINE}" in page.url, page.url
        page.reload()
        visit.settled()
        expect(page.get_by_role("heading", name="baseline", exact=True)).to_be_visible()


def test_filters_stand_in_the_address(browser: Browser, server: Server) -> None:
    with Visit(browser, server) as visit:
        page = visit.open(f"verdicts?verdict=Error&run={FAILURES}")
        expect(page.get_by_text("2 of 21 cases match the filters")).to_be_visible()
        page.get_by_role("button", name="Weak").click()
        expect(page.get_by_text(re.compile("^with failures: [3-9] of 21"))).to_be_visible()
        expect(page).to_have_url(re.compile("verdict=Error&.*verdict=Weak|verdict=Weak"), timeout=20 * SECOND)
        page.reload()
        visit.settled()
        expect(page.get_by_text(re.compile("^with failures: [3-9] of 21"))).to_be_visible()


def test_text_of_others_is_text(browser: Browser, hostile_server: Server) -> None:
    """Nothing that a document or a model wrote is run, rendered or fetched; it is there letter by letter."""
    with Visit(browser, hostile_server) as visit:
        for number, text in enumerate(HOSTILE):
            page = visit.open(f"case?case={quote(hostile_id(number))}")
            expect(page.get_by_role("heading", name="Answer", exact=True)).to_be_visible()
            shown = page.locator("[data-testid=stHtml]").all_text_contents()
            assert any(each.startswith(text[:20_000]) for each in shown), text[:80]
            rendered = (
                "script, img, .katex, [data-testid=stHtml] a, [data-testid=stHtml] b, h1 strong, h1 code"
            )
            assert page.locator(f"[data-testid=stMain] :is({rendered})").count() == 0
        for path in ("run", "verdicts", "data", ""):
            page = visit.open(path)
            expect(
                page.locator("[data-testid=stMain]").get_by_text("<b>*hostile*</b> $5 and $6").first
            ).to_be_visible()
            assert page.locator("[data-testid=stMain] :is(script, img, .katex)").count() == 0


def test_from_case_to_case(browser: Browser, server: Server) -> None:
    """Next, previous, and the same case in another run; each place has an address of its own."""
    with Visit(browser, server) as visit:
        page = visit.open(f"case?run={CANDIDATE}&case=q1")
        expect(page.get_by_role("heading", name="How long are books number 1 lent for?")).to_be_visible()
        page.get_by_role("link", name="Next", exact=True).click()
        expect(page.get_by_role("heading", name="How long are books number 2 lent for?")).to_be_visible()
        page.get_by_role("link", name="Next", exact=True).click()
        expect(page.get_by_role("heading", name="How long are books number 3 lent for?")).to_be_visible()
        expect(page).to_have_url(re.compile("case=q3"))
        visit.settled()
        page.go_back()
        expect(page.get_by_role("heading", name="How long are books number 2 lent for?")).to_be_visible()
        page.go_forward()
        expect(page.get_by_role("heading", name="How long are books number 3 lent for?")).to_be_visible()
        visit.settled()
        page.get_by_role("link", name="baseline", exact=True).click()
        expect(page).to_have_url(re.compile(f"run={BASELINE}"))
        expect(page.get_by_text(re.compile("Single hop · baseline"))).to_be_visible()
        page.get_by_role("textbox", name="Case id").fill("q5")
        page.get_by_role("textbox", name="Case id").press("Enter")
        expect(page.get_by_role("heading", name="How long are books number 5 lent for?")).to_be_visible()
        expect(page).to_have_url(re.compile("case=q5"))
