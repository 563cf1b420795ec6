"""Merging of imported rows: their union with rows that stand (pure).

What comes in widens what stands and never narrows it, and a second time it adds nothing:
``join(join(a, b), b) == join(a, b)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..model import (
    Addressee,
    Episode,
    Fact,
    Mention,
    Message,
    Name,
    Participation,
    Row,
    encode,
)


def _either(standing: Any, coming: Any) -> Any:
    return standing or coming


def _known(standing: Any, coming: Any) -> Any:
    return coming if standing is None else standing


def _union(standing: tuple[Any, ...], coming: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys((*standing, *coming)))


_WIDER: dict[str, Callable[[Any, Any], Any]] = {
    "first_at": min,
    **dict.fromkeys(("last_at", "ended_at", "last_used", "last_message"), max),
    **dict.fromkeys(("count", "messages", "half_life", "use_count"), max),
    **dict.fromkeys(("participants", "parts", "supersedes", "evidence"), _union),
    **dict.fromkeys(("summary", "pinned"), _either),
    "valid_to": _known,
}
"""How a field of two rows is joined; every other one stays as it stands."""
_JOINED = (Name, Mention, Participation, Episode, Fact)


def join(standing: Row | None, coming: Row) -> Row:
    """The row that is to stand; whether a fact is in use is this memory's to say."""
    if standing is None:
        return coming
    if not isinstance(standing, _JOINED):
        return standing
    new = encode(coming)
    wider = {
        field: rule(getattr(standing, field), getattr(coming, field))
        for field, rule in _WIDER.items()
        if field in new
    }
    if isinstance(standing, Name) and isinstance(coming, Name):
        wider["text"] = max((standing.last_at, standing.text), (coming.last_at, coming.text))[1]
    return replace(standing, **wider)


def referred(piece: Row | Message) -> tuple[int, ...]:
    """The messages that a piece refers to one by one."""
    if isinstance(piece, Message):
        return tuple(each.quoted for each in piece.to if each.quoted)
    return piece.cited


def requoted(message: Message, numbers: dict[int, int]) -> Message:
    """A message whose quotes have the new numbers; 0 if the quoted one is gone."""
    to = tuple(
        Addressee(each.user, each.name, numbers.get(each.quoted, 0)) if each.quoted else each
        for each in message.to
    )
    return replace(message, to=to)
