"""How a suite went over time: series with intervals, change points, noise floor, what changed, single cases."""

from core.store.trends.cases import CasePoint, FlakyCase, case_history, flaky_cases
from core.store.trends.changes import FEWEST, ChangePoint, change_points
from core.store.trends.series import Point, Series, Trend, suites, trend

__all__ = [
    "FEWEST",
    "CasePoint",
    "ChangePoint",
    "FlakyCase",
    "Point",
    "Series",
    "Trend",
    "case_history",
    "change_points",
    "flaky_cases",
    "suites",
    "trend",
]
