"""What a judge said in a run: its judgements, where they are doubtful, and how people labelled the same."""

from __future__ import annotations

from typing import Any

import pandas as pd

from core.records import Judgement
from core.statistics.intervals import wilson
from dashboard.queries import source
from dashboard.queries.runs import Version, run

UNASKED = 20_000  # results of a run whose summary names no judge are searched up to this many
COLUMNS = "case_id query repeat rubric provider model label score reasoning votes doubt failure human".split()


@source.cached
def judgements(of: Version) -> pd.DataFrame:
    """One row a judgement: case_id, query, repeat, rubric, provider, model, label, score (None where there is none),
    reasoning, votes (joined), doubt ("" or why it should be looked at), failure ("" or what failed), human (the label
    a person gave, "" for none)."""
    found = run(of)
    told = found.summary.get("judge")
    if told and told.get("provider") == "none":
        return pd.DataFrame(columns=COLUMNS)
    if not told and found.n_cases * found.repeats > UNASKED:
        return pd.DataFrame(columns=COLUMNS)
    with source.opened() as store:
        assert store is not None  # a version comes from a store
        queries = dict(
            store.rows(
                "SELECT id, query FROM cases WHERE key IN (SELECT case_key FROM run_cases WHERE run_key = ?)",
                (store.run_key(of.run_id),),
            )
        )
        human = {(each.case_id, each.repeat, each.subject): each.value for each in store.labels(of.run_id)}
        rows = [
            _row(
                result.case_id,
                queries.get(result.case_id, ""),
                result.repeat,
                each,
                human.get((result.case_id, result.repeat, each.rubric), ""),
            )
            for result in store.iter_results(of.run_id)
            for each in result.judgements
        ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(case_id: str, query: str, repeat: int, each: Judgement, human: str) -> dict[str, Any]:
    return {
        "case_id": case_id, "query": query, "repeat": repeat, "rubric": each.rubric, "provider": each.provider, "model": each.model,
        "label": each.label, "score": each.score, "reasoning": each.reasoning, "votes": ", ".join(f"{vote:g}" for vote in each.votes),
        "doubt": _doubt(each, human), "failure": each.failure.message if each.failure else "", "human": human,
    }  # fmt: skip


def _doubt(each: Judgement, human: str) -> str:
    if each.failure is not None:
        return "it gave no usable answer"
    if human and each.label and human.casefold() != each.label.casefold():
        return "a person says otherwise"
    if len(set(each.votes)) > 1 or "votes_differ" in each.flags:
        return "its votes differ"
    if each.quote_verified is False:
        return "what it quotes is not in the material"
    if each.label == "cannot_tell":
        return "it could not tell"
    return "the material tries to steer it" if "injection_suspected" in each.flags else ""


def with_people(frame: pd.DataFrame) -> dict[str, Any]:
    """Agreement with people's labels: n, agreeing, low, high (Wilson). Empty without labels."""
    labelled = frame[(frame["human"] != "") & (frame["label"] != "")]
    if labelled.empty:
        return {}
    agreeing = int((labelled["human"].str.casefold() == labelled["label"].str.casefold()).sum())
    interval = wilson(agreeing, len(labelled))
    return {
        "n": len(labelled),
        "agreeing": agreeing,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
    }
