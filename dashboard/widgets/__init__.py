"""What every page asks with and answers with: run picker, links, states, verdict badges, quoted text."""

from dashboard.widgets.drawing import chart, frame
from dashboard.widgets.navigation import PAGES, chosen_run, link_to, run_label, run_picker
from dashboard.widgets.states import failed, failed_callback, guarded, no_runs, unfinished
from dashboard.widgets.text import SHOWN_CHARACTERS, escaped, facts, quote
from dashboard.widgets.verdicts import repeat_strip, verdict_badge, verdict_cards

__all__ = [
    "PAGES",
    "SHOWN_CHARACTERS",
    "chart",
    "chosen_run",
    "escaped",
    "facts",
    "failed",
    "failed_callback",
    "frame",
    "guarded",
    "link_to",
    "no_runs",
    "quote",
    "repeat_strip",
    "run_label",
    "run_picker",
    "unfinished",
    "verdict_badge",
    "verdict_cards",
]
