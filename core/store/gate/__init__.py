"""Is a run worse than its baseline? Decides in CI, and says with which certainty."""

from core.store.gate.decide import Decision, decide, resolve_baseline
from core.store.gate.policy import GateMetric, GatePolicy, load_policy
from core.store.gate.report import github_annotations, headline, junit, markdown, sentences

__all__ = [
    "Decision",
    "GateMetric",
    "GatePolicy",
    "decide",
    "github_annotations",
    "headline",
    "junit",
    "load_policy",
    "markdown",
    "resolve_baseline",
    "sentences",
]
