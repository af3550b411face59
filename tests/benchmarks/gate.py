"""How often the gate stops an unchanged system, and how often it sees a real drop (statistics.md 4.8).

Each question passes with a probability of its own, Beta(.8κ, .2κ): κ = .5 is a nearly deterministic system, κ = 2
a flaky one. Baseline and candidate are asked once each; a drop multiplies every probability.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter

import numpy as np

from core.statistics.multiplicity import holm
from core.store.gate.policy import Mode
from core.store.gate.rule import gather, verdict

SYSTEMS = {"nearly deterministic": 0.5, "flaky": 2.0}
ALPHA, MARGIN = 0.05, 0.05


def shares(
    n: int,
    kappa: float,
    *,
    drop: float = 0.0,
    mode: Mode = "detect",
    draws: int = 1_000,
    seed: int = 0,
    margin: float = MARGIN,
) -> dict[str, float]:
    """Shares of PASS, WEAK and FAIL over `draws` comparisons of n questions on the pass rate."""
    random = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    for _ in range(draws):
        q = random.beta(0.8 * kappa, 0.2 * kappa, n)
        a = (random.random(n) < q).astype(float)
        b = (random.random(n) < q * (1 - drop / 0.8)).astype(float)
        found = gather(a, b, margin=margin, binary=True, alpha=ALPHA, power=False)
        assert found is not None
        counts[verdict(found, found.p, margin=margin, mode=mode, alpha=ALPHA)[0]] += 1
    return {name: counts[name] / draws for name in ("PASS", "WEAK", "FAIL")}


def family(n: int, *, metrics: int = 5, correlation: float = 0.5, draws: int = 300, seed: int = 0) -> float:
    """Share of A/A comparisons in which any of several correlated scores fails the gate (margin 0)."""
    random = np.random.default_rng(seed)
    failed = 0
    for draw in range(draws):
        common = random.normal(size=(n, 1))
        noise = math.sqrt(correlation) * common + math.sqrt(1 - correlation) * random.normal(
            size=(n, metrics)
        )
        found = [
            gather(
                np.zeros(n), noise[:, m] * 0.1, margin=0.0, binary=False, alpha=ALPHA, seed=draw, power=False
            )
            for m in range(metrics)
        ]
        evidence = [each for each in found if each is not None]
        corrected = holm([each.p for each in evidence])
        failed += any(
            verdict(each, p or 0.0, margin=0.0, mode="detect", alpha=ALPHA)[0] == "FAIL"
            for each, p in zip(evidence, corrected, strict=True)
        )
    return failed / draws


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2_000)
    options = parser.parse_args(argv)
    limit = ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / options.draws)
    worst, begun = 0.0, time.process_time()
    print(
        f"{'system':22} {'n':>4} {'drop':>5} {'FAIL':>6} {'detect PASS':>12} {'detect WEAK':>12} {'prove PASS':>11}"
    )
    for name, kappa in SYSTEMS.items():
        for n, drops in (
            (20, (0.0,)),
            (30, (0.0, 0.1)),
            (50, (0.0, 0.1, 0.2)),
            (100, (0.0, 0.1)),
            (200, (0.0, 0.1)),
        ):
            for drop in drops:
                detect = shares(n, kappa, drop=drop, draws=options.draws, seed=n)
                prove = shares(n, kappa, drop=drop, draws=max(200, options.draws // 4), mode="prove", seed=n)
                if not drop:
                    worst = max(worst, detect["FAIL"])
                print(
                    f"{name:22} {n:4} {drop:5.2f} {detect['FAIL']:6.3f} {detect['PASS']:12.3f} {detect['WEAK']:12.3f} "
                    f"{prove['PASS']:11.3f}"
                )
    together = family(50, draws=max(200, options.draws // 5))
    print(f"five correlated scores, A/A, n=50, margin 0: {together:.3f} false alarms in the family")
    print(
        f"largest A/A false alarm {worst:.3f}; allowed {limit:.3f} (.05 + 3 SE); {time.process_time() - begun:.0f} CPU s"
    )
    return (
        0
        if worst <= limit and together <= ALPHA + 3 * math.sqrt(0.05 * 0.95 / max(200, options.draws // 5))
        else 1
    )
