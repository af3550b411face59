"""Questions → cases. Everything wrong with a file is listed at once, with the index and id of each question."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import InputError, Problem, nearest
from core.inputs.question_files import read_entries
from core.inputs.question_types import TAXONOMY_KEYS, TYPE_KEYS, question_type
from core.records import Case, Evidence, digest

ANSWERABLE_KEYS = ("answerable", "is_answerable", "unanswerable")
_TRUE = frozenset(("true", "1", "yes", "y", "ja", "answerable"))
_FALSE = frozenset(("false", "0", "no", "n", "nein", "unanswerable"))
_TRIPLES = ("must_have_triples", "nice_to_have_triples")
_TRIPLE_KEYS = frozenset(
    ("subject", "predicate", "object", "evidence_doc_id", "evidence_section_id", "relation_cues")
)
_PLURALS = ("program_id", "program_name")
KEPT_AS_METADATA = (
    "doc_id",
    "section_id",
    "years",
    "near_miss",
    "distractor_evidence",
    "difficulty",
    "notes",
    "source",
)
EVIDENCE_KEYS = ("doc_path", "page", "quote", "start", "end")
KNOWN_KEYS = frozenset(
    (
        *("id", "question", "gold_answer", "expected_keywords", "doc_path", "doc_paths", "year", "evidence"),
        *("language", "cluster", "gold_codes", "qrels", "metadata"),
        *ANSWERABLE_KEYS,
        *TYPE_KEYS,
        *TAXONOMY_KEYS,
        *_TRIPLES,
        *_PLURALS,
        *(f"{name}s" for name in _PLURALS),
        *KEPT_AS_METADATA,
    )
)


@dataclass(frozen=True, slots=True)
class LoadedCases:
    """The cases of one file in its order; `notices` are remarks that stop nothing; `digest` covers ids, texts
    and everything they are scored against; `suite` is the file's name without its ending."""

    cases: tuple[Case, ...]
    notices: tuple[str, ...]
    digest: str
    suite: str


def load_questions(path: str | Path) -> LoadedCases:
    """Read a questions file (JSON as in reference-behaviour §4.1; also JSON Lines, YAML and CSV).

    Only `question` is mandatory. Beyond §4.1: `evidence` (a list of {doc_path, page, quote} or {doc_path, start,
    end}), `language`, `qrels`, `gold_codes`, `cluster`. Unknown keys are kept in `metadata` and reported with
    the nearest known one. A case's `cluster` is its document where it names exactly one, as questions about one
    document are not independent. Raises InputError with every problem.
    """
    file = Path(path)
    return cases_from(read_entries(file), name=str(file), suite=file.stem)


def cases_from(entries: Sequence[Any], *, name: str, suite: str) -> LoadedCases:
    """Cases from question mappings that are already read; `name` is what messages call their source."""
    reader = _Reader()
    cases = [case for index, entry in enumerate(entries) if (case := reader.read(index, entry)) is not None]
    if not entries:
        reader.problems.append(Problem("questions", "the list is empty"))
    reader.check_ids()
    if reader.problems:
        raise InputError(f"{name}: the questions cannot be used", reader.problems)
    return LoadedCases(tuple(cases), (*reader.remarks(), *_remarks(cases)), suite_digest(cases), suite)


def suite_digest(cases: Sequence[Case]) -> str:
    """SHA-256 over the ids and texts of the cases and everything they are scored against."""
    scored = {
        "id",
        "query",
        "gold_answer",
        "gold_codes",
        "qrels",
        "evidence",
        "expected_keywords",
        "answerable",
    }
    return digest([case.model_dump(mode="json", include=scored) for case in cases])


