"""Shared context of one open memory: what nearly every part needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import tzinfo

from .errors import NotFoundError
from .identity import Identities
from .inference.token_budget import TokenBudget
from .model import Asker, Change, Session
from .privacy.scope import Attendance
from .settings import TUNABLE, Settings
from .store import Draft, Journal, Rows
from .visible_rows import LearnerRows, VisibleRows, view_for


@dataclass(slots=True)
class Context:
    """What the parts of one memory share; made by ``MemoryService``.

    Attributes:
        settings: As they are now; keep this context, not what stands here.
        zone: Of the people who chat: whose midnight ends a day.
        now: Clock, seconds since the epoch.
        attendance, identities: Kept up to date by recall, and by the service.
    """

    journal: Journal
    settings: Settings
    zone: tzinfo
    now: Callable[[], float]
    budget: TokenBudget
    attendance: Attendance
    identities: Identities

    def tune(self, **values: float) -> None:
        """Go by other values of some of :data:`TUNABLE` from now on."""
        if unknown := values.keys() - TUNABLE:
            raise ValueError(f"{', '.join(sorted(unknown))} cannot be changed while in use")
        self.settings = replace(self.settings, **values)  # type: ignore[arg-type]

    def visible(self, rows: Rows, asker: Asker) -> VisibleRows:
        """The rows that an asker may see."""
        return VisibleRows(rows, asker, view_for(asker, self.settings.policy, self.attendance))

    def learnable(self, rows: Rows, session: Session) -> LearnerRows:
        """The rows that may be seen when something is learned in a Session."""
        return LearnerRows(rows, session, self.settings.policy, self.attendance)


class Part:
    """A part of one memory, with what it shares with the others."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._journal = context.journal
        self._zone = context.zone
        self._now = context.now

    async def _enact(self, resolve: Callable[[Rows], Draft], what: str) -> Change:
        """Write a draft about something; ``NotFoundError`` if it changes nothing."""
        change = await self._journal.commit(resolve)
        if change is None:
            raise NotFoundError(f"{what}: nothing changed")
        return change
