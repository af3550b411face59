"""Run settings: what can be chosen (`fields`) and how it is read and checked (`loading`)."""

from core.settings.fields import KIND_ALIASES, RunKind, RunSettings, applicability, is_factor
from core.settings.loading import RENAMED, check, load_settings, parse_flag

__all__ = [
    "KIND_ALIASES",
    "RENAMED",
    "RunKind",
    "RunSettings",
    "applicability",
    "check",
    "is_factor",
    "load_settings",
    "parse_flag",
]
