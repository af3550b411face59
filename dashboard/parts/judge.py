"""The parts of the judge page: who judged, how steady it is, what it cost, and what to look at."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import widgets, wording
from dashboard.queries import judging
from dashboard.queries.runs import Version
from dashboard.widgets import choices

PAGE = 20


def sentence(frame: pd.DataFrame, told: dict[str, Any]) -> str:
    """Who judged how often, and what is known about its trustworthiness."""
    names = sorted(
        {
            " ".join(part for part in (row["provider"], row["model"]) if part)
            for row in frame.to_dict("records")
        }
    )
    failed = int((frame["failure"] != "").sum())
    text = f"{wording.listed(names)} gave {wording.plural(len(frame), 'judgement')}"
    text += f", {wording.count(failed)} of them unusable. " if failed else ", all usable. "
    people = judging.with_people(frame)
    if people:
        return f"{text}It agrees with people in {wording.count(people['agreeing'])} of {wording.plural(people['n'], 'label')} {wording.interval(people['low'], people['high'])}."
    again = told.get("self_agreement")
    if again and again.get("agreement") is not None:
        return f"{text}Asked twice, it agrees with itself in {wording.rate(again['agreement'])} {wording.interval(again['low'], again['high'])}; whether people agree is not known."
    return f"{text}Nobody has labelled these answers, so whether people agree is not known."


def figures(frame: pd.DataFrame, told: dict[str, Any]) -> None:
    """Agreement, flips, failures, cost."""
    again = told.get("self_agreement") or {}
    usage = told.get("usage") or {}
    cost = "no model was called" if not usage.get("calls") else wording.money(usage.get("cost_usd"))
    flips = told.get("flip_rate")
    people = judging.with_people(frame)
    widgets.facts(
        {
            **(
                {
                    "Agrees with people": f"{wording.count(people['agreeing'])} of {wording.count(people['n'])} {wording.interval(people['low'], people['high'])}"
                }
                if people
                else {}
            ),
            "Agrees with itself": f"{again['agreeing']} of {again['pairs']} {wording.interval(again['low'], again['high'])}"
            if again.get("pairs")
            else "nothing was asked twice (judge.audit_share)",
            "Votes that flip": wording.rate(flips)
            if flips is not None
            else "each was asked once (judge.samples)",
            "Failures": wording.count(int((frame["failure"] != "").sum())),
            "Could not tell": wording.count(int((frame["label"] == "cannot_tell").sum())),
            "Cost": cost,
        }
    )


def rubrics(frame: pd.DataFrame) -> None:
    """Each rubric with how often it was asked and what it gave."""
    rows = []
    for rubric, part in frame.groupby("rubric", sort=True):
        scored = part["score"].dropna()
        rows.append(
            {
                "rubric": wording.title(str(rubric)), "judgements": len(part), "with a score": len(scored),
                "doubtful": int((part["doubt"] != "").sum()), "unusable": int((part["failure"] != "").sum()), "published name": rubric,
            }
        )  # fmt: skip
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, alt="Rubrics with the number of judgements and of doubtful ones"
    )


def doubts(version: Version, frame: pd.DataFrame) -> None:
    """Judgements that should be looked at; each opens its case."""
    counted = frame[frame["doubt"] != ""]["doubt"].value_counts()
    if counted.empty:
        st.success("No judgement failed, flipped, or is at odds with a person or with its own quote.")
        return
    offered = {str(doubt): f"{str(doubt).capitalize()} {wording.count(n)}" for doubt, n in counted.items()}
    chosen = choices.chosen_many("doubt", "Why", offered)
    shown = frame[frame["doubt"].isin(chosen)] if chosen else frame[frame["doubt"] != ""]
    pages = -(-len(shown) // PAGE)
    number = st.pagination(pages, key="doubt_page", bind="query-params") if pages > 1 else 1
    for row in shown.iloc[(number - 1) * PAGE : number * PAGE].to_dict("records"):
        with st.container(border=True):
            widgets.link_to(
                "case",
                wording.shortened(row["query"], 140) or row["case_id"],
                {"id": version.run_id},
                case=row["case_id"],
            )
            score = (
                "" if row["score"] is None or pd.isna(row["score"]) else f" · {wording.rate(row['score'])}"
            )
            human = f" · a person says {row['human']}" if row["human"] else ""
            votes = f" · votes {row['votes']}" if "," in row["votes"] else ""
            st.caption(
                widgets.escaped(
                    f"{wording.title(row['rubric'])}: {row['label'] or 'no label'}{score}{votes}{human} · {row['doubt']}"
                )
            )
            if row["failure"] or row["reasoning"]:
                widgets.quote(row["failure"] or row["reasoning"], height=120)
