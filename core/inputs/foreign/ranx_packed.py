"""ranx's `.lz4` files: an LZ4 frame around CBOR, the frame often packed a second time. The two formats are small
enough to be read here; nobody needs another package for them.

LZ4 frame format 1.6.4 and block format; CBOR: RFC 8949, the part ranx writes (maps, lists, texts, numbers).
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from core.errors import InputError

MAGIC = b"\x04\x22\x4d\x18"
LIMIT = 1 << 30  # bytes a file may unpack to
_FLOATS = {25: ">e", 26: ">f", 27: ">d"}
_LENGTHS = {24: ">B", 25: ">H", 26: ">I", 27: ">Q"}


def read_packed(file: Path) -> Any:
    """What the file holds. InputError where it is cut off, damaged or something else."""
    try:
        data = file.read_bytes()
        while data.startswith(MAGIC):
            data = unpacked(data)
        value, end = _item(data, 0)
    except (IndexError, struct.error, TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{file}: the file is damaged or was not written by ranx ({error})") from error
    if end != len(data):
        raise InputError(f"{file}: {len(data) - end} bytes are left over: it was not written by ranx")
    return value


def unpacked(data: bytes) -> bytes:
    """The contents of an LZ4 frame. ValueError, IndexError or struct.error where it is none or cut off."""
    if data[:4] != MAGIC or data[4] >> 6 != 1:
        raise ValueError("no LZ4 frame")
    flags = data[4]
    at = 7 + (8 if flags & 8 else 0) + (4 if flags & 1 else 0)
    out = bytearray()
    while size := struct.unpack_from("<I", data, at)[0]:
        at += 4
        stored, size = size >> 31, size & 0x7FFFFFFF
        if at + size > len(data):
            raise ValueError("a block is cut off")
        if stored:
            out += data[at : at + size]
        else:
            _block(data[at : at + size], out)
        at += size + (4 if flags & 16 else 0)
        if len(out) > LIMIT:
            raise ValueError("it unpacks to more than 1 GB")
    return bytes(out)


def _block(data: bytes, out: bytearray) -> None:
    """Sequences of literals and copies of what came before."""
    at = 0
    while at < len(data):
        token = data[at]
        length, at = _length(data, at + 1, token >> 4)
        out += data[at : at + length]
        at += length
        if at >= len(data):
            return
        offset = struct.unpack_from("<H", data, at)[0]
        length, at = _length(data, at + 2, token & 15)
        start = len(out) - offset
        if not offset or start < 0:
            raise ValueError("a copy from before the beginning")
        length += 4
        if len(out) + length > LIMIT:
            raise ValueError("it unpacks to more than 1 GB")
        piece = out[start:]  # a copy may overlap what it writes: then it repeats
        out += (piece * (length // len(piece) + 1))[:length]


def _length(data: bytes, at: int, length: int) -> tuple[int, int]:
    if length == 15:
        while True:
            length += data[at]
            at += 1
            if data[at - 1] != 255:
                break
    return length, at


def _item(data: bytes, at: int) -> tuple[Any, int]:
    """One CBOR item and where it ends."""
    kind, short = data[at] >> 5, data[at] & 31
    at += 1
    if kind == 7 and short in _FLOATS:
        return struct.unpack_from(_FLOATS[short], data, at)[0], at + (1 << (short - 24))
    number = short
    if short in _LENGTHS:
        number = struct.unpack_from(_LENGTHS[short], data, at)[0]
        at += 1 << (short - 24)
    elif short > 23:
        raise ValueError(f"a CBOR item of length type {short}")
    if kind in (0, 1):
        return (number if kind == 0 else -1 - number), at
    if kind == 3:
        if at + number > len(data):
            raise ValueError("a text is cut off")
        return data[at : at + number].decode("utf-8"), at + number
    if kind == 4:
        return _several(data, at, number)
    if kind == 5:
        flat, at = _several(data, at, 2 * number)
        return dict(zip(flat[::2], flat[1::2], strict=True)), at
    raise ValueError(f"a CBOR item of type {kind}")


def _several(data: bytes, at: int, number: int) -> tuple[list[Any], int]:
    if number > len(data) - at:
        raise ValueError("a list is cut off")
    items = []
    for _ in range(number):
        item, at = _item(data, at)
        items.append(item)
    return items, at
