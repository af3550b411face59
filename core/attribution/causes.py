"""`failure_attribution.csv` and `component_attribution.csv`: every failed case with its component, the evidence, the
fix that was observed from its own configuration, and the ablation to run next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from core.attribution.failures import OBSERVED, attribute_failure, is_failure
from core.attribution.fixes import Fix, UpperLimits, ablation_json, best_fix, next_ablation, upper_limits
from core.attribution.grid import COMPONENTS, QUALITY, Grid
from core.attribution.taxonomy import MECHANISMS, taxonomy
from core.attribution.trace import PUBLISHED, Trace, shown
from core.statistics.intervals import clustered_rate

if TYPE_CHECKING:
    import pandas as pd

KEY_METRICS = (
    "mrr_at_k", "ndcg_at_k", "recall_at_k", "ragas_recall_at_k", "evidence_recall", "context_claim_recall", "answer_claim_recall",
    "grounded_claim_ratio", "hallucinated_claim_ratio", "factual_correctness_recall", "evidence_attribution_f1",
    "first_relevant_rank", "first_target_doc_rank", "prediction_confidence",
)  # fmt: skip
FACTS = (
    "gold_in_document", "evidence_in_file", "evidence_in_text", "evidence_in_chunk", "evidence_in_context", "evidence_deep_rank",
    "deep_candidates",
)  # fmt: skip
SIGNALS = (
    "expected_answerable", "abstained", "false_refusal", "over_answered", "contradicted_claim_count", "noise_sensitivity_relevant",
    "noise_sensitivity_irrelevant", "exact_top1_match", "cpv_hierarchy_similarity_top1", "hit_at_k", "target_doc_retrieved_at_k",
)  # fmt: skip
FAILURE_COLUMNS = [
    "question_id", "question", "question_type", "experiment", "repeat", "verdict", "auto_flag", "primary_error_reason", "claim_diagnostic",
    "likely_component", "mechanism", "evidence_level", "component_label", "component_explanation", "advisor_component", "advisor_issue",
    "advisor_recommendation", "advisor_next_experiment", "causal_explanation", "causal_evidence",
    *COMPONENTS, *KEY_METRICS, *FACTS,
]  # fmt: skip
FIX_COLUMNS = [
    "design_factor_suspects", "best_observed_fix_factor", "best_observed_fix_value", "best_observed_fix_delta", "best_observed_fix_gained",
    "best_observed_fix_lost", "best_observed_fix_p_max_t", "recommended_next_ablation", "next_ablation_config", "evidence",
]  # fmt: skip
COMPONENT_COLUMNS = [
    "component", "label", "explanation", "advisor_component", "advisor_issue", "recommendation", "next_experiment",
    "n_rows", "n_failures", "failure_rate", "share_of_failures", "share_low", "share_high", "n_counterfactual",
    "top_failure_reason", "top_question_type", "top_mechanism", f"mean_{QUALITY}", *[f"mean_{name}" for name in COMPONENTS],
]  # fmt: skip


def failure_table(
    trace: Trace,
    grid: Grid,
    fixes: Mapping[int, list[Fix]],
    effects: pd.DataFrame,
    ladder: pd.DataFrame | None,
) -> pd.DataFrame:
    """A row per failed case and repeat. Settings stand in columns under their published names."""
    import pandas as pd

    settings = _setting_columns(grid)
    columns = [*FAILURE_COLUMNS, *settings, *FIX_COLUMNS]
    rows = list(_failed_rows(trace))
    if not rows:
        return pd.DataFrame(columns=columns)
    steps, tried = _ladder_rows(ladder), upper_limits(effects)
    place = {name: i for i, name in enumerate(grid.names)}
    question = {q: i for i, q in enumerate(grid.questions)}
    parts = {name: grid.scores[name] for name in COMPONENTS if name in grid.scores}
    ablations: dict[tuple[int, str], tuple[str, str]] = {}
    designs = [_design_row(grid, c, settings) for c in range(len(grid.configurations))]
    made = []
    for row in rows:
        c, q = place.get(row["experiment"]), question[str(row["question_id"])]
        if c is None:
            continue
        mechanism, words, level = attribute_failure(
            row, steps.get((row["experiment"], str(row["question_id"])))
        )
        component = MECHANISMS[mechanism][0]
        key = (c, component)
        if key not in ablations:
            ablations[key] = _ablation(grid, c, component, tried)
        scores = {name: layer[c, q] for name, layer in parts.items()}
        made.append(
            row
            | scores
            | _explained(mechanism, words, level)
            | designs[c]
            | _fix_cells(grid, fixes, c, q, component, ablations[key], words)
        )
    return pd.DataFrame(made).reindex(columns=columns)


_COUNTED = (
    "likely_component", "question_id", "evidence_level", "primary_error_reason", "question_type", "mechanism",
)  # fmt: skip


def component_table(trace: Trace, failures: pd.DataFrame) -> pd.DataFrame:
    """A row per component that failed at all. `failure_rate` is over all rows of the trace; `share_of_failures`
    has an interval over questions (a question that fails in many configurations is one observation)."""
    import pandas as pd

    if failures.empty:
        return pd.DataFrame(columns=COMPONENT_COLUMNS)
    total, rows = len(trace.frame), []
    failures = failures[
        [*_COUNTED, *(name for name in COMPONENTS if name in failures)]
    ]  # slices of few columns
    for component, entry in taxonomy().items():
        mine = failures[failures["likely_component"] == component]
        if mine.empty:
            continue
        share = clustered_rate(
            (failures["likely_component"] == component).astype(float).tolist(),
            failures["question_id"].tolist(),
        )
        row = {
            "component": component, "label": entry.label, "explanation": entry.explanation,
            "advisor_component": entry.advisor_component, "advisor_issue": entry.advisor_issue,
            "recommendation": entry.recommendation, "next_experiment": entry.next_experiment,
            "n_rows": total, "n_failures": len(mine), "failure_rate": len(mine) / total if total else None,
            "share_of_failures": len(mine) / len(failures),
            "share_low": share.low if share else None, "share_high": share.high if share else None,
            "n_counterfactual": int((mine["evidence_level"] != OBSERVED).sum()),
            "top_failure_reason": top(mine["primary_error_reason"]), "top_question_type": top(mine["question_type"]),
            "top_mechanism": top(mine["mechanism"]),
        }  # fmt: skip
        row |= {f"mean_{name}": _mean(mine, name) for name in COMPONENTS}
        present: list[Any] = [row[f"mean_{name}"] for name in COMPONENTS if row[f"mean_{name}"] is not None]
        row[f"mean_{QUALITY}"] = sum(present) / len(present) if present else None
        rows.append(row)
    frame = pd.DataFrame(rows, columns=COMPONENT_COLUMNS)
    return frame.sort_values(["n_failures", "component"], ascending=[False, True], ignore_index=True)


def failure_counts(trace: Trace) -> dict[str, dict[str, int]]:
    """Primary reasons of failed rows by experiment."""
    counts: dict[str, Counter[str]] = {}
    frame = trace.frame
    if frame.empty:
        return {}
    failed = frame["verdict"].isin(["FAIL", "ERROR"])
    if "auto_flag" in frame:
        failed |= (frame["verdict"] == "WEAK") & (frame["auto_flag"] == "partially_correct")
    reasons = frame["primary_error_reason"] if "primary_error_reason" in frame else frame["verdict"]
    grouped: Any = frame[failed].groupby([frame["experiment"], reasons.fillna("")], sort=True)
    for (experiment, reason), n in grouped.size().items():
        counts.setdefault(str(experiment), Counter())[str(reason)] += int(n)
    return {experiment: dict(c) for experiment, c in counts.items()}


def top(values: Iterable[Any]) -> str:
    """The commonest text, first in the alphabet on ties; empty without one."""
    counts = Counter(str(v) for v in values if v is not None and v == v and str(v))
    return min(counts, key=lambda v: (-counts[v], v)) if counts else ""


def _failed_rows(trace: Trace) -> Iterable[dict[str, Any]]:
    frame = trace.frame
    if frame.empty:
        return []
    wanted = [c for c in (*FAILURE_COLUMNS, *SIGNALS) if c in frame]
    failed = frame[frame["verdict"].isin(["FAIL", "ERROR", "WEAK"])]
    records: list[Any] = failed[wanted].to_dict("records")
    return [row for row in records if is_failure(row)]


def _setting_columns(grid: Grid) -> list[str]:
    names = dict.fromkeys(
        name for c in grid.configurations for name in c.design if not name.startswith("input.")
    )
    return [PUBLISHED.get(name, name) for name in names]


def _design_row(grid: Grid, c: int, columns: list[str]) -> dict[str, str | None]:
    design = {PUBLISHED.get(k, k): shown(v) for k, v in grid.configurations[c].design.items()}
    return {name: design.get(name) for name in columns}


def _ladder_rows(ladder: pd.DataFrame | None) -> dict[tuple[str, str], dict[str, Any]]:
    if ladder is None or ladder.empty:
        return {}
    records: list[Any] = ladder.to_dict("records")
    return {(str(r["experiment"]), str(r["question_id"])): r for r in records}


def _explained(mechanism: str, words: str, level: str) -> dict[str, Any]:
    component, meaning = MECHANISMS[mechanism]
    entry = taxonomy()[component]
    return {
        "likely_component": component,
        "mechanism": mechanism,
        "evidence_level": level,
        "component_label": entry.label,
        "component_explanation": entry.explanation,
        "advisor_component": entry.advisor_component,
        "advisor_issue": entry.advisor_issue,
        "advisor_recommendation": entry.recommendation,
        "advisor_next_experiment": entry.next_experiment,
        "causal_explanation": f"{entry.label}: {meaning}.",
        "causal_evidence": words,
    }


def _ablation(grid: Grid, c: int, component: str, tried: UpperLimits) -> tuple[str, str]:
    configuration = grid.configurations[c]
    change = next_ablation(configuration, component, tried)
    if change is None:
        return taxonomy()[component].next_experiment, ""
    return f"{change['setting']} = {shown(change['value'])} ({change['why']})", ablation_json(
        configuration, change
    )


def _fix_cells(
    grid: Grid,
    fixes: Mapping[int, list[Fix]],
    c: int,
    q: int,
    component: str,
    ablation: tuple[str, str],
    words: str,
) -> dict[str, Any]:
    cells: dict[str, Any] = {
        "design_factor_suspects": ";".join(PUBLISHED.get(f, f) for f in taxonomy()[component].factors),
        "recommended_next_ablation": ablation[0],
        "next_ablation_config": ablation[1],
        "evidence": words,
    }
    found = best_fix(grid, fixes, c, q)
    if found is None:
        return cells
    fix, delta = found
    cells |= {
        "best_observed_fix_factor": fix.factor,
        "best_observed_fix_value": fix.value,
        "best_observed_fix_delta": delta,
    }
    cells |= {
        "best_observed_fix_gained": fix.gained,
        "best_observed_fix_lost": fix.lost,
        "best_observed_fix_p_max_t": fix.p_max_t,
    }
    return cells


def _mean(frame: pd.DataFrame, name: str) -> float | None:
    values: Any = frame[name].dropna() if name in frame else []
    return float(values.astype(float).mean()) if len(values) else None
