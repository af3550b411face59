"""The bundled demo: four short documents of an invented library, nineteen questions, no key and no network."""

from __future__ import annotations

from pathlib import Path

from core.config_files import read_mapping
from core.settings import RunSettings, load_settings

# beside `core` in a checkout and in an installed wheel alike; not imported, since users have folders named `data`
DEMO = Path(__file__).resolve().parents[1] / "data" / "demo"


def demo_settings(output_dir: str | Path = "outputs") -> RunSettings:
    """The demo's settings with paths that hold wherever the package is installed."""
    data = dict(read_mapping(DEMO / "demo.yaml").data)
    data["docs"] = [str(DEMO / "documents")]
    data["questions"] = str(DEMO / "questions.json")
    return load_settings(
        {**data, "output_dir": str(output_dir), "cache_dir": str(Path(output_dir) / ".cache")}
    )
