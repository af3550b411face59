"""The first minutes of a user, in a real browser: compute the demo, watch it, look into a case."""

from __future__ import annotations

import re
import sqlite3

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.server import SECOND, Server, Visit

pytestmark = pytest.mark.browser


def jobs(server: Server) -> list[tuple[str, str]]:
    with sqlite3.connect(server.store) as connection:
        return connection.execute("SELECT kind, status FROM jobs").fetchall()


def test_the_demo_is_one_click_away_and_survives_a_closed_tab(browser: Browser, empty_server: Server) -> None:
    with Visit(browser, empty_server) as visit:
        page = visit.open()
        expect(page.get_by_role("heading", name="Nothing has been evaluated yet")).to_be_visible()
        page.get_by_role("button", name="Compute the demo").dblclick()
        expect(page.locator("[data-testid=stProgress]").first).to_be_visible()
    # the tab is closed; the job goes on
    with Visit(browser, empty_server) as visit:
        page = visit.open()
        expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible(timeout=240 * SECOND)
        expect(page.locator("[data-testid=stProgress]")).to_have_count(0, timeout=240 * SECOND)
        visit.settled()
        assert jobs(empty_server) == [("demo", "done")], "a double click starts one job"
        page.get_by_role("link", name="demo", exact=True).first.click()
        expect(page.get_by_role("heading", name="demo", exact=True)).to_be_visible()
        visit.settled()
        expect(
            page.get_by_text(
                re.compile(r"\d+ % pass: \d+ of 19 judged questions, 95 % interval \[\d+, \d+\]")
            )
        ).to_be_visible()
        assert re.search(r"/run\?run=\d{8}T\d{6}-", page.url), page.url


def test_from_the_count_to_the_case(browser: Browser, empty_server: Server) -> None:
    with Visit(browser, empty_server) as visit:
        page = visit.open("verdicts")
        page.get_by_role("button", name=re.compile("Fail [1-9]")).click()
        expect(page.get_by_text(re.compile("of 19 cases match the filters"))).to_be_visible()
        expect(page).to_have_url(re.compile("verdict=Fail"), timeout=20 * SECOND)
        visit.settled()
        page.locator("[data-testid=stMain] [data-testid=stPageLink] a").first.click()
        expect(page).to_have_url(re.compile(r"/case\?.*case="), timeout=20 * SECOND)
        expect(page.get_by_role("heading", name="Answer")).to_be_visible()
        visit.settled()
        expect(page.locator("[data-testid=stMain]").get_by_text("✕ Fail").first).to_be_visible()
        link = page.url
    # the link alone, cold, in another browser window
    with Visit(browser, empty_server) as visit:
        page = visit.open(link.removeprefix(f"{empty_server.url}/"))
        expect(page.get_by_role("heading", name="Answer")).to_be_visible()
        expect(page.locator("[data-testid=stMain]").get_by_text("✕ Fail").first).to_be_visible()
        assert page.url == link
        page.get_by_text("Show the page as it is printed").click()
        expect(page.get_by_test_id("stImage").get_by_role("img")).to_be_visible(timeout=30 * SECOND)


def test_a_run_of_ones_own(browser: Browser, empty_server: Server) -> None:
    """The form names what is missing by its key, then the run starts, is watched and finishes."""
    with Visit(browser, empty_server) as visit:
        page = visit.open("new")
        page.get_by_role("textbox", name="Run name").fill("my own run")
        page.get_by_role("textbox", name="Run name").press("Enter")
        visit.settled()
        page.get_by_role("button", name="Start the run").click()
        expect(page.get_by_text("settings cannot be used")).to_be_visible(timeout=240 * SECOND)
        expect(page.get_by_text("questions", exact=True).first).to_be_visible()
        visit.settled()
        for label, path in (("Documents", "data/demo/documents"), ("Questions", "data/demo/questions.json")):
            box = page.get_by_role("combobox", name=re.compile(label))
            box.fill(path)
            box.press("Enter")
            if label == "Documents":
                page.keyboard.press("Escape")  # the list stays open for more, and hides the rest of the page
            visit.settled()
        page.get_by_role("button", name="Start the run").click()
        expect(page.get_by_text("my own run is complete.")).to_be_visible(timeout=240 * SECOND)
        visit.settled()
        page.get_by_role("link", name="Open my own run").click()
        expect(page.get_by_role("heading", name="my own run", exact=True)).to_be_visible()
        visit.settled()
