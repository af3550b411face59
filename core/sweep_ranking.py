"""The published ranking of a sweep (`score_total` and its weights) beside what can honestly be said about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from core.attribution import Attribution
from core.attribution.causes import top
from core.attribution.trace import PUBLISHED, Trace, shown
from core.settings import RunSettings

if TYPE_CHECKING:
    import pandas as pd

ANSWER = {
    "proxy_faithfulness": 0.15, "grounded_claim_ratio": 0.20, "answer_claim_f1": 0.25, "factual_correctness_f1": 0.20,
    "evidence_attribution_f1": 0.10, "noise_sensitivity_relevant": -0.10,
}  # fmt: skip
RETRIEVAL = {
    "ndcg_at_k": 0.30, "mrr_at_k": 0.25, "ragas_recall_at_k": 0.15, "context_claim_recall": 0.15, "context_entities_recall": 0.15,
}  # fmt: skip
MEANS = (
    "proxy_faithfulness", "proxy_context_relevance", "context_claim_recall", "answer_claim_f1", "grounded_claim_ratio",
    "hallucinated_claim_ratio", "evidence_attribution_f1", "evidence_coverage", "mrr_at_k", "ndcg_at_k", "recall_at_k", "ragas_recall_at_k",
)  # fmt: skip
RANKING_COLUMNS = [
    "experiment", "chunking_strategy", "retriever", "chunk_size", "chunk_overlap", "top_k", "n_correct", "n_questions",
    *[f"mean_{name}" for name in MEANS], "most_common_error_reason", "most_common_claim_diagnostic",
    "score_answer", "score_correctness", "score_retrieval", "score_total", "rank",
    "quality_rank", "rank_low", "rank_high", "band", "tied_with_best", "probability_best", "mean_design_quality_score", "quality_low",
    "quality_high", "delta_to_best", "p_to_best", "mean_auto_correct", "correct_low", "correct_high", "n_errors", "mean_cost_usd",
    "latency_p50_ms", "run_id", "status",
]  # fmt: skip


def ranking(trace: Trace, attribution: Attribution, weights: RunSettings) -> pd.DataFrame:
    """`experiment_ranking.csv`, best first on the quality scale. `score_total` and `rank` are the published ones; a
    metric that not every configuration has is left out of a score, whose other weights are scaled up (the
    published formula took it for 0, or for a perfect 1)."""
    import pandas as pd

    means = _means(trace)
    answers, retrieval = (_weighted(means, parts) for parts in (ANSWER, RETRIEVAL))
    honest: dict[Any, Any] = {
        row["experiment"]: row for row in attribution.tables["configuration_ranking"].to_dict("records")
    }
    costs: dict[Any, Any] = {
        row["experiment"]: row for row in attribution.tables["cost_latency_attribution"].to_dict("records")
    }
    rows = []
    for configuration in trace.configurations:
        name = configuration.name
        facts = means.get(name, {})
        found = honest.get(name, {})
        score = {
            "answer": answers.get(name),
            "correctness": facts.get("correctness"),
            "retrieval": retrieval.get(name),
        }
        design = {PUBLISHED.get(k, k): shown(v) for k, v in configuration.design.items()}
        rows.append(
            {
                column: design.get(column)
                for column in ("chunking_strategy", "retriever", "chunk_size", "chunk_overlap", "top_k")
            }
            | {column: found.get(column) for column in RANKING_COLUMNS if column in found}
            | {f"mean_{metric}": facts.get(metric) for metric in MEANS}
            | {
                k: facts.get(k)
                for k in (
                    "n_correct",
                    "n_questions",
                    "n_errors",
                    "most_common_error_reason",
                    "most_common_claim_diagnostic",
                )
            }
            | {f"score_{k}": v for k, v in score.items()}
            | {k: costs.get(name, {}).get(k) for k in ("mean_cost_usd", "latency_p50_ms")}
            | {
                "experiment": name,
                "score_total": _total(score, weights),
                "quality_rank": found.get("rank"),
                "run_id": configuration.run_id,
                "status": "stopped early" if configuration.censored else "complete",
            }
        )
    order = sorted(rows, key=lambda r: (-(r["score_total"] or 0.0), -(r["n_correct"] or 0), r["experiment"]))
    for place, row in enumerate(order, 1):
        row["rank"] = place
    frame = pd.DataFrame(rows, columns=RANKING_COLUMNS)
    return frame.sort_values(["quality_rank", "rank"], na_position="last", ignore_index=True)


def recommendation(table: pd.DataFrame, winner: Mapping[str, Any]) -> dict[str, Any]:
    """Of the configurations tied with the best, the cheapest: by money, then by median time, then by rank."""
    tied = table[table["experiment"].isin(winner.get("tied_with_best", []))]
    if not len(tied):
        return {
            "experiment": None,
            "reason": "no configuration was scored on the questions all others answered",
        }
    cheap = tied.sort_values(["mean_cost_usd", "latency_p50_ms", "quality_rank"], na_position="last").iloc[0]
    name = str(cheap["experiment"])
    if name == winner["best"]:
        return {"experiment": name, "reason": "it scores best, and none of those tied with it is cheaper"}
    return {
        "experiment": name,
        "reason": f"it is statistically tied with the best ({winner['best']}) and cheaper or faster",
    }


def best_config(
    trace: Trace, table: pd.DataFrame, attribution: Attribution, weights: RunSettings
) -> dict[str, Any]:
    """`best_config.json`: the best, what ties with it, and which one to take."""
    winner = attribution.summary["winner"]
    best = table.iloc[0].to_dict() if len(table) else {}
    chosen = recommendation(table, winner)
    settings = {c.name: dict(c.settings) for c in trace.configurations}
    design = next((c.design for c in trace.configurations if c.name == best.get("experiment")), {})
    plain = {
        key: None if value is None or value != value else getattr(value, "item", lambda v=value: v)()
        for key, value in best.items()
    }
    return {
        **{
            key: plain.get(key)
            for key in (
                "experiment",
                "chunking_strategy",
                "retriever",
                "chunk_size",
                "chunk_overlap",
                "top_k",
            )
        },
        "hybrid_alpha": design.get("hybrid_alpha"),
        "score": {
            "answer_score": plain.get("score_answer"),
            "correctness_score": plain.get("score_correctness"),
            "retrieval_score": plain.get("score_retrieval"),
            "weighted_total": plain.get("score_total"),
        },
        "recommendation": chosen,
        "winner": winner,
        "weights": _weights(weights),
        "settings": settings.get(str(best.get("experiment")), {}),
        "recommended_settings": settings.get(str(chosen["experiment"]), {}),
    }


def best_config_text(found: Mapping[str, Any]) -> str:
    """`best_config.md`."""
    choice, winner = found["recommendation"], found["winner"]
    lines = ["# Which configuration to take", "", str(winner.get("statement", ""))]
    if choice["experiment"]:
        lines += ["", f"Take **{choice['experiment']}**: {choice['reason']}."]
        names = [
            name for name, value in found["recommended_settings"].items() if value not in (None, [], {}, "")
        ]
        lines += [
            "",
            "| setting | value |",
            "|---|---|",
            *(f"| {name} | {shown(found['recommended_settings'][name])} |" for name in names),
        ]
    return "\n".join(lines) + "\n"


def _weights(settings: RunSettings) -> dict[str, float]:
    return {
        "answer": settings.weight_answer,
        "correctness": settings.weight_correctness,
        "retrieval": settings.weight_retrieval,
    }


def _total(score: Mapping[str, float | None], settings: RunSettings) -> float | None:
    known = {name: value for name, value in score.items() if value is not None}
    weights = _weights(settings)
    total = sum(weights[name] for name in known)
    return sum(weights[name] * value for name, value in known.items()) / total if total else None


def _weighted(means: Mapping[str, Mapping[str, Any]], parts: Mapping[str, float]) -> dict[str, float]:
    common = [name for name in parts if all(facts.get(name) is not None for facts in means.values())]
    total = sum(abs(parts[name]) for name in common)
    if not total:
        return {}
    return {
        experiment: sum(abs(parts[n]) * (facts[n] if parts[n] > 0 else 1 - facts[n]) for n in common) / total
        for experiment, facts in means.items()
    }


def _means(trace: Trace) -> dict[str, dict[str, Any]]:
    frame = trace.frame
    if frame.empty:
        return {}
    wanted = [name for name in dict.fromkeys((*ANSWER, *RETRIEVAL, *MEANS)) if name in frame]
    found: dict[str, dict[str, Any]] = {}
    for experiment, rows in frame.groupby("experiment", sort=False):
        facts: dict[str, Any] = {name: _mean(rows[name].tolist()) for name in wanted}
        scored = rows[rows["verdict"] != "ERROR"]
        partial = int((scored["auto_flag"] == "partially_correct").sum())
        right = int((scored["verdict"] == "PASS").sum())
        facts |= {
            "n_correct": right,
            "n_questions": int(rows["question_id"].nunique()),
            "n_errors": len(rows) - len(scored),
        }
        facts["correctness"] = (right + 0.5 * partial) / len(scored) if len(scored) else None
        failed = rows[rows["verdict"] != "PASS"]
        facts["most_common_error_reason"] = top(failed["primary_error_reason"])
        facts["most_common_claim_diagnostic"] = top(failed["claim_diagnostic"])
        found[str(experiment)] = facts
    return found


def _mean(values: Sequence[Any]) -> float | None:
    known = [float(v) for v in values if v is not None and v == v]
    return float(np.mean(known)) if known else None
