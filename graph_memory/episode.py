"""Episodes: runs of conversation in one Session.

One ends with a gap of ten minutes (or a clock set back), 200 messages, or local midnight.
"""

from __future__ import annotations

from datetime import datetime, tzinfo

GAP = 600.0
"""Seconds of silence that end an episode."""
MAX_MESSAGES = 200


def continues(started_at: float, last_at: float, messages: int, at: float, zone: tzinfo) -> bool:
    """Whether a message at ``at`` belongs to an episode that has so many messages."""
    if messages >= MAX_MESSAGES or abs(at - last_at) >= GAP:
        return False
    first, new = (datetime.fromtimestamp(each, zone) for each in (started_at, at))
    return first.date() == new.date()
