"""The parts of the calibration page: can its confidence be believed, and what could be accepted without a look?"""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import widgets, wording
from dashboard.charts import confidence as charts
from dashboard.queries import calibration as queries
from dashboard.queries.runs import Version

BRIER = {
    "brier_score": ("Brier score", "mean squared error of the confidence; lower is better"),
    "brier_miscalibration": ("of it: miscalibration", "what a better scale would mend"),
    "brier_discrimination": ("less: discrimination", "what telling right from wrong gains"),
    "brier_uncertainty": ("of it: uncertainty", "what the questions themselves leave open"),
}


def sentence(found: dict[str, Any]) -> str:
    """Whether confidences can be taken at their word."""
    n = wording.plural(found["n_scored"], "answer")
    right = wording.rate(found["accuracy"])
    if found.get("score_kind") != "probability":
        auroc = (
            "; whether they tell right from wrong is not defined"
            if found.get("auroc") is None
            else f"; they tell right from wrong in {wording.rate(found['auroc'])} of pairs (50 % is chance)"
        )
        return f"Its scores only rank: over {n}, {right} right{auroc}."
    text = f"It states {wording.rate(found['mean_confidence'])} on average over {n} and is right in {right}. "
    error, limit = found.get("expected_calibration_error"), found.get("ece_null_p95")
    if error is None or limit is None:
        return text
    if error > limit:
        return (
            text
            + f"Its confidence is off by {wording.points(error).lstrip('+')} on average, more than chance explains ({wording.points(limit).lstrip('+')})."
        )
    return (
        text
        + f"A calibration error of {wording.points(error).lstrip('+')} is no more than chance gives a calibrated system (up to {wording.points(limit).lstrip('+')})."
    )


def notes(found: dict[str, Any]) -> None:
    for text in found.get("notes") or []:
        said = str(text)
        st.caption(f":material/info: {widgets.escaped(said[:1].upper() + said[1:])}.")


def reliability(frame: pd.DataFrame, found: dict[str, Any]) -> None:
    """Reliability with consistency bands, and the Brier score in its parts."""
    if frame.empty:
        why = (
            "the scores only rank"
            if found.get("score_kind") != "probability"
            else "fewer than 30 answers have a confidence"
        )
        st.info(
            f"Reliability needs probabilities on at least 30 answers; here {why}.",
            title="Reliability is not defined",
        )
    else:
        outside = int(
            ((frame["accuracy"] < frame["band_low"]) | (frame["accuracy"] > frame["band_high"])).sum()
        )
        finding = (
            f"{wording.count(outside)} of {wording.plural(len(frame), 'bin')} lie outside what chance allows"
            if outside
            else "Every bin lies within what chance allows"
        )
        drawn = frame.assign(
            detail=[
                f"{wording.rate(row['mean_confidence'])} stated, {wording.rate(row['accuracy'])} right, n = {row['n']}"
                for row in frame.to_dict("records")
            ]
        )
        note = f"n = {wording.count(found['n_scored'])}; grey: where a calibrated system would fall"
        widgets.chart(charts.reliability, drawn, finding, note, key="reliability")
    if found.get("brier_score") is not None:
        widgets.facts(
            {
                title: f"{found[name]:.3f}, {about}"
                for name, (title, about) in BRIER.items()
                if found.get(name) is not None
            }
        )
    repaired = found.get("recalibration") or {}
    if repaired.get("better"):
        st.caption(
            f"Recalibrated on other answers ({widgets.escaped(repaired['method'])}), the Brier score would be {repaired['brier_score']:.3f}."
        )


@st.fragment
def threshold(frame: pd.DataFrame, found: dict[str, Any]) -> None:
    """A threshold, what it would accept without a look, and how often that would be wrong."""
    if frame.empty:
        return
    ordered = frame.sort_values("threshold", ascending=False).reset_index(drop=True)
    low, high = float(ordered["threshold"].min()), float(ordered["threshold"].max())
    if high <= low:
        st.info(
            f"Every answer has the same value, {wording.plain(high)}: a threshold accepts all of them or none.",
            title="No threshold can be chosen",
        )
        return
    start = next(
        (each["threshold"] for each in found.get("thresholds") or [] if each.get("threshold") is not None),
        (low + high) / 2,
    )
    step = (high - low) / 100
    limit = st.slider(
        "Accept without a look from",
        low,
        high,
        min(max(float(start), low), high),
        step=step,
        key="accept_from",
        bind="query-params",
        format="%.3g",
    )
    accepted = ordered[ordered["threshold"] >= limit - 1e-12]
    row = accepted.iloc[-1] if len(accepted) else ordered.iloc[0]
    bounds = wording.interval(row.get("risk_low"), row.get("risk_high"))
    st.markdown(
        f"**{wording.count(int(row['n']))} of {wording.plural(found['n_scored'], 'answer')} ({wording.rate(row['coverage'])}) would be accepted; "
        f"{wording.rate(row['risk'])} of them would be wrong{', 95 % interval ' + widgets.escaped(bounds) if bounds else ''}.**"
    )
    drawn = ordered.assign(
        detail=[
            f"from {wording.plain(each['threshold'])}: {wording.count(each['n'])} accepted, {wording.rate(each['risk'])} wrong"
            for each in ordered.to_dict("records")
        ]
    )
    finding = f"Accepting {wording.rate(row['coverage'])} means {wording.rate(row['risk'])} wrong among them"
    note = f"n = {wording.count(found['n_scored'])}; surest answers first; 95 % interval"
    chosen = float(row["coverage"])
    widgets.chart(charts.risk_coverage, drawn, finding, note, chosen=chosen, key="risk_coverage")
    for each in found.get("thresholds") or []:
        if each.get("threshold") is not None:
            st.caption(
                f"For {wording.rate(each['target'])} right: from {wording.plain(each['threshold'])}, {wording.rate(each['coverage'])} accepted."
            )
        else:
            st.caption(
                widgets.escaped(
                    f"For {wording.rate(each['target'])} right: {each.get('note') or 'no threshold'}."
                )
            )


def surely_wrong(version: Version, found: dict[str, Any]) -> None:
    """Answers that were wrong with high confidence, surest first."""
    high = found.get("high_confidence_wrong")
    if not high:
        return
    st.header("Sure and wrong")
    rate = high["wrong_given_high"]
    if not rate["n"]:
        st.markdown(f"No answer states {wording.rate(high['limit'])} or more.")
        return
    st.markdown(
        f"{wording.count(high['n'])} of the {wording.plural(rate['n'], 'answer')} that state {wording.rate(high['limit'])} or more are wrong."
    )
    listed = high["cases"][:25]
    asked = queries.questions(version, tuple(each["id"] for each in listed))
    for each in listed:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(wording.rate(each["confidence"]), width="content")
            widgets.link_to(
                "case",
                wording.shortened(asked.get(each["id"], ""), 120) or str(each["id"]),
                {"id": version.run_id},
                case=each["id"],
            )
