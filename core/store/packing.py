"""How values become the bytes of a column, and back: exactly, and small.

A body is one byte that names the codec and the coded UTF-8 JSON. Lone surrogates survive (`surrogatepass`),
which SQLite's own text type cannot hold. Scores are packed doubles, NaN standing for None (records refuse NaN):
measured against one row a score they take half the room, are read ten times as fast, and SQL aggregates them as
quickly through the function `score(layout, scores, name)`.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

RAW, DEFLATED, PRIMED = b"\x00", b"\x01", b"\x02"
ONE = struct.Struct("<d")
_NAN = math.nan

# Keys and values most bodies repeat, commonest last as zlib wants it. Stored bodies depend on it: never change
# it, add a codec with another one.
_PRIMER = (
    b'"raw_text":""},"rubric_version":"1","provider":"anthropic","model":"claude-","fingerprint":"","reasoning":"'
    b'","evidence_quote":"","quote_verified":true,"votes":[1.0],"judgements":[{"rubric":"faithfulness"'
    b'"tool_calls":[{"name":"","args":{},"result":null,"latency_ms":"failure":{"where":"system","kind":"exception'
    b'","kind":"timeout","kind":"rate_limit","message":"citations":[{"id":"1","source_id":"","span":"","marker":"['
    b'1]"}],"context_ids":["usage":{"calls":1,"input_tokens":0,"output_tokens":0,"cost_usd":0.0,"models":["'
    b'"runtime_retrieval_reason":"","runtime_retrieval_score":0.,"runtime_retrieval_action":"answer","'
    b'runtime_retrieval_status":"ok","retrieval_query":"","query_augmentation_mode":"none",'
    b'"query_augmentation_status":"disabled","answer_mode":"extractive","context_mode":"ranked","retriever":"bm25'
    b'","scope":"all","answerability_confidence":0.,"context_relevance":0.,"abstained":false,"signals":{"'
    b'"stages":{"retrieve":,"answer":0.},"asked_at":"2026-01-01T00:00:00+00:00","undefined":{"no_relevant",'
    b'"no_claims","no_citations","not_answerable","abstained","no_gold","judge_error","unchecked":["'
    b'"checks":[{"name":"must_mention","outcome":"held","detail":"","hard":true,"score":1.0},"outcome":"failed",'
    b'"relevance":{"relevance_source":"spans","diagnosis":{"primary_reason":"ok","secondary_reason":"",'
    b'"explanation":"","component":"","claim_diagnostic":"retrieval_claim_miss"},"reasons":["incorrect"],'
    b'"claims":[{"claim_type":"gold","index":0,"claim":"","target":"answer","label":"not_enough_info","score":0.5'
    b',"scorer":"overlap","start":0,"end":0},{"claim_type":"answer","index":1,"target":"context","target":"gold",'
    b'"target":"chunk:","label":"supported","score":1.0,"label":"contradicted"'
)


def sql_text(text: str) -> str:
    """The text as SQLite can hold it: lone surrogates become U+FFFD. The exact text stands in the body."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def is_clean(text: str) -> bool:
    """Whether SQLite's text type holds it exactly."""
    return sql_text(text) == text


def to_json(value: Any) -> str:
    """Compact ASCII JSON for columns that SQL reads; lone surrogates stay as escapes."""
    return json.dumps(value, separators=(",", ":"), default=repr)


def from_json(text: str | None) -> Any:
    """The value of a JSON column; None for None."""
    return None if text is None else json.loads(text)


def pack(value: Any) -> bytes:
    """A JSON value as codec byte and coded bytes; the shortest of the codecs."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=repr)
    data = text.encode("utf-8", "surrogatepass")
    if len(data) < 24:
        return RAW + data
    primed = len(data) < 8_192
    packer = (
        zlib.compressobj(6, zlib.DEFLATED, -15, 8, 0, _PRIMER) if primed else zlib.compressobj(6, wbits=-15)
    )
    coded = packer.compress(data) + packer.flush()
    if len(coded) >= len(data):
        return RAW + data
    return (PRIMED if primed else DEFLATED) + coded


def unpack_text(blob: bytes | None) -> str | None:
    """The JSON text of a packed value, None for None."""
    if blob is None:
        return None
    codec, data = blob[:1], blob[1:]
    if codec == PRIMED:
        data = zlib.decompressobj(-15, zdict=_PRIMER).decompress(data)
    elif codec == DEFLATED:
        data = zlib.decompress(data, wbits=-15)
    return data.decode("utf-8", "surrogatepass")


def unpack(blob: bytes | None) -> Any:
    """The value that was packed; None for None."""
    text = unpack_text(blob)
    return None if text is None else json.loads(text)


def fingerprint(*parts: object) -> bytes:
    """16 bytes that stand for the parts (BLAKE2b of their repr, which also spells lone surrogates)."""
    return hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def pack_scores(values: Iterable[float | None]) -> bytes:
    """Little-endian doubles in the order of the layout; None is NaN."""
    numbers = [_NAN if value is None else value for value in values]
    return struct.pack(f"<{len(numbers)}d", *numbers)


def unpack_scores(names: Sequence[str], blob: bytes) -> dict[str, float | None]:
    """Scores by name; a NaN is None."""
    values = struct.unpack(f"<{len(blob) // 8}d", blob)
    return {name: None if value != value else value for name, value in zip(names, values, strict=True)}
