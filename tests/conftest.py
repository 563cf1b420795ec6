"""What all tests share."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from graph_memory.companion import register_rows

# Timing belongs to the benchmark: on a busy machine a slow draw is not a defect.
settings.register_profile(
    "default", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60
)
settings.load_profile("default")

register_rows()
