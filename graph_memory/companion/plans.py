"""Follow-ups as rows: made, tried, settled. Rows in, drafts out.

At most one waits in each Session: a newer wish of the model's takes the older one's place.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import tzinfo

from ..hours import midnight
from ..journal import Draft, Rows
from ..model import Session, stable_id
from ..retention import DAY
from .companion_rows import FollowUp, FollowUpStatus
from .control import Intent

ACTOR = "companion"
RETRY = (5.0, 60.0, 600.0, 1_800.0)
"""Seconds until a follow-up is tried again that could not be asked about or sent.

The first are short: what fell due while the bot was down is tried when it starts, and a chat
platform finds the bot again some seconds later (OneBot clients wait 5 to 30).
"""
TRIES = len(RETRY) + 1
_KEPT = 30 * DAY
"""For so long it is known what became of a follow-up."""


def waiting(rows: Rows, session: str | None = None) -> list[FollowUp]:
    """Those that wait, the next one first."""
    found = rows.scan(FollowUp) if session is None else rows.find(FollowUp, session=session)
    wait = [row for row in found if row.status == FollowUpStatus.WAITING]
    return sorted(wait, key=lambda row: (row.due_at, row.id))


def planned(rows: Rows, session: Session, user: str, intent: Intent, now: float) -> Draft:
    """A new follow-up; what is long settled goes."""
    draft = Draft(ACTOR, "follow_up")
    for row in rows.find(FollowUp, session=session.id):
        if row.status == FollowUpStatus.WAITING:
            draft.put.append(replace(row, status=FollowUpStatus.DROPPED.value))
        elif now - row.due_at > _KEPT:
            draft.drop.append((FollowUp.kind, row.id))
    id = stable_id("fu", session.id, user, repr(now))
    draft.put.append(FollowUp(id, session.id, user, now + intent.delay, intent.reason, 0, now))
    return draft


def settled(
    rows: Rows,
    wanted: FollowUp,
    status: FollowUpStatus,
    actor: str = ACTOR,
    at: float | None = None,
) -> Draft | None:
    """Let one be done with, if it is still what it was; ``at`` is when it was done."""
    if rows.get(FollowUp, wanted.id) != wanted:
        return None
    due = wanted.due_at if at is None else at
    return Draft(actor, "follow_up", put=[replace(wanted, status=status.value, due_at=due)])


def failed(rows: Rows, wanted: FollowUp, now: float) -> Draft | None:
    """Let one be tried again later, or not any more."""
    if rows.get(FollowUp, wanted.id) != wanted:
        return None
    attempts = wanted.attempts + 1
    if attempts >= TRIES:
        new = replace(wanted, attempts=attempts, status=FollowUpStatus.DROPPED.value)
    else:
        new = replace(
            wanted,
            attempts=attempts,
            due_at=now + RETRY[attempts - 1],
            status=FollowUpStatus.WAITING.value,
        )
    return Draft(ACTOR, "follow_up", put=[new])


def done_today(rows: Rows, user: str, now: float, zone: tzinfo) -> int:
    """To how many messages of its own a user was spoken to since midnight."""
    since = midnight(now, zone)
    return sum(
        1
        for row in rows.find(FollowUp, a=user)
        if row.status == FollowUpStatus.DONE and row.due_at >= since
    )
