"""The parts of the sweep page, and what the pages about a sweep share: which sweep, and names for its runs."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import widgets, wording
from dashboard.charts import sweeps as charts
from dashboard.parts import prefill
from dashboard.queries import comparisons, runs, sweeps
from dashboard.widgets import choices

MOST_SHOWN = 30
COMMAND = (
    "plumbline sweep settings.yaml --factor retriever=bm25,tfidf --factor chunk_size=200,450\n"
    "plumbline sweep settings.yaml --factor top_k=3,5,8 --plan"
)


def choose(title: str, text: str) -> tuple[str, pd.DataFrame]:
    """The sweep a page speaks of and its configurations; stops where there is none."""
    offered = {
        each["id"]: f"{each['name']}, {wording.ago(each['created_at'])} ({each['id'].rsplit('-', 1)[-1]})"
        for each in sweeps.listed()
    }
    if not offered:
        choices.nothing_here(title, text, COMMAND)
        st.stop()
    sweep_id = choices.chosen_option("sweep", "Sweep", offered, next(iter(offered)), find=sweeps.resolve)
    if sweep_id is None:
        st.stop()
    return sweep_id, sweeps.configurations(sweep_id)


def labels(table: pd.DataFrame) -> dict[str, str]:
    """Published name of a configuration → what tells it from the others."""
    return dict(zip(table["experiment"], table["label"], strict=True))


def humanised(text: str, names: dict[str, str]) -> str:
    """A sentence of core with configurations by what tells them apart instead of by their published names."""
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, f"“{names[name]}”")
    return text


def unfinished(table: pd.DataFrame) -> None:
    """How far a sweep is, where it is not complete."""
    open_runs = table[table["status"] != "sealed"]
    if len(open_runs):
        done = len(table) - len(open_runs)
        st.progress(
            done / len(table),
            text=f"{wording.count(done)} of {wording.plural(len(table), 'configuration')} started so far are complete",
        )
        st.caption(
            "What is concluded below covers the complete ones; `plumbline sweep … --resume latest` goes on with a sweep that was stopped."
        )


def statement(sweep_id: str, names: dict[str, str]) -> tuple[str, str]:
    """Who wins and who is tied; then how much of it is luck and what this set can tell."""
    winner = sweeps.one(sweep_id, "design_attribution_summary").get("winner") or {}
    if not winner.get("best"):
        return humanised(str(winner.get("statement") or ""), names), ""
    best, n = names.get(winner["best"], winner["best"]), int(winner["n_configurations"])
    tied, quality = len(winner["tied_with_best"]) - 1, winner["apparent_quality"]
    first = f"“{best}” is best: {wording.rate(quality)} quality on {wording.plural(int(winner['n_questions']), 'question')}. "
    if n == 1:
        first = f"“{best}” reaches {wording.rate(quality)} quality; it is the only configuration."
    elif tied:
        first += f"{wording.count(tied)} of the other {wording.count(n - 1)} cannot be told from it; take the cheapest or simplest of them."
    else:
        first += f"None of the other {wording.count(n - 1)} comes near enough to be taken for as good."
    expected = wording.rate(winner["corrected_quality"])
    if winner["corrected_low"] is not None:
        expected += f" {wording.interval(winner['corrected_low'], winner['corrected_high'])}"
    flattered = (
        wording.points(winner["optimism"]).lstrip("+") if winner["optimism"] >= 0.005 else "less than a point"
    )
    rest = f"Picking the best of {wording.count(n)} flatters it by {flattered}: expect {expected} on new questions."
    if winner["detectable_difference"] is not None:
        rest += f" This set can show differences of about {wording.points(winner['detectable_difference']).lstrip('+')} or more."
    return first, rest


def leaderboard(ranking: pd.DataFrame, table: pd.DataFrame, names: dict[str, str]) -> None:
    """Quality with intervals, those tied with the best in one colour, and everything as a table."""
    scored = ranking[ranking[sweeps.QUALITY].notna()]
    shown = scored.head(MOST_SHOWN)
    frame = pd.DataFrame(
        {
            "label": [names.get(name, name) for name in shown["experiment"]],
            "value": shown[sweeps.QUALITY], "low": shown["quality_low"], "high": shown["quality_high"],
            "series": ["candidate" if tied else "baseline" for tied in shown["tied_with_best"]],
            "detail": [_detail(row) for row in shown.to_dict("records")],
        }
    )  # fmt: skip
    tied = int(scored["tied_with_best"].fillna(False).astype(bool).sum())
    finding = (
        f"{wording.count(tied)} of {wording.plural(len(scored), 'configuration')} cannot be told from the best"
        if tied > 1
        else "One configuration is better than all others"
    )
    note = "mean quality and 95 % interval; tied with the best in blue"
    if len(scored) > MOST_SHOWN:
        note += f"; the first {MOST_SHOWN} are drawn"
    widgets.chart(charts.leaderboard, frame, finding, note, key="leaderboard")
    part = st.expander("All configurations as a table", on_change="rerun", key="ranking_table")
    if part.open:
        with part:
            st.dataframe(_table(ranking, names), hide_index=True, alt="All configurations, best first")
    ids = dict(zip(table["experiment"], table["run_id"], strict=True))
    for row in shown.head(5).to_dict("records"):
        if row["experiment"] in ids:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.caption(f"rank {_ranks(row)}", width="content")
                widgets.link_to(
                    "run", names.get(row["experiment"], row["experiment"]), {"id": ids[row["experiment"]]}
                )


def _ranks(row: dict[Any, Any]) -> str:
    low, high = f"{row['rank_low']:.0f}", f"{row['rank_high']:.0f}"
    return low if low == high else f"{low}–{high}"


def _detail(row: dict[Any, Any]) -> str:
    return (
        f"{wording.rate(row[sweeps.QUALITY])} {wording.interval(row['quality_low'], row['quality_high'])}; band {row['band']:.0f}, "
        f"rank {_ranks(row)}; {wording.rate(row['mean_auto_correct'])} correct"
    )


def _table(ranking: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    def money(row: dict[Any, Any]) -> str:
        cost = row.get("mean_cost_usd")
        return wording.MISSING if cost is None or pd.isna(cost) else wording.money(cost)

    return pd.DataFrame(
        [
            {
                "configuration": names.get(row["experiment"], row["experiment"]),
                "rank": wording.plain(row["quality_rank"])
                if pd.notna(row["quality_rank"])
                else wording.MISSING,
                "rank, 95 %": _ranks(row) if pd.notna(row["rank_low"]) else wording.MISSING,
                "band": row["band"],
                "quality": wording.rate(row[sweeps.QUALITY])
                if pd.notna(row[sweeps.QUALITY])
                else wording.MISSING,
                "interval": wording.interval(row["quality_low"], row["quality_high"])
                if pd.notna(row["quality_low"])
                else "",
                "tied with best": "yes" if row["tied_with_best"] else "no",
                "chance to be best": wording.rate(row["probability_best"])
                if pd.notna(row["probability_best"])
                else wording.MISSING,
                "correct": f"{row['n_correct']:.0f} of {row['n_questions']:.0f}",
                "errors": row["n_errors"],
                "median": wording.duration(row["latency_p50_ms"])
                if pd.notna(row["latency_p50_ms"])
                else wording.MISSING,
                "cost a question": money(row),
                "status": row["status"],
                "score_total": row["score_total"],
                "published name": row["experiment"],
            }
            for row in ranking.to_dict("records")
        ]
    )


def factors(ranking: pd.DataFrame, table: pd.DataFrame) -> None:
    """Each configuration as a line through its settings to its quality."""
    names = sweeps.factors(list(table["settings"]))
    known = ranking.set_index("experiment")[sweeps.QUALITY].dropna()
    scored = table[table["experiment"].isin(known.index)]
    if len(names) < 2 or len(scored) < 3:
        return
    best, worst = known.idxmax(), known.idxmin()
    rows: list[dict[str, Any]] = []
    places = {name: _places([each.get(name) for each in scored["settings"]]) for name in names}
    for row in scored.to_dict("records"):
        quality = float(known[row["experiment"]])
        mark = {
            "label": row["label"],
            "series": "candidate" if row["experiment"] == best else "baseline",
            "weight": 1.0 if row["experiment"] == best else 0.35,
        }
        for name in names:
            value = row["settings"].get(name)
            rows.append(
                {
                    **mark,
                    "axis": "\n".join(textwrap.wrap(wording.title(name), 12)),
                    "place": places[name][_key(value)],
                    "value": wording.setting(value, 24),
                }
            )
        ends = row["experiment"] in (best, worst)
        rows.append(
            {**mark, "axis": "Quality", "place": quality, "value": wording.rate(quality) if ends else ""}
        )
    finding = "What the best configuration chose, and where the others end"
    note = f"n = {wording.plural(len(scored), 'configuration')}; the best in blue; quality from 0 % to 100 %"
    widgets.chart(charts.parallel, pd.DataFrame(rows), finding, note, key="parallel")


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _places(values: list[Any]) -> dict[str, float]:
    distinct = sorted(
        {_key(value) for value in values}, key=lambda text: (not _number(text), _number(text) or 0.0, text)
    )
    return {
        text: (at / (len(distinct) - 1) if len(distinct) > 1 else 0.5) for at, text in enumerate(distinct)
    }


def _number(text: str) -> float | None:
    value = json.loads(text)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def take_one(sweep_id: str, table: pd.DataFrame, names: dict[str, str], ranking: pd.DataFrame) -> None:
    """The configuration to take: the cheapest of those tied with the best, with the way to run it."""
    tied = ranking[ranking["tied_with_best"].fillna(False).astype(bool)]
    if tied.empty:
        return
    chosen = tied.sort_values(["mean_cost_usd", "latency_p50_ms", "quality_rank"], na_position="last").iloc[0]
    row = table[table["experiment"] == chosen["experiment"]]
    if row.empty:
        return
    st.markdown(
        f"Of those tied with the best, **{widgets.escaped(names.get(chosen['experiment'], chosen['experiment']))}** is the cheapest or fastest."
    )
    settings = row.iloc[0]["settings"]
    widgets.facts(
        {
            wording.title(name): wording.setting(settings.get(name))
            for name in sweeps.factors(list(table["settings"]))
        }
    )
    prefill.link("Open New run with these settings", settings)
    part = st.expander("Its complete settings", on_change="rerun", key="best_settings")
    if part.open:
        with part:
            st.json({name: value for name, value in settings.items() if value not in (None, "", [], {})})


def disagreements(table: pd.DataFrame, ranking: pd.DataFrame) -> None:
    """Questions on which two configurations do not agree."""
    ids = dict(zip(table["label"], table["run_id"], strict=True))
    order = [label for name in ranking["experiment"] for label in table[table["experiment"] == name]["label"]]
    if len(order) < 2:
        return
    with st.grid(2, min_column_width=260):
        first = (
            st.selectbox(
                "Configuration", order, index=None, key="left", bind="query-params", placeholder=order[0]
            )
            or order[0]
        )
        others = [label for label in order if label != first]
        second = (
            st.selectbox(
                "against", others, index=None, key="right", bind="query-params", placeholder=others[-1]
            )
            or others[-1]
        )
    a, b = runs.version(ids[second]), runs.version(ids[first])
    if a is None or b is None:
        return
    pairs = comparisons.chosen(a, b, comparisons.Wanted(("regressed", "fixed", "flipped")))
    n = len(comparisons.comparison(a, b).pairs)
    st.markdown(f"They disagree on {wording.count(len(pairs))} of {wording.plural(n, 'question')}.")
    for pair in pairs[: comparisons.PAGE_SIZE]:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            widgets.verdict_badge(pair.b.verdict if pair.b else None)
            widgets.verdict_badge(pair.a.verdict if pair.a else None)
            with st.container(gap=None):
                widgets.link_to(
                    "compare",
                    wording.shortened(pair.query, 120) or pair.id,
                    {"id": b.run_id},
                    baseline=a.run_id,
                    case=pair.id,
                )
    widgets.link_to(
        "compare", "Compare them in full", {"id": b.run_id}, icon="compare_arrows", baseline=a.run_id
    )
