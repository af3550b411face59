"""Small PDF files for tests, written by hand: pages of lines in Helvetica, optionally with an outline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

Outline = Sequence[tuple[str, int]]


def write_pdf(path: Path, pages: Sequence[Sequence[str]], outline: Outline = ()) -> Path:
    """A PDF with one page for each list of lines. `outline` holds (title, page from 1)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pdf_bytes(pages, outline))
    return path


def pdf_bytes(pages: Sequence[Sequence[str]], outline: Outline = ()) -> bytes:
    count = len(pages)
    font, first_page, first_entry = 3, 4, 4 + 2 * count
    root = 4 + 2 * count
    kids = " ".join(f"{first_page + 2 * number} 0 R" for number in range(count))
    outlines = f" /Outlines {root} 0 R" if outline else ""
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R{outlines} >>".encode(),
        f"<< /Type /Pages /Count {count} /Kids [{kids}] >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, lines in enumerate(pages):
        content = _content(lines)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {first_page + 2 * number + 1} 0 R "
            f"/Resources << /Font << /F1 {font} 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    if outline:
        objects.extend(_outline(outline, root, first_entry + 1, first_page))
    return _file(objects)


def _content(lines: Sequence[str]) -> bytes:
    shown = [b"BT /F1 10 Tf 14 TL 50 800 Td"]
    for line in lines:
        text = line.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
        shown.append(b"(" + text + b") Tj T*")
    return b"\n".join([*shown, b"ET"])


def _outline(outline: Outline, root: int, first: int, first_page: int) -> list[bytes]:
    last = first + len(outline) - 1
    objects = [f"<< /Type /Outlines /First {first} 0 R /Last {last} 0 R /Count {len(outline)} >>".encode()]
    for number, (title, page) in enumerate(outline):
        here = first + number
        links = f"/Prev {here - 1} 0 R " if number else ""
        links += f"/Next {here + 1} 0 R " if here < last else ""
        objects.append(
            f"<< /Title ({title}) /Parent {root} 0 R {links}"
            f"/Dest [{first_page + 2 * (page - 1)} 0 R /XYZ 0 800 0] >>".encode("cp1252")
        )
    return objects


def _file(objects: Sequence[bytes]) -> bytes:
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    return (
        body
        + b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (
            size,
            table,
            size,
            len(body),
        )
    )
