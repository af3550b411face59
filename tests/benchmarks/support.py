"""How well the local support score separates supported from unsupported claims on human labels.

Prints AUROC with and without guards, of answer length alone, and the balanced accuracy at the default threshold,
on BEGIN (Wizard of Wikipedia), WiCE and ExpertQA. Usage: python -m tests.benchmarks support
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterator, Sequence

from core.metrics.support import SUPPORTED, Support, support
from tests.real_data import REAL_DATA

Pair = tuple[str, str, bool]


def begin() -> Iterator[Pair]:
    """(response, knowledge, fully attributable)."""
    with (REAL_DATA / "begin_wow" / "dev.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["begin_label"] != "Generic":
                yield row["response"], row["knowledge"], row["begin_label"] == "Fully attributable"


def wice() -> Iterator[Pair]:
    """(claim, page, supported); partial support counts as not supported."""
    for line in (REAL_DATA / "wice" / "dev.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        yield row["claim"], "\n".join(row["evidence"]), row["label"] == "supported"


def expertqa() -> Iterator[Pair]:
    """(claim, evidence, complete support); claims without evidence text are left out."""
    for line in (REAL_DATA / "expertqa" / "dev.jsonl").read_text("utf-8").splitlines():
        for claim in json.loads(line)["claims"]:
            passage = "\n\n".join(each for each in claim["evidence"] if len(each) > 200)
            if passage:
                yield claim["claim"], passage, claim["support"] == "Complete"


def auroc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Area under the ROC curve with ties counted half."""
    order = sorted(range(len(scores)), key=lambda index: scores[index])
    ranks = [0.0] * len(scores)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and scores[order[end + 1]] == scores[order[at]]:
            end += 1
        for index in order[at : end + 1]:
            ranks[index] = (at + end) / 2 + 1
        at = end + 1
    positive = sum(labels)
    total = sum(rank for rank, label in zip(ranks, labels, strict=True) if label)
    return (total - positive * (positive + 1) / 2) / (positive * (len(labels) - positive))


def balanced_accuracy(scores: Sequence[float], labels: Sequence[bool], threshold: float) -> float:
    hits = sum(score >= threshold for score, label in zip(scores, labels, strict=True) if label)
    rejections = sum(score < threshold for score, label in zip(scores, labels, strict=True) if not label)
    return (hits / sum(labels) + rejections / (len(labels) - sum(labels))) / 2


def main(argv: Sequence[str] = ()) -> int:
    print(
        f"{'set':10} {'n':>4} {'supp.':>5}  {'AUROC':>5} {'no guards':>9} {'length':>6}  {'bal.acc':>7} {'best':>5} {'at':>4}  ms/claim"
    )
    for name, read in (("BEGIN", begin), ("WiCE", wice), ("ExpertQA", expertqa)):
        pairs = list(read())
        labels = [label for _, _, label in pairs]
        started = time.process_time()
        found: list[Support] = [support(claim, passage) for claim, passage, _ in pairs]
        spent = (time.process_time() - started) * 1000 / len(pairs)
        scores = [each.score for each in found]
        best, at = max((balanced_accuracy(scores, labels, cut / 100), cut / 100) for cut in range(101))
        print(
            f"{name:10} {len(pairs):4} {sum(labels):5}  {auroc(scores, labels):5.3f} "
            f"{auroc([each.unguarded for each in found], labels):9.3f} "
            f"{auroc([-float(len(claim)) for claim, _, _ in pairs], labels):6.3f}  "
            f"{balanced_accuracy(scores, labels, SUPPORTED):7.3f} {best:5.3f} {at:4.2f}  {spent:.2f}"
        )
    return 0
