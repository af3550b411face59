"""(Case, Output, judge) → Result with a verdict."""