@dataclass(slots=True)
class _Reader:
    """Reads one question after another and gathers what is wrong and what is odd."""

    problems: list[Problem] = field(default_factory=list)
    ids: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    unknown: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    place: str = ""

    def wrong(self, message: str, hint: str = "") -> None:
        self.problems.append(Problem(self.place, message, hint=hint))

    def read(self, index: int, entry: Any) -> Case | None:
        self.place = f"questions[{index}]"
        if not isinstance(entry, dict):
            self.wrong(f"must be an object, not {type(entry).__name__}")
            return None
        before = len(self.problems)
        case_id = self._id(entry.get("id"), index)
        self.place = f"questions[{index}] (id {case_id})"
        self.ids[case_id].append(index)
        for key in entry:
            if key not in KNOWN_KEYS:
                self.unknown[str(key)].append(case_id)
        query = self._text(entry, "question", required=True)
        paths = self._paths(entry)
        fields: dict[str, Any] = {
            "gold_answer": self._text(entry, "gold_answer"),
            "gold_codes": self._codes(entry),
            "qrels": self._qrels(entry.get("qrels")),
            "evidence": self._evidence(entry.get("evidence"), paths),
            "expected_keywords": self._strings(entry, "expected_keywords"),
            "answerable": self._answerable(entry),
            "language": self._text(entry, "language"),
            "cluster": self._text(entry, "cluster") or (paths[0] if len(paths) == 1 else None),
            "metadata": self._metadata(entry),
        }
        for key in TYPE_KEYS:
            self._text(entry, key)
        if len(self.problems) > before:
            return None
        kind = question_type(query or "", entry)
        if fields["answerable"] is None and kind == "unanswerable":
            fields["answerable"] = False
        return Case(id=case_id, query=query or "", order=index, doc_paths=paths, question_type=kind, **fields)

    def _id(self, value: Any, index: int) -> str:
        if value is None or value == "":
            return f"q{index + 1}"
        if isinstance(value, bool) or not isinstance(value, str | int):
            self.wrong(f"id must be a text or a whole number, not {type(value).__name__}")
            return f"q{index + 1}"
        return str(value).strip() or f"q{index + 1}"

    def _text(self, entry: Mapping[str, Any], key: str, *, required: bool = False) -> str | None:
        value = entry.get(key)
        if value is None or (isinstance(value, str) and not value.strip()):
            if required:
                self.wrong(f"{key} is missing" if value is None else f"{key} is empty")
            return None
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str):
            hint = "put it in quotes" if isinstance(value, bool) else ""
            self.wrong(f"{key} must be a text, not {type(value).__name__}", hint)
            return None
        return value

    def _strings(self, entry: Mapping[str, Any], key: str, *, single: bool = False) -> tuple[str, ...]:
        value = entry.get(key)
        if value is None or value == "":
            return ()
        if single and isinstance(value, str):
            value = [value]
        if not isinstance(value, list | tuple) or not all(
            isinstance(each, str | int | float) for each in value
        ):
            self.wrong(f"{key} must be a list of texts")
            return ()
        return tuple(text for each in value if (text := str(each).strip()))

    def _paths(self, entry: Mapping[str, Any]) -> tuple[str, ...]:
        given = [path for key in ("doc_path", "doc_paths") for path in self._strings(entry, key, single=True)]
        return tuple(dict.fromkeys(normal_path(path) for path in given))

    def _codes(self, entry: Mapping[str, Any]) -> tuple[str, ...]:
        codes = self._strings(entry, "gold_codes", single=True)
        for key in ("cpv_code", "expected_cpv"):
            code = self._text(entry, key)
            codes = (*codes, code.strip()) if code else codes
        return tuple(dict.fromkeys(codes))

    def _qrels(self, value: Any) -> dict[str, int] | None:
        if value is None:
            return None
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return dict.fromkeys(value, 1)
        good = isinstance(value, dict) and all(type(grade) is int and grade >= 0 for grade in value.values())
        if not good:
            self.wrong("qrels must map ids to whole numbers from 0, or be a list of ids")
            return None
        return {str(key): grade for key, grade in value.items()}

    def _answerable(self, entry: Mapping[str, Any]) -> bool | None:
        for key in ANSWERABLE_KEYS:
            value = entry.get(key)
            if value is None or value == "":
                continue
            word = str(value).strip().lower()
            if word not in _TRUE and word not in _FALSE:
                self.wrong(f"{key} must be true or false, not {value!r}")
                return None
            stated = word in _TRUE
            if key == "unanswerable" and word != "unanswerable" and word != "answerable":
                return not stated
            return stated
        return None

    def _evidence(self, value: Any, paths: tuple[str, ...]) -> tuple[Evidence, ...]:
        if value is None or value == "":
            return ()
        if isinstance(value, dict | str):
            value = [value]
        if not isinstance(value, list):
            self.wrong("evidence must be a list")
            return ()
        found = []
        for number, item in enumerate(value):
            piece = self._piece(
                {"quote": item} if isinstance(item, str) else item, f"evidence[{number}]", paths
            )
            if piece is not None:
                found.append(piece)
        return tuple(found)

    def _piece(self, item: Any, where: str, paths: tuple[str, ...]) -> Evidence | None:
        if not isinstance(item, dict):
            self.wrong(f"{where} must be an object with doc_path and quote, or start and end")
            return None
        before = len(self.problems)
        for key in item:
            if key not in EVIDENCE_KEYS:
                self.unknown[f"evidence.{key}"].append(where)
        path = item.get("doc_path") or (paths[0] if len(paths) == 1 else None)
        quote, start, end, page = (item.get(key) for key in ("quote", "start", "end", "page"))
        if not isinstance(path, str) or not path.strip():
            self.wrong(f"{where}: doc_path is missing")
        if quote is not None and not (isinstance(quote, str) and quote.strip()):
            self.wrong(f"{where}: quote must be a text that is not empty")
        if page is not None and (type(page) is not int or page < 1):
            self.wrong(f"{where}: page must be a whole number from 1")
        if start is not None or end is not None:
            if type(start) is not int or type(end) is not int or not 0 <= start < end:
                self.wrong(f"{where}: start and end must be whole numbers with 0 <= start < end")
        elif quote is None:
            self.wrong(f"{where}: needs a quote, or start and end")
        if len(self.problems) > before:
            return None
        return Evidence(doc_path=normal_path(str(path)), page=page, quote=quote, start=start, end=end)

    def _metadata(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        metadata = dict(entry.get("metadata") or {}) if isinstance(entry.get("metadata") or {}, dict) else {}
        for key in KEPT_AS_METADATA:
            if entry.get(key) not in (None, "", []):
                metadata[key] = entry[key]
        for name in _PLURALS:
            values = [
                *self._strings(entry, name, single=True),
                *self._strings(entry, f"{name}s", single=True),
            ]
            if values:
                metadata[f"{name}s"] = list(dict.fromkeys(values))
        year = entry.get("year")
        if year not in (None, ""):
            number = int(year) if isinstance(year, str) and year.strip().isdigit() else year
            if type(number) is not int or not 1900 <= number <= 2100:
                self.wrong(f"year must be a whole number from 1900 to 2100, not {year!r}")
            metadata["year"] = number
        for key in _TRIPLES:
            if entry.get(key) is not None:
                metadata[key] = self._triples(entry[key], key, entry.get("doc_id"))
        for key in TAXONOMY_KEYS:
            if entry.get(key):
                metadata[key] = entry[key]
        metadata.update({str(key): value for key, value in entry.items() if key not in KNOWN_KEYS})
        return metadata

    def _triples(self, value: Any, key: str, doc_id: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for number, item in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(item, list | tuple) and len(item) == 3:
                item = dict(zip(("subject", "predicate", "object"), item, strict=True))
            parts = (
                [item.get(part) for part in ("subject", "predicate", "object")]
                if isinstance(item, dict)
                else []
            )
            if not parts or not all(isinstance(part, str) and part.strip() for part in parts):
                self.wrong(f"{key}[{number}] must name subject, predicate and object")
                continue
            cues = item.get("relation_cues") or []
            triple = {**item, "relation_cues": [cues] if isinstance(cues, str) else list(cues)}
            triple.setdefault("evidence_doc_id", doc_id or "")
            for unknown in set(triple) - _TRIPLE_KEYS:
                self.unknown[f"{key}.{unknown}"].append(f"{key}[{number}]")
            found.append(triple)
        return found

    def check_ids(self) -> None:
        for case_id, places in self.ids.items():
            if len(places) > 1:
                where = ", ".join(f"questions[{index}]" for index in places)
                self.problems.append(Problem(where, f"have the same id '{case_id}'", hint="ids must differ"))

    def remarks(self) -> list[str]:
        remarks = []
        for key, places in self.unknown.items():
            prefix, _, plain = key.rpartition(".")
            known = EVIDENCE_KEYS if prefix == "evidence" else _TRIPLE_KEYS if prefix else KNOWN_KEYS
            guess = nearest(plain, known) if len(known) <= 8 or "mean" in nearest(plain, known) else ""
            some = ", ".join(places[:3]) + (", …" if len(places) > 3 else "")
            remarks.append(f"unknown key '{key}' in {len(places)} place(s) ({some}){guess}")
        return remarks


def _remarks(cases: Sequence[Case]) -> list[str]:
    """What is odd about cases that can be used."""
    remarks = []
    repeated = [text for text, count in Counter(case.query.strip() for case in cases).items() if count > 1]
    if repeated:
        remarks.append(f"{len(repeated)} question text(s) occur more than once, e.g. {repeated[0][:80]!r}")
    bare = [case.id for case in cases if case.answerable is not False and not _has_gold(case)]
    if bare:
        remarks.append(f"{len(bare)} question(s) have nothing to be scored against (e.g. {bare[0]})")
    contrary = [case.id for case in cases if case.answerable is False and case.evidence]
    if contrary:
        remarks.append(f"{len(contrary)} unanswerable question(s) have evidence (e.g. {contrary[0]})")
    return remarks


def _has_gold(case: Case) -> bool:
    return bool(case.gold_answer or case.gold_codes or case.evidence or case.expected_keywords or case.qrels)


def normal_path(path: str) -> str:
    """A document path as `Document.doc_path` spells it: `/`, no leading `./`, Unicode NFC."""
    text = unicodedata.normalize("NFC", path.strip()).replace("\\", "/")
    while text.startswith("./"):
        text = text[2:]
    return text
