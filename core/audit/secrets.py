"""Header and token values: kept out of what is stored, shown and logged."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

Model = TypeVar("Model", bound=BaseModel)

MASK = "**********"
_ENV = re.compile(r"\$\{(\w+)\}")
_SECRET_NAME = re.compile(r"auth|token|key|secret|cookie|password|credential|session", re.IGNORECASE)
_SHORTEST = 6  # a shorter value is found in ordinary words


def masked(data: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The configuration as it may be kept, and the secret values behind it.

    `${NAME}` stays as it is written. A literal header value, and a literal value whose key names a secret, is
    masked. The secrets are those literals and the values of the variables named under `adapter` and `judge`, with
    the words inside them ("Bearer abc" also gives "abc").
    """
    secrets: set[str] = set()

    def walk(value: Any, key: str, header: bool) -> Any:
        if isinstance(value, Mapping):
            inside = header or key in ("headers", "profiles")
            return {k: walk(v, str(k), inside) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [walk(each, key, header) for each in value]
        if not isinstance(value, str):
            return value
        for name in _ENV.findall(value):
            secrets.add(os.environ.get(name, ""))
        if not header and not (_SECRET_NAME.search(key) and not key.endswith(("_env", "_tokens"))):
            return value
        literal = _ENV.sub(" ", value).strip()
        if not literal or ("${" in value and literal.lower() in ("bearer", "basic", "token")):
            return value
        if _SECRET_NAME.search(key):
            secrets.add(value)
        return MASK

    kept = {
        key: walk(value, str(key), False) if key in ("adapter", "judge") else value
        for key, value in data.items()
    }
    words = {word for secret in secrets for word in (secret, *secret.split()) if len(word) >= _SHORTEST}
    return kept, tuple(sorted(words, key=lambda word: (-len(word), word)))


def without(text: str, secrets: Iterable[str]) -> str:
    """The text with every secret masked."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text


def cleaned(record: Model, secrets: tuple[str, ...]) -> Model:
    """The record with every secret in it masked, wherever it stands."""
    if not secrets:
        return record
    data = record.model_dump(mode="json")
    clean = _clean(data, secrets)
    return record if clean == data else type(record).model_validate(clean)


def _clean(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return without(value, secrets)
    if isinstance(value, dict):
        return {without(key, secrets): _clean(each, secrets) for key, each in value.items()}
    if isinstance(value, list):
        return [_clean(each, secrets) for each in value]
    return value
