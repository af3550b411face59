"""Settings of the whole test run."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# a loaded machine is slow, which is no fault of the code; and a failure must be the same for everybody
settings.register_profile(
    "plumbline",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=60,
)
settings.load_profile("plumbline")
