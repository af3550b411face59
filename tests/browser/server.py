"""The dashboard as a user starts it: the real command on a free port, and a browser that notices what goes wrong."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect

ROOT = Path(__file__).resolve().parents[2]
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--no-first-run",
)
# on a deep link Streamlit first looks for its own addresses below the page, and falls back; it says so twice
KNOWN = re.compile(r"/_stcore/(health|host-config)$")
SECOND = 1000
# asked of all at once: what the page before left behind may vanish at any moment
DRAWN = """() => [['stVegaLiteChart', 'svg.marks, canvas'], ['stDataFrame', 'canvas']].every(
  ([id, mark]) => [...document.querySelectorAll(`[data-testid=${id}]`)].every(each => each.querySelector(mark)))"""
# what is wrong with how a page is set: headings that skip a level, texts of charts that are cut, charts without words,
# published names where a person reads
FAULTS = """() => {
  const main = document.querySelector('[data-testid=stMain]'), found = [];
  if (main.scrollWidth > window.innerWidth) found.push(`${main.scrollWidth} px wide`);
  let last = 0;
  for (const heading of main.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
    const level = Number(heading.tagName[1]);
    if (level > last + 1) found.push(`heading "${heading.innerText}" of level ${level} after ${last}`);
    last = level;
  }
  for (const chart of main.querySelectorAll('[data-testid=stVegaLiteChart]')) {
    if (!chart.querySelector('[aria-label]')) found.push('a chart without words');
    for (const svg of chart.querySelectorAll('svg.marks')) {
      const frame = svg.getBoundingClientRect();
      for (const text of svg.querySelectorAll('text')) {
        if (getComputedStyle(text).opacity === '0') continue;  // a label left out for want of room
        const box = text.getBoundingClientRect();
        if (box.width && (box.left < frame.left - 3 || box.right > frame.right + 3 || box.bottom > frame.bottom + 3))
          found.push(`cut in a chart: ${text.textContent}`);
        if (text.textContent.includes('…')) found.push(`shortened in a chart: ${text.textContent}`);
        if (/\\b[a-z0-9]+(_[a-z0-9]+)+\\b/.test(text.textContent)) found.push(`a published name: ${text.textContent}`);
      }
    }
  }
  return found;
}"""


@dataclass
class Server:
    """A running dashboard; `log` is what it wrote."""

    url: str
    store: Path
    process: subprocess.Popen[bytes]
    log_file: Path

    @property
    def log(self) -> str:
        return self.log_file.read_text(encoding="utf-8", errors="replace")


@contextmanager
def dashboard(store: Path, **environment: str) -> Iterator[Server]:
    """`streamlit run dashboard/app.py` from the checkout, stopped at the end. Not `python -m streamlit`: that puts
    the working directory on the path and would hide a missing one."""
    port = _free_port()
    log = Path(tempfile.mkstemp(suffix=".log")[1])
    command = [str(Path(sys.executable).with_name("streamlit")), "run", "dashboard/app.py"]
    options = ["--server.port", str(port), "--server.headless", "true", "--server.address", "127.0.0.1"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PLUMBLINE_")}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, *options, "--server.fileWatcherType", "none"],
            cwd=ROOT, stdout=out, stderr=out, env={**env, "PLUMBLINE_STORE": str(store), **environment},
        )  # fmt: skip
    server = Server(f"http://127.0.0.1:{port}", store, process, log)
    try:
        _wait_until_up(server)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_up(server: Server) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            if server.process.poll() is not None:
                break
            time.sleep(0.1)
    raise AssertionError(f"the dashboard did not start:\n{server.log}")


@dataclass
class Visit:
    """One visitor with a window of their own. Leaving it checks that the browser had nothing to complain about
    and that nothing left this machine."""

    browser: Browser
    server: Server
    scheme: str = "light"
    width: int = 1280
    complaints: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def __enter__(self) -> Visit:
        self.context = self.browser.new_context(
            viewport={"width": self.width, "height": 900},
            color_scheme=self.scheme,  # type: ignore[arg-type]
        )
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(60 * SECOND)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._request)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.context.close()
        if kind is not None:
            print(self.server.log[-6000:])  # pytest shows it with the failure
        else:
            assert not self.complaints, self.complaints
            assert not self.outside, f"requests left this machine: {self.outside}"

    def open(self, path: str = "") -> Page:
        self.page.goto(f"{self.server.url}/{path}")
        self.settled()
        return self.page

    def settled(self) -> None:
        """Wait until the script has ended and nothing on the page is still a placeholder."""
        self.page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
        expect(self.page.locator("[data-testid=stSkeleton]")).to_have_count(0, timeout=30 * SECOND)
        self.page.wait_for_function(DRAWN, timeout=30 * SECOND)

    def well_set(self) -> None:
        """Nothing is wider than the window or cut, headings are in order, charts are said in words."""
        assert not (faults := self.page.evaluate(FAULTS)), f"{self.page.url}: {faults}"

    def whole(self, path: Path) -> None:
        """A picture of the whole page, not only of what fits the window."""
        height = self.page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        self.page.set_viewport_size({"width": self.width, "height": min(max(900, height + 40), 8000)})
        self.settled()
        self.page.screenshot(path=path)
        self.page.set_viewport_size({"width": self.width, "height": 900})

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not KNOWN.search(message.location.get("url", "")):
            self.complaints.append(f"{message.text} ({message.location.get('url', '')})")

    def _request(self, request: Request) -> None:
        here = self.server.url.removeprefix("http://")
        if not request.url.startswith((f"http://{here}", f"ws://{here}", "data:", "blob:")):
            self.outside.append(request.url)
