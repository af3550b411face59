"""Documents: PDF, text and Markdown files → `Document` records and a parsing report for every file."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from core.corpus import Document, ParsingReport
from core.inputs.files import SourceFile, find_files, slug
from core.inputs.parse_cache import ParseCache, Parsed
from core.inputs.parse_pool import failed, parse_all

PARSER_VERSION = "3"


def load_documents(
    patterns: Sequence[str],
    *,
    root: str | None = None,
    parse_timeout: float = 60.0,
    cache_dir: Path,
    passwords: Sequence[str] = (),
    workers: int = 2,
) -> tuple[list[Document], list[ParsingReport]]:
    """Read documents: those with text, and one report for every file, both sorted by `doc_path`.

    `patterns` are files, folders (searched recursively) or globs; `root` is the folder document paths are
    relative to (their common parent by default). `passwords` are names of environment variables.
    A file that hangs is stopped after `parse_timeout` seconds; no file ends the run. What was parsed before is
    read from `cache_dir`. Raises InputError for patterns that match nothing and files outside of `root`.
    """
    files = find_files(patterns, root)
    cache = ParseCache(Path(cache_dir) / "parsed", f"{PARSER_VERSION}-{_reader_version()}")
    results: dict[Path, Parsed] = {}
    digests: dict[Path, str] = {}
    to_parse: list[SourceFile] = []
    paths: set[str] = set()
    for file in files:
        begun = time.perf_counter()
        known = _known(file, paths, cache, digests)
        if known is None:
            to_parse.append(file)
        else:
            seconds = round(time.perf_counter() - begun, 4)
            results[file.path] = known.model_copy(
                update={"report": known.report.model_copy(update={"seconds": seconds})}
            )
        paths.add(file.doc_path)

    def store(file: SourceFile, parsed: Parsed) -> None:
        results[file.path] = parsed
        cache.put(digests[file.path], file.kind, parsed)

    parse_all(to_parse, timeout=parse_timeout, passwords=_values(passwords), workers=workers, on_parsed=store)
    documents, reports = [], []
    for file in files:
        parsed = results[file.path]
        problems = (*parsed.report.problems, *(_unset(passwords) if _is_locked(parsed) else ()))
        about = {"doc_path": file.doc_path, "problems": problems} | _section_lengths(parsed.document)
        reports.append(parsed.report.model_copy(update=about))
        if parsed.document is not None:
            documents.append(_named(parsed.document, file))
    return documents, reports


def _known(file: SourceFile, paths: set[str], cache: ParseCache, digests: dict[Path, str]) -> Parsed | None:
    """The outcome that needs no parsing: from the cache, or because the file cannot be parsed at all."""
    if not file.kind:
        return failed(f"is not a PDF, text or Markdown file ({file.path.suffix or 'no ending'})")
    if file.doc_path in paths:
        return failed("another file has the same name but for the Unicode spelling; rename one of them")
    try:
        with file.path.open("rb") as stream:
            digests[file.path] = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        return failed(f"cannot be read: {error.strerror or error}")
    parsed = cache.get(digests[file.path], file.kind)
    if parsed is None:
        return None
    return parsed.model_copy(update={"report": parsed.report.model_copy(update={"cached": True})})


def _named(document: Document, file: SourceFile) -> Document:
    return document.model_copy(
        update={
            "doc_path": file.doc_path,
            "title": document.title or file.path.stem,
            "program_name": file.program_name,
            "program_id": slug(file.program_name),
        }
    )


def _section_lengths(document: Document | None) -> dict[str, Any]:
    if document is None or not document.sections:
        return {}
    texts = [document.text[section.start : section.end] for section in document.sections]
    headings = [" ".join(dict.fromkeys((each.section_id, each.title))) for each in document.sections]
    lengths = [len(text.strip()) for text in texts]
    return {
        "n_empty_sections": sum(
            len(text.replace("#", " ").split()) <= len(heading.split())
            for text, heading in zip(texts, headings, strict=True)
        ),
        "mean_section_chars": sum(lengths) / len(lengths),
        "min_section_chars": min(lengths),
        "max_section_chars": max(lengths),
    }


def _is_locked(parsed: Parsed) -> bool:
    return parsed.report.encrypted and parsed.document is None and parsed.report.status == "failed"


def _unset(names: Sequence[str]) -> list[str]:
    return [f"the environment variable {name} is not set" for name in names if not os.environ.get(name)]


def _values(names: Sequence[str]) -> list[tuple[str, str]]:
    """(name, password) of the environment variables that are set."""
    return [(name, os.environ[name]) for name in names if os.environ.get(name)]


def _reader_version() -> str:
    return f"pypdf{version('pypdf')}"
