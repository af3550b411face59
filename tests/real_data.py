"""Where the real inputs lie: `../shared/data` beside the repository, or the folder PLUMBLINE_REAL_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
REAL_DATA = Path(os.environ.get("PLUMBLINE_REAL_DATA", ROOT.parent / "shared" / "data"))


def real_data(*parts: str) -> Path:
    """A path inside the real inputs; skips the test with the reason where they are absent."""
    path = REAL_DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"real input {'/'.join(parts)} is not beside the repository ({REAL_DATA})")
    return path
