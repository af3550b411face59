"""Notices from the TED API (v3 search): page after page, politely, and resumable where it stopped.

`POST {url}` with `query`, `fields`, `limit`, `page`; the reply holds `notices` and `totalNoticeCount`. Texts come
by language (`{"eng": "…"}` or `{"eng": ["…"]}`).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx

from core.errors import InputError, Problem
from core.inputs.notices import Notice
from core.records import digest

TED_URL = "https://api.ted.europa.eu/v3/notices/search"
DEFAULT_QUERY = "main-classification-proc=* AND notice-title=*"
FIELDS = (
    "publication-number",
    "notice-title",
    "title-proc",
    "description-proc",
    "main-classification-proc",
    "classification-cpv",
    "buyer-name",
    "contract-nature",
    "official-language",
)
_LANGUAGES = {
    "bul": "bg", "ces": "cs", "dan": "da", "deu": "de", "ell": "el", "eng": "en", "est": "et", "fin": "fi",
    "fra": "fr", "gle": "ga", "hrv": "hr", "hun": "hu", "ita": "it", "lav": "lv", "lit": "lt", "mlt": "mt",
    "nld": "nl", "pol": "pl", "por": "pt", "ron": "ro", "slk": "sk", "slv": "sl", "spa": "es", "swe": "sv",
}  # fmt: skip
_ATTEMPTS = 5
_RETRIED = {408, 425, 429, 500, 502, 503, 504}


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched. `pause_s` lies between two requests; a `retry-after` of the server is honoured."""

    query: str = DEFAULT_QUERY
    url: str = TED_URL
    limit: int = 100
    pause_s: float = 0.35
    timeout_s: float = 30.0
    longest_wait_s: float = 60.0

    @property
    def key(self) -> str:
        """What decides the pages: two searches with one key can share what was fetched."""
        return digest([self.query, self.url, self.limit])[:16]


def fetch_notices(
    search: Search,
    *,
    max_notices: int,
    progress: Path,
    start_page: int = 1,
    max_pages: int | None = None,
    on_page: Callable[[int, int], None] | None = None,
) -> Iterator[Notice]:
    """Notices in the order of the pages, at most `max_notices`.

    Every page is kept in `progress` (JSON lines) as it arrives; a second call continues behind the last page and
    gives those fetched before first. `on_page` is told page and notices so far. Raises InputError when the
    service cannot be reached or answers something else; what was fetched stays in `progress`.
    """
    given = 0
    page = start_page
    for page, notices in _kept(progress, search.key):
        for notice in notices:
            if given == max_notices:
                return
            given += 1
            yield notice
        page += 1
    last = None if max_pages is None else start_page + max_pages
    with httpx.Client(timeout=search.timeout_s) as client:
        asked = False
        while given < max_notices and (last is None or page < last):
            if asked:
                time.sleep(search.pause_s)
            asked = True
            body = _post(client, search, page)
            raw = body.get("notices")
            if not isinstance(raw, list):
                raise InputError(
                    f"{search.url}: the reply has no list 'notices'",
                    [Problem(f"page {page}", str(list(body)))],
                )
            read = [notice_of(entry) for entry in raw]
            notices = [each for each in read if each is not None]
            _keep(progress, search.key, page, notices)
            for notice in notices[: max_notices - given]:
                given += 1
                yield notice
            if on_page is not None:
                on_page(page, given)
            total = body.get("totalNoticeCount")
            if len(raw) < search.limit or (isinstance(total, int) and page * search.limit >= total):
                return
            page += 1


