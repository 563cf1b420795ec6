"""Through whose eyes a reader wants to look, and when, read from a query string."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, tzinfo
from typing import Annotated

from fastapi import Query

from graph_memory.model import Asker
from graph_memory.viewpoints import NOBODY, STRANGER, Viewpoints

from .listing import Day, Id

NONE = "~"
"""Says *nobody* of people, and of personas *one that nobody ever talked to*."""


class Eyes:
    """An asker and a day.

    Args:
        user: User id, or :data:`NONE`.
        group: Circle of the group where they ask; empty: in private.
        persona: Whom they ask, or :data:`NONE`.
        day: At whose end to look, ``2025-10-09``; empty: now.
    """

    def __init__(
        self,
        user: Annotated[Id, Query()] = NONE,
        group: Annotated[Id, Query()] = "",
        persona: Annotated[Id, Query()] = NONE,
        day: Annotated[Day, Query()] = "",
    ) -> None:
        self.user = user
        self.group = group
        self.persona = persona
        self.day = day

    def asker(self, viewpoints: Viewpoints) -> Asker:
        """Who asks.

        Raises:
            NotFoundError: Nobody asks in private.
        """
        user = NOBODY if self.user == NONE else self.user
        persona = STRANGER if self.persona == NONE else self.persona
        return viewpoints.asker(user, self.group, persona)

    def at(self, zone: tzinfo, now: float) -> float:
        """The end of the day in seconds since the epoch, which is never later than now."""
        if not self.day:
            return now
        try:
            after = date.fromisoformat(self.day) + timedelta(days=1)
            return min(now, datetime.combine(after, time(), zone).timestamp())
        except (OverflowError, ValueError, OSError):
            return now  # the last day of the calendar
