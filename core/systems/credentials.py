"""Which headers a request carries: the target's own, a named profile's, none, or wrong ones."""

from __future__ import annotations

from collections.abc import Mapping

from core.errors import SystemFailure

NONE, WRONG = "none", "wrong"


def headers_for(
    credentials: str | None, own: Mapping[str, str], profiles: Mapping[str, Mapping[str, str]]
) -> dict[str, str]:
    """Headers for the credentials a case asks for; None asks for the target's own.

    A declared profile comes first, so that "none" and "wrong" can be spelled out. Otherwise "none" sends no
    headers and "wrong" the target's own names with a wrong value. SystemFailure(kind="not_plantable") for a
    profile nobody declared.
    """
    if credentials is None:
        return dict(own)
    if credentials in profiles:
        return dict(profiles[credentials])
    if credentials == NONE:
        return {}
    if credentials == WRONG:
        return dict.fromkeys(own or {"Authorization": ""}, WRONG)
    raise SystemFailure(f"no header profile '{credentials}' is declared", kind="not_plantable")
