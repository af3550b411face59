"""A page as a picture, with the quote marked: what a reader who doubts the text looks at."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import InputError
from core.inputs.page_picture import NOT_FOUND, draw, find_file
from tests.inputs.pdf_files import write_pdf

pytest.importorskip("pypdfium2", reason="pages are drawn where pypdfium2 is installed")

PAGES = [
    ["A page before."],
    ["Rules of the library", "Books are lent for twenty-", "eight days. Films are not."],
]


def marked_rows(png: bytes) -> list[int]:
    """Rows of the picture in which something is marked (yellow: no blue left beside red)."""
    from PIL import Image

    picture = Image.open(io.BytesIO(png)).convert("RGB")
    width, height = picture.size
    assert width == 1_000
    pixels = picture.load()
    return [y for y in range(height) if any(pixels[x, y][0] - pixels[x, y][2] > 60 for x in range(width))]


def test_a_quote_over_a_line_end_is_marked_on_both_lines(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "rules.pdf", PAGES)
    rows = marked_rows(draw(path, 2, "Books are lent for\ttwenty-eight days"))
    gaps = sum(1 for a, b in itertools.pairwise(rows) if b > a + 1)
    assert gaps == 1, "one mark a line"
    # line 2 and 3 of the page: 14 points apart, below the first at 800 of 842 points
    scale = 1_000 / 595
    assert min(rows) > (842 - 800 + 3) * scale
    assert max(rows) < (842 - 800 + 2 * 14 + 6) * scale


@pytest.mark.parametrize("quote", ["", "  …  ", "Books are lent for thirty days"])
def test_nothing_is_marked_where_the_quote_is_not_found(tmp_path: Path, quote: str) -> None:
    assert marked_rows(draw(write_pdf(tmp_path / "rules.pdf", PAGES), 2, quote)) == []


def test_a_page_or_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "rules.pdf", PAGES)
    with pytest.raises(InputError, match=r"rules\.pdf has 2 pages and no page 3"):
        draw(path, 3)
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4 nothing of the kind")
    with pytest.raises(InputError, match=r"broken\.pdf cannot be drawn"):
        draw(broken, 1)


def test_a_file_that_has_changed_since_the_run_is_not_shown(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "rules.pdf", PAGES)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert find_file([str(tmp_path)], None, "rules.pdf", digest) == path
    with pytest.raises(InputError, match="no longer where the run read it"):
        find_file([str(tmp_path)], None, "other.pdf", digest)
    write_pdf(path, [["other words"]])
    with pytest.raises(InputError, match="has changed since the run read it"):
        find_file([str(tmp_path)], None, "rules.pdf", digest)


def test_the_process_answers_with_a_picture_or_a_reason(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "rules.pdf", PAGES)
    request = {
        "docs": [str(tmp_path)],
        "root": None,
        "doc_path": "rules.pdf",
        "digest": hashlib.sha256(path.read_bytes()).hexdigest(),
        "page": 2,
        "quote": "Films are not",
    }

    def asked(**changed: object) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "core.inputs.page_picture"],
            input=json.dumps(request | changed).encode(),
            capture_output=True,
            check=False,
        )

    assert marked_rows(asked().stdout)
    refused = asked(page=9)
    assert (refused.returncode, refused.stdout) == (NOT_FOUND, b"")
    assert refused.stderr.decode().strip() == "rules.pdf has 2 pages and no page 9"
