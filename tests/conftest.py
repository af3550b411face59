"""Settings of the whole test run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from core.components import REGISTRIES

# a loaded machine is slow, which is no fault of the code; and a failure must be the same for everybody
settings.register_profile(
    "plumbline",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=60,
)
settings.load_profile("plumbline")


@pytest.fixture(autouse=True)
def nothing_registered_stays() -> Iterator[None]:
    """A component or metric that a test files would stand in the tables and forms that later tests look at."""
    yield
    filed = [registry.get(name) for registry in REGISTRIES for name in registry]
    left = [cls for cls in filed if not cls.__module__.startswith("core.")]
    assert not left, f"use `with REGISTRY.registered(name, cls)`: {left}"
