"""What people say about answers, and how the verdicts of the run hold up against it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.judge.agreement import Agreement, agreement
from core.judge.corrected_rates import CorrectedRate, corrected_rate
from dashboard.queries import judging, runs, source
from dashboard.queries.runs import Version

SUBJECT = "verdict"  # what a person judges is the answer as a whole
VERDICTS = ("PASS", "WEAK", "FAIL")
COLUMNS = ["case_id", "query", "verdict"]


@source.cached
def queue(of: Version) -> pd.DataFrame:
    """The cases people can label, in an order that is random but always the same, so that any beginning of it is a
    fair sample: case_id, query, verdict. Those a judge spoke about where one did, else all that were answered."""
    found = source.rows(
        "SELECT c.id AS case_id, c.query, r.verdict FROM results r JOIN cases c ON c.key = r.case_key "
        "WHERE r.run_key = ? AND r.repeat = 0 AND r.verdict <> 'ERROR'",
        [runs.key_of(of)],
    )
    judged = set(judging.judgements(of)["case_id"])
    listed = [row for row in found if not judged or row["case_id"] in judged]
    listed.sort(key=lambda row: hashlib.sha256(f"{of.run_id}\n{row['case_id']}".encode()).digest())
    return pd.DataFrame(listed, columns=COLUMNS)


def given(run_id: str, case_id: str | None = None) -> list[dict[str, Any]]:
    """Labels of people that stand, oldest first: id, case_id, value, author, reason, created_at. Never cached: a label
    is no change of the run."""
    one = "" if case_id is None else " AND c.id = ?2"
    return source.rows(
        "SELECT l.key AS id, c.id AS case_id, l.value, l.author, l.reason, l.created_at FROM labels l "
        "JOIN cases c ON c.key = l.case_key JOIN runs r ON r.key = l.run_key "
        f"WHERE r.id = ?1 AND l.subject = '{SUBJECT}' AND l.repeat = 0 AND l.undone_at IS NULL{one} ORDER BY l.key",
        [run_id] if case_id is None else [run_id, case_id],
    )


@dataclass(frozen=True, slots=True)
class Held:
    """`pairs`: case_id, query, verdict (of the run), human (the last label of a case counts). `agreement` and `rate`
    (the pass rate corrected by what people said) are None without a label."""

    pairs: pd.DataFrame
    agreement: Agreement | None
    rate: CorrectedRate | None


def held(of: Version) -> Held:
    """The verdicts of the run against the labels of people."""
    last = {each["case_id"]: each["value"] for each in given(of.run_id) if each["value"] in VERDICTS}
    every = queue(of)
    human = every["case_id"].map(last)
    pairs = every.assign(human=human)[human.notna()]
    if pairs.empty:
        return Held(pairs, None, None)
    said, verdict = list(pairs["human"]), list(pairs["verdict"])
    report = agreement(said, verdict, passing=["PASS"]) if "PASS" in {*said, *verdict} else None
    rest = every[human.isna()]["verdict"]
    rate = corrected_rate(
        [float(each == "PASS") for each in said],
        [float(each == "PASS") for each in verdict],
        [float(each == "PASS") for each in rest],
    )
    return Held(pairs, report, rate)


def export(of: Version) -> str:
    """All cases with both labels as CSV, the columns that `plumbline judge agreement` reads first."""
    last = {each["case_id"]: each for each in given(of.run_id)}
    every = queue(of)
    word = {"PASS": "pass", "WEAK": "weak", "FAIL": "fail"}
    rows = [
        {
            "case_id": row["case_id"], "human": word.get(label.get("value", ""), label.get("value", "")), "judge": word.get(row["verdict"], row["verdict"]),
            "author": label.get("author", ""), "reason": label.get("reason", ""), "created_at": label.get("created_at", ""), "query": row["query"],
        }
        for row in every.to_dict("records")
        for label in [last.get(row["case_id"], {})]
    ]  # fmt: skip
    return str(pd.DataFrame(rows).to_csv(index=False))