def _post(client: httpx.Client, search: Search, page: int) -> dict[str, Any]:
    payload = {
        "query": search.query,
        "fields": list(FIELDS),
        "limit": search.limit,
        "page": page,
        "paginationMode": "PAGE_NUMBER",
    }
    said = ""
    for attempt in range(_ATTEMPTS):
        wait = min(2.0**attempt, search.longest_wait_s)
        try:
            response = client.post(search.url, json=payload, headers={"accept": "application/json"})
        except httpx.HTTPError as error:
            said = f"{type(error).__name__}: {error}"
        else:
            if response.status_code < 400:
                return _object(response, search, page)
            said = f"HTTP {response.status_code}: {response.text[:200]}"
            if response.status_code not in _RETRIED:
                break
            wait = _retry_after(response, wait, search.longest_wait_s)
        if attempt + 1 < _ATTEMPTS:
            time.sleep(max(wait if search.pause_s else 0.0, search.pause_s))
    hint = "run the command again later: it continues where it stopped"
    raise InputError(f"{search.url} does not answer", [Problem(f"page {page}", said, hint=hint)])


def _retry_after(response: httpx.Response, otherwise: float, longest: float) -> float:
    try:
        return min(float(response.headers["retry-after"]), longest)
    except (KeyError, ValueError):
        return otherwise


def _object(response: httpx.Response, search: Search, page: int) -> dict[str, Any]:
    try:
        body = response.json()
    except (ValueError, RecursionError) as error:
        shown = Problem(f"page {page}", response.text[:120])
        raise InputError(f"{search.url}: the reply is not JSON", [shown]) from error
    if not isinstance(body, dict):
        raise InputError(f"{search.url}: the reply must be an object, not {type(body).__name__}")
    return body


def notice_of(entry: Mapping[str, Any]) -> Notice | None:
    """A notice of the API's reply; None without number, code of 8 digits or text."""
    codes = list(
        dict.fromkeys(
            code
            for key in ("main-classification-proc", "classification-cpv")
            for value in _flat(entry.get(key))
            if len(code := "".join(c for c in value if c.isdigit())[:8]) == 8
        )
    )
    official = next(iter(_flat(entry.get("official-language"))), "").lower()
    language, title = _text(entry.get("title-proc"), official)
    if not title:
        language, title = _text(entry.get("notice-title"), official)
    _, text = _text(entry.get("description-proc"), official)
    number = next(iter(_flat(entry.get("publication-number"))), "")
    if not number or not codes or not (title or text):
        return None
    return Notice(
        number=number,
        code=codes[0],
        title=title,
        text=text,
        language=language,
        buyer=_text(entry.get("buyer-name"), official)[1],
        contract_type=next(iter(_flat(entry.get("contract-nature"))), ""),
        codes=tuple(codes),
    )


def _flat(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _flat(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _flat(each)


def _text(value: Any, official: str) -> tuple[str | None, str]:
    """(language, text): in the notice's own language where it is given, else in the first one."""
    if not isinstance(value, dict):
        return None, " ".join(next(iter(_flat(value)), "").split())
    chosen = next((key for key in value if key.lower() == official), next(iter(value), ""))
    text = " ".join(" ".join(_flat(value.get(chosen))).split())
    return _LANGUAGES.get(str(chosen).lower()), text


# --- progress -------------------------------------------------------------------------------------------------


def _keep(progress: Path, key: str, page: int, notices: Iterable[Notice]) -> None:
    progress.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(
        {"search": key, "page": page, "notices": [asdict(n) for n in notices]}, ensure_ascii=False
    )
    whole = not progress.exists() or progress.read_bytes()[-1:] in (b"", b"\n")
    with progress.open("a", encoding="utf-8") as file:
        file.write(("" if whole else "\n") + line + "\n")
        file.flush()
        os.fsync(file.fileno())


def _kept(progress: Path, key: str) -> Iterator[tuple[int, list[Notice]]]:
    """Pages fetched before, in order; half a line at the end (a killed process) is passed over."""
    if not progress.is_file():
        return
    for line in progress.read_text(encoding="utf-8").split("\n"):
        try:
            page = json.loads(line)
        except ValueError:
            continue
        if page.get("search") == key:
            yield (
                int(page["page"]),
                [Notice(**{**each, "codes": tuple(each["codes"])}) for each in page["notices"]],
            )
