from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pandas as pd
import pytest

from dashboard.charts import estimates, palette, verdicts

THEME = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text(encoding="utf-8"))[
    "theme"
]


def scales(spec: object) -> list[dict[str, object]]:
    """Every colour scale of a chart."""
    if isinstance(spec, dict):
        own = (
            [spec["color"]["scale"]]
            if isinstance(spec.get("color"), dict) and "scale" in spec["color"]
            else []
        )
        return own + [each for value in spec.values() for each in scales(value)]
    return [each for value in spec for each in scales(value)] if isinstance(spec, list) else []


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_theme_holds_the_verdict_colours_in_order(mode: str) -> None:
    """The charts take the theme's list in the order of their domain; badges take the named colours."""
    colours = {"light": palette.LIGHT, "dark": palette.DARK}[mode]
    assert THEME[mode]["chartCategoricalColors"] == colours
    for look, colour in zip(palette.LOOKS.values(), colours, strict=False):
        assert THEME[mode][f"{look.badge}Color"] == colour


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_verdict_text_can_be_read(mode: str) -> None:
    background = THEME[mode]["backgroundColor"]
    for look in palette.LOOKS.values():
        assert contrast(THEME[mode][f"{look.badge}TextColor"], background) >= 4.5
        assert contrast(THEME[mode][f"{look.badge}Color"], background) >= 3
    assert contrast(palette.MUTED, background) >= 3.9
    assert contrast(THEME[mode]["primaryColor"], "#FFFFFF") >= 4.5, "white text on buttons"


def test_a_filter_never_recolours_a_verdict() -> None:
    frame = pd.DataFrame({"verdict": ["FAIL"], "n": [3]})
    for chart in (verdicts.verdict_bar(frame, "t"), verdicts.verdicts_by_group(frame.assign(group="a"), "t")):
        found = scales(chart.to_dict())
        assert found
        assert all(
            scale["domain"] == [*palette.LOOKS, *palette.SERIES] and scale["range"] == "category"
            for scale in found
        )


def test_parts_of_a_bar_add_up_in_the_fixed_order() -> None:
    frame = pd.DataFrame(
        {"group": ["a"] * 3 + ["b"], "verdict": ["PASS", "FAIL", "ERROR", "PASS"], "n": [6, 2, 2, 5]}
    )
    parts = verdicts._positions(frame)
    assert parts["verdict"].tolist() == ["FAIL", "ERROR", "PASS", "PASS"]
    assert parts.groupby("group")["end"].max().tolist() == [1.0, 1.0]
    assert parts["label"].tolist()[0] == "✕ Fail 2"


def test_an_estimate_wears_its_interval_on_a_fixed_axis() -> None:
    frame = pd.DataFrame(
        {
            "title": ["nDCG", "recall"],
            "mean": [0.8, 0.5],
            "low": [0.7, None],
            "high": [0.9, None],
            "shown": ["", ""],
            "detail": ["", ""],
        }
    )
    spec = estimates.estimates(frame, "finding", "n = 12").to_dict()
    assert spec["title"]["text"] == "finding"
    assert spec["title"]["subtitle"] == "n = 12"
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["rule", "point"], "never a bar for a mean"
    assert {tuple(layer["encoding"]["x"]["scale"]["domain"]) for layer in spec["layer"]} == {(0, 1)}


def test_history_gives_every_verdict_a_place() -> None:
    frame = pd.DataFrame({"run": ["a", "b"], "verdict": ["PASS", "FAIL"], "detail": ["", ""]})
    spec = verdicts.history(frame, "t").to_dict()
    assert len(spec["encoding"]["y"]["scale"]["domain"]) == 4


def contrast(one: str, other: str) -> float:
    """WCAG contrast of two hex colours."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    channels = [int(part, 16) / 255 for part in re.findall("..", colour.lstrip("#"))]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
