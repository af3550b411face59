"""The worker process that parses files: one JSON request a line on stdin, one JSON reply a line on stdout.

It bounds itself too: its memory by a limit of the operating system, and each file by an alarm that ends the
process even when its parent is gone. Run as `python -m core.inputs.parse_worker MEGABYTES`.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from core.corpus import Document, ParsingReport
from core.inputs.language import guess_language
from core.inputs.page_text import join_pages
from core.inputs.parse_cache import Parsed
from core.inputs.pdf import RawDocument, read_pdf
from core.inputs.structure import Layout, structure
from core.inputs.tables import count_tables

GRACE_SECONDS = 5.0


def parse_file(path: Path, kind: str, passwords: tuple[tuple[str, str], ...] = ()) -> Parsed:
    """Parse one file in this process. Never raises for a bad file: the report says what failed and why."""
    begun = time.perf_counter()
    content = path.read_bytes()
    raw = read_pdf(path, passwords) if kind == "pdf" else _read_text(content)
    as_lines = kind != "pdf"
    text, starts = join_pages(raw.pages, keep_indent=as_lines)
    layout = structure(text, starts, markdown=kind == "markdown", outline=raw.outline)
    document = Document(
        doc_path=path.name,
        text=text,
        pages=layout.pages if kind == "pdf" else (),
        sections=layout.sections,
        paragraphs=layout.paragraphs,
        title=layout.title,
        language=guess_language(text),
        digest=hashlib.sha256(content).hexdigest(),
    )
    report = _report(raw, text, layout, kind, time.perf_counter() - begun)
    keep = raw.opened and not raw.password_used
    return Parsed(document=document if text else None, report=report, keep=keep)


def _report(raw: RawDocument, text: str, layout: Layout, kind: str, seconds: float) -> ParsingReport:
    empty = sum(1 for page in raw.pages if not page.strip())
    image_only = bool(raw.pages) and not text and raw.n_image_pages > 0
    problems = list(raw.problems)
    if image_only:
        problems.append("holds only images: there is no text to read without character recognition")
    elif raw.opened and not text and not problems:
        problems.append("holds no text")
    status = "failed"
    if raw.opened:
        status = "empty" if not text and not raw.problems else "failed" if not text else "read"
        status = "partly_read" if text and raw.problems else status
    return ParsingReport(
        doc_path="",
        status=status,
        n_pages=len(raw.pages) if kind == "pdf" else 0,
        n_characters=len(text),
        n_empty_pages=empty if kind == "pdf" else 0,
        n_sections=len(layout.sections),
        n_paragraphs=len(layout.paragraphs),
        n_tables=sum(count_tables(page) for page in raw.pages),
        encrypted=raw.encrypted,
        image_only=image_only,
        seconds=round(seconds, 4),
        problems=tuple(problems),
    )


def _read_text(content: bytes) -> RawDocument:
    """A text file as one page. UTF-8 and UTF-16 (with mark) are recognised; anything else is read as
    Windows-1252, which the report says."""
    raw = RawDocument()
    for encoding in _encodings(content):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding == "cp1252":
            raw.problems.append("is not UTF-8; read as Windows-1252")
        raw.pages.append(text)
        return raw
    raw.pages.append(content.decode("cp1252", "replace"))
    raw.problems.append("is neither UTF-8 nor Windows-1252; some characters could not be read")
    return raw


def _encodings(content: bytes) -> tuple[str, ...]:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ("utf-16", "cp1252")
    return ("utf-8-sig", "cp1252")


def limit_memory(megabytes: int) -> None:
    """Bound the memory of this process, where the operating system can."""
    try:
        import resource
    except ImportError:  # not offered by this operating system
        return
    try:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    except (ValueError, OSError):  # a stricter limit is already set
        return


def _alarm(seconds: float) -> None:
    """End this process after so many seconds (0: never), whatever it is doing."""
    import signal

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _answer(request: dict[str, Any]) -> str:
    passwords = tuple((str(name), str(value)) for name, value in request["passwords"])
    try:
        return parse_file(Path(request["path"]), request["kind"], passwords).model_dump_json()
    except MemoryError:
        problem = "needs more memory than a worker may take"
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
    except Exception as error:  # noqa: BLE001 - a bad file never ends the run
        problem = f"cannot be parsed: {type(error).__name__}: {error}"
    report = ParsingReport(doc_path="", status="failed", problems=(problem[:500],))
    return Parsed(document=None, report=report, keep=False).model_dump_json()


def main(argv: list[str]) -> int:
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    sys.stdout = sys.stderr  # what a library prints must not mix with the replies
    limit_memory(int(argv[0]))
    # pypdf makes many small objects: a tenth of the time went into looking for cycles among them.
    gc.set_threshold(200_000)
    replies.write("ready\n")
    replies.flush()
    for line in sys.stdin:
        request = json.loads(line)
        _alarm(float(request["timeout"]) + GRACE_SECONDS)
        reply = _answer(request)
        _alarm(0)
        replies.write(reply + "\n")
        replies.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
