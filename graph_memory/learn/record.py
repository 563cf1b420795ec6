"""What a claim itself writes: who spoke, under which name, and the episode.

This needs no model, so it is written in the claim's own transaction: conversations are
remembered word for word whatever becomes of their extraction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import tzinfo

from ..episode import continues, split
from ..journal import Draft, Rows
from ..model import Episode, Message, Participation, Session, User, episode_id, stable_id
from ..text import tokens
from .sheet import Sheet

MAX_TOKENS = 6_000
"""How much text one batch holds, so that one call can hold the batch."""


def latest_episode(rows: Rows, session: str) -> Episode | None:
    """The episode of a Session that was written last."""
    return rows.episode(session)


def episode_at(rows: Rows, session: str, message: int) -> Episode | None:
    """The episode of a Session that holds a message."""
    return rows.episode(session, message)


def cutter(
    last: Episode | None, newest: int | None, zone: tzinfo
) -> Callable[[list[Message]], int]:
    """How many of a Session's buffered messages make the next batch.

    A batch stays inside one episode and below :data:`MAX_TOKENS`.

    Args:
        last: The Session's latest episode, which the messages may continue.
        newest: Id of the newest message that may be taken; ``None`` takes all.
    """

    def cut(waiting: list[Message]) -> int:
        free = [m for m in waiting if newest is None or m.id <= newest]
        run = next(split(free, zone), [])
        taken = spent = 0
        for message in run:
            spent += tokens(message.text)
            if taken and (spent > MAX_TOKENS or _ends(last, run[0], message, taken, zone)):
                break
            taken += 1
        return taken

    return cut


def _ends(last: Episode | None, first: Message, message: Message, taken: int, zone: tzinfo) -> bool:
    """Whether the batch has filled the episode that it continues."""
    if last is None or not _extends(last, first, zone):
        return False
    at = message.at
    return not continues(last.started_at, at, last.messages + taken, at, zone)


def _extends(last: Episode, message: Message, zone: tzinfo) -> bool:
    return last.last_message < message.id and continues(
        last.started_at, last.ended_at, last.messages, message.at, zone
    )


def upcoming(
    last: Episode | None, session: str, waiting: Iterable[Message], zone: tzinfo
) -> list[Episode]:
    """The episodes that claims will write of the buffered messages of a Session, in order.

    Args:
        last: The Session's latest episode; if the messages continue it, it comes first.
    """
    found: dict[str, Episode] = {}
    for message in waiting:
        last = _episode(last, session, [message], zone)
        found[last.id] = last
    return list(found.values())


def record(last: Episode | None, zone: tzinfo) -> Callable[[Rows, Session, list[Message]], Draft]:
    """The rows of people and of the episode that a claim writes."""

    def draft(rows: Rows, session: Session, taken: list[Message]) -> Draft:
        # Read again: forgetting may have removed the episode since it was looked up.
        standing = rows.get(Episode, last.id) if last else None
        sheet = Sheet(rows)
        sheet.put(_episode(standing, session.id, taken, zone))
        for message in taken:
            if message.is_human:
                _person(sheet, session.id, message)
        return sheet.draft("chat", "episode")

    return draft


def _episode(last: Episode | None, session: str, taken: list[Message], zone: tzinfo) -> Episode:
    first, newest = taken[0], taken[-1]
    people = [m.sender for m in taken if m.is_human]
    if last is None or not _extends(last, first, zone):
        last = Episode(
            episode_id(session, first.id), session, first.at, first.at, first.id, first.id, 0
        )
    return replace(
        last,
        ended_at=max(last.ended_at, newest.at),
        last_message=newest.id,
        messages=last.messages + len(taken),
        participants=tuple(dict.fromkeys([*last.participants, *people])),
    )


def _person(sheet: Sheet, session: str, message: Message) -> None:
    """Add, or bring up to date, the rows about a message's sender."""
    sender, at = message.sender, message.at
    sheet.put(User(sender))
    id = stable_id("p", session, sender)
    found = sheet.get(Participation, id) or Participation(id, session, sender, at, at, 0)
    sheet.put(
        replace(
            found,
            first_at=min(found.first_at, at),
            last_at=max(found.last_at, at),
            messages=found.messages + 1,
        )
    )
    sheet.name(session, sender, message.name, at)
