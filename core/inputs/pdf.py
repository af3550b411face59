"""PDF → raw page texts, outline and what is to be said about the file (pypdf). Runs in a worker process."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MAX_PROBLEMS = 20


@dataclass(slots=True)
class RawDocument:
    """What a reader gives: the text of each page as it came, outline entries as (level, title, page from 1),
    and the remarks for the report. `opened` is False when nothing of the file could be read."""

    pages: list[str] = field(default_factory=list)
    outline: list[tuple[int, str, int]] = field(default_factory=list)
    opened: bool = True
    encrypted: bool = False
    password_used: bool = False
    n_image_pages: int = 0
    problems: list[str] = field(default_factory=list)


def read_pdf(path: Path, passwords: Sequence[tuple[str, str]] = ()) -> RawDocument:
    """Read every page that can be read. `passwords` are (name to report, password), tried after the empty one.

    Whatever pypdf raises becomes a problem of the file or of one page: damaged files raise errors of many
    classes, so that all are caught.
    """
    import pypdf

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    raw = RawDocument()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            reader = pypdf.PdfReader(path, strict=False)
            raw.encrypted = reader.is_encrypted
            if raw.encrypted and not _open(reader, passwords, raw):
                raw.opened = False
                return raw
            count = len(reader.pages)
        except Exception as error:  # noqa: BLE001 - see above
            raw.opened = False
            raw.problems.append(f"cannot be opened: {_said(error)}")
            return raw
        for number in range(count):
            _read_page(reader, number, raw)
        raw.outline = _outline(reader)
    return raw


def _open(reader: Any, passwords: Sequence[tuple[str, str]], raw: RawDocument) -> bool:
    for name, password in (("", ""), *passwords):
        if reader.decrypt(password):
            raw.password_used = bool(name)
            return True
    tried = ", ".join(name for name, _ in passwords)
    raw.problems.append(
        f"is encrypted and none of the passwords opens it (tried: {tried})"
        if tried
        else "is encrypted and needs a password; name environment variables that hold one under `passwords`"
    )
    return False


def _read_page(reader: Any, number: int, raw: RawDocument) -> None:
    page, text = None, ""
    try:
        page = reader.pages[number]
        text = page.extract_text() or ""
    except Exception as error:  # noqa: BLE001 - a damaged page may raise anything
        if len(raw.problems) < MAX_PROBLEMS:
            raw.problems.append(f"page {number + 1}: cannot be read: {_said(error)}")
    raw.pages.append(text)
    if not text.strip() and page is not None and _has_image(page):
        raw.n_image_pages += 1


def _has_image(page: Any) -> bool:
    """Whether the page's resources hold an image; nothing is decoded."""
    try:
        objects = page["/Resources"].get_object().get("/XObject", {}).get_object()
        return any(objects[name].get_object().get("/Subtype") == "/Image" for name in objects)
    except Exception:  # noqa: BLE001 - a damaged page simply shows no image
        return False


def _outline(reader: Any) -> list[tuple[int, str, int]]:
    entries: list[tuple[int, str, int]] = []
    try:
        pages = {page.indirect_reference.idnum: n for n, page in enumerate(reader.pages, 1)}
        for level, item in _flat(reader.outline, 1):
            title = " ".join(str(item.title or "").split())
            reference = getattr(item.page, "idnum", None)
            if title and reference in pages:
                entries.append((level, title, pages[reference]))
            if len(entries) >= 5_000:
                break
    except Exception:  # noqa: BLE001 - a damaged outline is no outline
        return entries
    return entries


def _flat(items: Any, level: int) -> Iterator[tuple[int, Any]]:
    for item in items:
        if isinstance(item, list):
            yield from _flat(item, level + 1)
        else:
            yield level, item


def _said(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "it needs more memory than a worker may take"
    message = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
