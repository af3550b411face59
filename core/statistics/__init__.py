"""Numbers → intervals, tests, corrections."""
