"""Dashboard (immunity E): nothing leaves the machine, no other page starts a job, no file outside is read."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))


def test_no_telemetry_and_protection_against_other_pages() -> None:
    assert CONFIG["browser"]["gatherUsageStats"] is False
    assert CONFIG["server"].get("enableXsrfProtection", True) is True
    assert CONFIG["server"].get("enableCORS", True) is True
    assert CONFIG["server"]["maxUploadSize"] <= 200


def test_pages_load_nothing_from_elsewhere() -> None:
    loading = re.compile(r"""(?:src|href)=["']https?://|@import|url\(\s*["']?https?://|cdn\.|googleapis""")
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for folder in ("dashboard", "core/store")
        for path in (ROOT / folder).rglob("*.py")
        for match in loading.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []
    assert not re.search(r"https?://", (ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))


def test_text_of_documents_and_models_is_never_html() -> None:
    unsafe = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "dashboard").rglob("*.py")
        if "unsafe_allow_html" in path.read_text(encoding="utf-8")
    ]
    assert unsafe == []
