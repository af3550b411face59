"""A page of a PDF as a picture with a quote marked, where pypdfium2 is installed.

It runs as a process of its own, `python -m core.inputs.page_picture`, because a damaged PDF may end the process
that draws it: one JSON request on stdin (the fields of `draw` and of `find_file`), the PNG on stdout. Exit code
3: pypdfium2 is not installed; 2: no such file or page, with the reason on stderr.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.inputs.files import find_files
from core.inputs.parse_worker import limit_memory

WIDTH = 1_000
MARK = (255, 214, 0, 110)
NOT_INSTALLED, NOT_FOUND = 3, 2
_MEMORY_MEGABYTES = 2_048

Box = tuple[float, float, float, float]


def draw(path: Path, number: int, quote: str = "", *, width: int = WIDTH) -> bytes:
    """PNG of page `number` (from 1) at `width` pixels; every line of the quote is marked where it is found.

    Raises InputError for a file that cannot be opened and a page that it does not have.
    """
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(path) as document:
            if not 1 <= number <= len(document):
                raise InputError(f"{path.name} has {len(document)} pages and no page {number}")
            page = document[number - 1]
            bitmap = page.render(scale=width / page.get_width())
            converter = bitmap.get_posconv(page)
            boxes = list(_lines(_quoted(page.get_textpage(), quote)))
            corners = [
                (*converter.to_bitmap(left, top), *converter.to_bitmap(right, bottom))
                for left, bottom, right, top in boxes
            ]
            return _marked(bitmap.to_pil(), corners)
    except pypdfium2.PdfiumError as error:
        raise InputError(f"{path.name} cannot be drawn: {error}") from error


def find_file(docs: Sequence[str], root: str | None, doc_path: str, digest: str) -> Path:
    """The file a run read as `doc_path`. Raises InputError where it is gone or its bytes are others now."""
    found = next((file.path for file in find_files(docs, root) if file.doc_path == doc_path), None)
    if found is None:
        raise InputError(f"{doc_path} is no longer where the run read it")
    with found.open("rb") as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() != digest:
            raise InputError(f"{doc_path} has changed since the run read it")
    return found


def _quoted(text_page: Any, quote: str) -> list[Box]:
    """Boxes of the characters of the quote. Only letters and digits are compared, so that white space, hyphens
    and line breaks do not matter."""
    from pypdfium2 import raw

    wanted = "".join(_compared(quote))
    letters: list[str] = []
    places: list[int] = []
    for index in range(text_page.count_chars()):
        for letter in _compared(chr(raw.FPDFText_GetUnicode(text_page, index))):
            letters.append(letter)
            places.append(index)
    start = "".join(letters).find(wanted) if wanted else -1
    if start < 0:
        return []
    return [text_page.get_charbox(index) for index in dict.fromkeys(places[start : start + len(wanted)])]


def _compared(text: str) -> Iterator[str]:
    return (letter for letter in unicodedata.normalize("NFKC", text).casefold() if letter.isalnum())


def _lines(boxes: Sequence[Box]) -> Iterator[Box]:
    """Boxes of characters in reading order, joined to one box a line."""
    line: Box | None = None
    for box in boxes:
        left, bottom, right, top = box
        if line is not None and bottom < line[3] and top > line[1] and left >= line[0]:
            line = (line[0], min(line[1], bottom), max(line[2], right), max(line[3], top))
            continue
        if line is not None:
            yield line
        line = box
    if line is not None:
        yield line


def _marked(picture: Any, corners: Sequence[tuple[int, int, int, int]]) -> bytes:
    from PIL import Image, ImageDraw

    sheet = picture.convert("RGBA")
    marks = Image.new("RGBA", sheet.size, (0, 0, 0, 0))
    pen = ImageDraw.Draw(marks)
    for x0, y0, x1, y1 in corners:
        pen.rectangle((min(x0, x1) - 1, min(y0, y1) - 1, max(x0, x1) + 1, max(y0, y1) + 1), fill=MARK)
    out = io.BytesIO()
    Image.alpha_composite(sheet, marks).convert("RGB").save(out, "PNG", optimize=True)
    return out.getvalue()


def main() -> int:
    request = json.loads(sys.stdin.buffer.read())
    if find_spec("pypdfium2") is None:
        return NOT_INSTALLED
    limit_memory(_MEMORY_MEGABYTES)
    try:
        path = find_file(request["docs"], request["root"], request["doc_path"], request["digest"])
        sys.stdout.buffer.write(draw(path, request["page"], request["quote"]))
    except InputError as error:
        print(error, file=sys.stderr)
        return NOT_FOUND
    return 0


if __name__ == "__main__":
    sys.exit(main())
