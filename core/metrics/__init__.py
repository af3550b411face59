"""(Case, Output) → number or None; no I/O, no model."""
