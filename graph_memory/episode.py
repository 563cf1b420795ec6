"""Episodes: runs of conversation in one Session.

An episode ends with a gap of ten minutes (also one that a clock set back makes), with 200 messages,
or at local midnight.
"""

from __future__ import annotations

from datetime import datetime, tzinfo

GAP = 600.0
"""Seconds of silence that end an episode."""
MAX_MESSAGES = 200


def continues(started_at: float, last_at: float, messages: int, at: float, zone: tzinfo) -> bool:
    """Whether a message at ``at`` belongs to an episode.

    Args:
        started_at, last_at: First and last message of the episode so far.
        messages: How many it has.
        at: When the new message was said.
        zone: Whose midnight counts.
    """
    if messages >= MAX_MESSAGES or abs(at - last_at) >= GAP:
        return False
    return (
        datetime.fromtimestamp(started_at, zone).date() == datetime.fromtimestamp(at, zone).date()
    )
