"""What would have fixed a failure: a neighbour of the failing configuration that differs in one factor and helps on
balance (statistics.md 6.9), and which ablation to run next (6.11)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from core.attribution.grid import QUALITY, Grid
from core.attribution.pairs import Pairs
from core.attribution.taxonomy import taxonomy
from core.attribution.trace import PUBLISHED, SETTING, Configuration
from core.settings import RunSettings

if TYPE_CHECKING:
    import pandas as pd

UpperLimits = dict[str, tuple[float | None, int]]
MIN_NET_FIXES = 3  # questions fixed minus questions broken, over all questions
MIN_DELTA = 0.05  # of the quality scale, on the failing question


@dataclass(frozen=True, slots=True)
class Fix:
    """A change of one factor of one configuration. `gained`/`lost` count all questions, not only failures."""

    factor: str
    value: str
    neighbour: int
    gained: int
    lost: int
    p_max_t: float | None
    delta: float


def qualified_fixes(grid: Grid, pairs: Pairs, summary: pd.DataFrame) -> dict[int, list[Fix]]:
    """For each configuration its neighbours that fix at least three more questions than they break, best first."""
    found: dict[int, list[Fix]] = {}
    columns = {
        name: summary[name].to_numpy()
        for name in ("factor", "left_value", "right_value", "gained", "lost", "p_max_t", "delta")
    }
    for p in np.flatnonzero(pairs.factor >= 0):
        gained, lost = int(columns["gained"][p]), int(columns["lost"][p])
        if abs(gained - lost) < MIN_NET_FIXES:
            continue
        forward = gained > lost
        here, there = (pairs.left[p], pairs.right[p]) if forward else (pairs.right[p], pairs.left[p])
        value = columns["right_value" if forward else "left_value"][p]
        gain, loss = (gained, lost) if forward else (lost, gained)
        p_value = float(columns["p_max_t"][p])
        fix = Fix(
            str(columns["factor"][p]),
            str(value),
            int(there),
            gain,
            loss,
            None if np.isnan(p_value) else p_value,
            float(abs(columns["delta"][p])) if not np.isnan(columns["delta"][p]) else 0.0,
        )
        found.setdefault(int(here), []).append(fix)
    return {
        c: sorted(fixes, key=lambda f: (f.lost - f.gained, -f.delta, f.factor)) for c, fixes in found.items()
    }


def best_fix(
    grid: Grid, fixes: Mapping[int, Sequence[Fix]], configuration: int, question: int
) -> tuple[Fix, float] | None:
    """The fix with the largest net gain over all questions that also helps on this one, and its gain here."""
    quality = grid.scores[QUALITY]
    for fix in fixes.get(configuration, ()):
        delta = float(quality[fix.neighbour, question] - quality[configuration, question])
        if delta >= MIN_DELTA:
            return fix, delta
    return None


def next_ablation(configuration: Configuration, component: str, tried: UpperLimits) -> dict[str, Any] | None:
    """A change of one setting of this configuration that tells most: of the settings that act on the component,
    one never tried comes first, then the one with the largest upper limit of its effect seen in fewer than three
    blocks. `{setting: value, why: …}`; None where nothing acts on it."""
    options = []
    for place, setting in enumerate(taxonomy()[component].factors):
        value = proposal(setting, configuration.design)
        if value is None or not _can_run(configuration, setting, value):
            continue
        upper, blocks = tried.get(PUBLISHED.get(setting, setting), (None, 0))
        if upper is not None and (blocks >= 3 or upper <= 0):
            continue
        why = (
            "not tried yet"
            if upper is None
            else f"could still gain up to {upper:+.2f}; seen in {blocks} block{'s' * (blocks != 1)}"
        )
        options.append(
            (upper is not None, -(upper or 0.0), place, {"setting": setting, "value": value, "why": why})
        )
    return min(options, key=lambda o: o[:3])[3] if options else None


def ablation_json(configuration: Configuration, change: Mapping[str, Any]) -> str:
    """The failing configuration with one change, as settings a run can read."""
    settings = dict(configuration.settings) or {
        SETTING.get(k, k): v for k, v in configuration.design.items() if "." not in k
    }
    return json.dumps(settings | {change["setting"]: change["value"]}, ensure_ascii=False, sort_keys=True)


def _can_run(configuration: Configuration, setting: str, value: Any) -> bool:
    """Whether the configuration with this one change is still valid: an overlap must stay below its window, and
    options of one retriever are not those of another."""
    if not configuration.settings:
        return True
    if setting == "retriever" and configuration.settings.get("retriever_options"):
        return False
    try:
        changed = RunSettings.model_validate({**configuration.settings, setting: value})
    except ValueError:
        return False
    return changed.applies(setting)


def proposal(setting: str, design: Mapping[str, Any]) -> Any:
    """Another value of a setting worth trying from this configuration; None where the setting has none here."""
    present = design.get(setting)
    top_k = int(design.get("top_k") or 8)
    if setting == "retriever":
        return {"bm25": "hybrid", "tfidf": "bm25", "dense": "hybrid", "hybrid": "bm25"}.get(str(present))
    if setting == "chunking":
        return "by_section" if str(present).startswith("fixed") else "fixed_words"
    if setting == "rerank_top_n":
        return 0 if present else 4 * top_k
    if setting == "context_mode":
        return "dedupe_section" if present == "ranked" else "ranked"
    if setting == "query_augmentation":
        return None  # needs a language model: proposed only where one is configured
    if isinstance(present, bool):
        return not present
    if setting == "top_k":
        return min(1000, 2 * top_k)
    if setting == "chunk_size" and present:
        return max(40, int(present) // 2)
    if setting == "overlap" and present is not None:
        return 0 if present else max(1, int(design.get("chunk_size") or 200) // 5)
    if setting in ("rerank_weight", "hybrid_alpha") and present is not None:
        return 0.75 if float(present) < 0.5 else 0.25
    if setting == "answer_sentences" and present:
        return int(present) + 1
    if setting == "abstain_below" and present is not None:
        return round(float(present) / 2, 3)
    return None


def upper_limits(effects: pd.DataFrame) -> UpperLimits:
    """By factor, the largest gain its controlled pairs leave possible and in how many blocks it was seen."""
    found: UpperLimits = {}
    for row in effects.to_dict("records"):
        if row["effect_high"] is None or np.isnan(row["effect_high"]):
            continue
        # a baseline may be the worse side: either direction of the contrast may hold the gain
        upper = max(float(row["effect_high"]), -float(row["effect_low"]))
        best, blocks = found.get(row["factor"], (None, 0))
        found[row["factor"]] = (
            upper if best is None else max(best, upper),
            max(blocks, int(row["n_blocks"])),
        )
    return found
