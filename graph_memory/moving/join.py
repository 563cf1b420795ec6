"""What becomes of a row that stands here and comes in from elsewhere (pure).

What comes in widens what stands and never narrows it, and a second time it adds nothing:
``join(join(a, b), b) == join(a, b)``.
"""

from __future__ import annotations

from dataclasses import replace

from ..model import (
    Addressee,
    Episode,
    Fact,
    Mention,
    Message,
    Name,
    Participation,
    Row,
)


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
    if isinstance(piece, Message):
        return tuple(each.quoted for each in piece.to if each.quoted)
    return piece.cited


def renamed(row: Episode, names: dict[str, str]) -> Episode:
    """A record of episodes that have other ids now."""
    parts = tuple(names.get(id, id) for id in row.parts)
    return row if parts == row.parts else replace(row, parts=parts)


def requoted(message: Message, numbers: dict[int, int]) -> Message:
    """A message whose quotes lead to the new numbers; 0 if what is quoted is not there."""
    to = tuple(
        Addressee(each.user, each.name, numbers.get(each.quoted, 0)) if each.quoted else each
        for each in message.to
    )
    return replace(message, to=to)
