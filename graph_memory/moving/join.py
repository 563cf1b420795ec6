"""What becomes of a row that stands here and comes in from elsewhere (pure).

What comes in widens what stands and never narrows it, and a second time it adds nothing:
``join(join(a, b), b) == join(a, b)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..episode import episode_id
from ..model import (
    Addressee,
    CoreFact,
    Episode,
    Fact,
    Forgotten,
    Mention,
    Message,
    Name,
    Participation,
    Row,
)

Numbers = dict[int, int]
Stretch = tuple[int, int, int, int]
"""Numbers of the first and last message of a stretch of a Session, old ones and new ones."""
Span = Callable[[str, int, int], Stretch | None]


def join(standing: Row | None, coming: Row) -> Row:
    """The row that is to stand."""
    if standing is None:
        return coming
    match standing, coming:
        case Name(), Name():
            return replace(
                standing,
                text=max((standing.last_at, standing.text), (coming.last_at, coming.text))[1],
                first_at=min(standing.first_at, coming.first_at),
                last_at=max(standing.last_at, coming.last_at),
            )
        case Mention(), Mention():
            return replace(
                standing,
                first_at=min(standing.first_at, coming.first_at),
                last_at=max(standing.last_at, coming.last_at),
                count=max(standing.count, coming.count),
            )
        case Participation(), Participation():
            return replace(
                standing,
                first_at=min(standing.first_at, coming.first_at),
                last_at=max(standing.last_at, coming.last_at),
                messages=max(standing.messages, coming.messages),
            )
        case Episode(), Episode():
            return _episode(standing, coming)
        case Fact(), Fact():
            return _fact(standing, coming)
        case _:
            return standing


def _episode(standing: Episode, coming: Episode) -> Episode:
    return replace(
        standing,
        ended_at=max(standing.ended_at, coming.ended_at),
        last_message=max(standing.last_message, coming.last_message),
        messages=max(standing.messages, coming.messages),
        summary=standing.summary or coming.summary,
        participants=tuple(dict.fromkeys((*standing.participants, *coming.participants))),
        parts=tuple(dict.fromkeys((*standing.parts, *coming.parts))),
    )


def _fact(standing: Fact, coming: Fact) -> Fact:
    """Whether it is in use is this memory's to say; how well it is known is both's."""
    return replace(
        standing,
        last_used=max(standing.last_used, coming.last_used),
        half_life=max(standing.half_life, coming.half_life),
        use_count=max(standing.use_count, coming.use_count),
        pinned=standing.pinned or coming.pinned,
        valid_to=coming.valid_to if standing.valid_to is None else standing.valid_to,
        supersedes=tuple(dict.fromkeys((*standing.supersedes, *coming.supersedes))),
        evidence=tuple(dict.fromkeys((*standing.evidence, *coming.evidence))),
    )


def referred(piece: Row | Message) -> tuple[int, ...]:
    """The messages that a piece refers to one by one."""
    match piece:
        case Message():
            return tuple(each.quoted for each in piece.to if each.quoted)
        case Fact() | CoreFact():
            return piece.evidence
        case Forgotten():
            return (piece.message,)
        case _:
            return ()


def renumbered(row: Row, numbers: Numbers, span: Span) -> Row | None:
    """A row for a memory in which messages have other numbers.

    Ids that are made of a message's number change with it.

    Args:
        numbers: New numbers by old ones; a message that is not there is gone.
        span: What is there of a stretch of a Session, from one old number to another.

    Returns:
        ``None`` if it was about a message that is gone.
    """
    match row:
        case Fact() | CoreFact():
            return replace(row, evidence=tuple(numbers[id] for id in row.evidence if id in numbers))
        case Forgotten():
            message = numbers.get(row.message)
            if message is None or message == row.message:
                return row if message else None
            return Forgotten.of(row.session, message)
        case Episode():
            return _restretched(row, span(row.session, row.first_message, row.last_message))
        case _:
            return row


def _restretched(row: Episode, stretch: Stretch | None) -> Episode:
    if stretch is None:  # nothing of it is left but its summary
        return replace(row, first_message=0, last_message=0)
    *old, first, last = stretch
    if old == [first, last]:
        return row
    id = row.id
    if id == episode_id(row.session, row.first_message):
        id = episode_id(row.session, first)
    return replace(row, id=id, first_message=first, last_message=last)


def renamed(row: Episode, names: dict[str, str]) -> Episode:
    """A record of episodes that have other ids now."""
    parts = tuple(names.get(id, id) for id in row.parts)
    return row if parts == row.parts else replace(row, parts=parts)


def requoted(message: Message, numbers: Numbers) -> Message:
    """A message whose quotes lead to the new numbers; 0 if what is quoted is not there."""
    to = tuple(
        Addressee(each.user, each.name, numbers.get(each.quoted, 0)) if each.quoted else each
        for each in message.to
    )
    return replace(message, to=to)
