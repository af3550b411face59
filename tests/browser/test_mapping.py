"""A results file in a real browser: uploaded, its columns changed, seen as they are read, run."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, expect

from core.store.runs import Store
from tests.browser.server import SECOND, Server, Visit, dashboard

pytestmark = pytest.mark.browser
RESULTS = b"Frage,Label,Code\nheat for schools,09310000,09310000\nnew cars,34100000,34110000\n"


@pytest.fixture
def own_server() -> Iterator[Server]:
    """A dashboard without a store yet."""
    folder = Path(tempfile.mkdtemp(prefix="mapping-"))
    with dashboard(folder / "outputs" / "plumbline.db") as started:
        yield started


def test_a_results_file_is_mapped_and_run(browser: Browser, own_server: Server) -> None:
    settings = quote(json.dumps({"classifier_type": "prepared_rag_results"}))
    with Visit(browser, own_server) as visit:
        page = visit.open(f"new?settings={settings}")
        start = page.get_by_role("button", name="Start the run")
        expect(start).to_be_disabled(timeout=60 * SECOND)
        page.locator("input[type=file]").set_input_files(
            {"name": "results.csv", "mimeType": "text/csv", "buffer": RESULTS}
        )
        expect(page.get_by_text("2 rows: 2 results")).to_be_visible(timeout=60 * SECOND)
        expect(start).to_be_enabled()
        role = page.get_by_role("combobox", name="Label")
        role.click()
        page.get_by_role("option", name="not used").click()
        expect(page.get_by_text("column_map = {'expected': '', 'unused': ['Label']}")).to_be_visible(
            timeout=60 * SECOND
        )
        visit.settled()
        start.click()
        expect(page.locator("[data-testid=stProgress]").first).to_be_visible(timeout=60 * SECOND)
        expect(page.locator("[data-testid=stProgress]")).to_have_count(0, timeout=120 * SECOND)
    with Store(own_server.store, readonly=True) as store:
        (run,) = store.runs()
        assert [case.gold_codes for case in store.cases(run.id)] == [(), ()]
        assert [output.hits[0].id for output in store.outputs(run.id)] == ["09310000", "34110000"]
        assert run.verdicts["WEAK"] == 2, "without a gold code nothing was checked"
