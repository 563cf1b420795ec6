"""Base of JSON models, and times as they are written there."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict


def when(at: float | None) -> datetime | None:
    """Seconds since the epoch as a time in UTC; ``None`` for never and out of range."""
    if at is None or not math.isfinite(at):
        return None
    try:
        return datetime.fromtimestamp(at, UTC)
    except (OverflowError, ValueError, OSError):
        return None


class Out(BaseModel):
    """Something that is answered."""

    model_config = ConfigDict(frozen=True)


class In(BaseModel):
    """Something that is sent; unknown members are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")
