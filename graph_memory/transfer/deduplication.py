"""Deduplication of what comes in against what the memory holds (pure).

The other program may not know when something was said, nor by whom, and other plugins may
have put words around it before it was written down. So lines are compared from the newest
to the oldest, within the time by which each may be wrong, and in order: what was recognised
last says near where the one before it is to be found.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from ..model import (
    BOT,
    NOBODY,
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

_NEAR = 50
"""Lines before the one recognised last in which words with others around them are sought."""


class Said(NamedTuple):
    """A line of a chat window; ``at`` may be wrong by ``slack`` seconds."""

    ref: str
    sender: str
    text: str
    at: float
    slack: float = 0.0

    @property
    def is_nobodys(self) -> bool:
        """Whether nobody knows who spoke."""
        return self.sender.endswith(f":{NOBODY}")


def recognised(held: Iterable[Said], told: Callable[[], Iterable[Said]], own: str) -> set[str]:
    """References of the lines that need not come in.

    Args:
        held: What the memory holds of the chat window, under all personas.
        told: What another program holds of it, newest first; there may be more of it than
            fits into memory.
        own: Prefix of the references that earlier imports of this kind gave: what came with
            them is the same line only if its reference is.
    """
    some = list(held)
    earlier = {line.ref for line in some if line.ref.startswith(own)}
    heard = _Lines(line for line in some if line.ref not in earlier)
    known: set[str] = set()
    nobodys: list[Said] = []
    for line in told():
        if line.ref in earlier:
            continue
        if heard.take(line):
            known.add(line.ref)
        elif line.is_nobodys:
            nobodys.append(line)
    if nobodys:
        # The program may itself have written a line down twice, once with who said it.
        others = (line for line in told() if not line.is_nobodys and line.ref not in known)
        spoken = _Lines(others)
        known |= {line.ref for line in nobodys if spoken.take(line)}
    return known


class _Lines:
    """Lines, each of which can be taken once."""

    def __init__(self, lines: Iterable[Said]) -> None:
        self._lines = sorted(lines, key=lambda line: line.at)
        self._places: dict[str, list[int]] = {}
        for place, line in enumerate(self._lines):
            self._places.setdefault(line.text, []).append(place)
        self._taken: set[int] = set()
        self._last = len(self._lines)

    def take(self, told: Said) -> bool:
        """Take the line that is this one, if there is one."""
        place = next(self._same(told), None)
        if place is None:
            near = range(max(0, self._last - _NEAR), self._last)
            alike = [p for p in near if self._fits(p, told) and self._is_within(p, told)]
            place = max(alike, key=lambda p: (len(self._lines[p].text), p), default=None)
        if place is None:
            return False
        self._taken.add(place)
        alike = self._places[self._lines[place].text]
        del alike[bisect_left(alike, place)]
        self._last = place
        return True

    def _same(self, told: Said) -> Iterator[int]:
        """Places of the same words: those before the last one first, the nearest first."""
        places = self._places.get(told.text, [])
        # Of what is said every day most is not near in time.
        first = bisect_left(places, told.at - told.slack, key=lambda p: self._lines[p].at)
        last = bisect_right(places, told.at + told.slack, key=lambda p: self._lines[p].at)
        before = bisect_left(places, self._last, first, last)
        order = chain(range(before - 1, first - 1, -1), range(before, last))
        return (places[n] for n in order if self._fits(places[n], told))

    def _fits(self, place: int, told: Said) -> bool:
        line = self._lines[place]
        is_speaker = line.sender == told.sender or (told.is_nobodys and line.sender != BOT)
        return is_speaker and abs(line.at - told.at) <= told.slack and place not in self._taken

    def _is_within(self, place: int, told: Said) -> bool:
        text = self._lines[place].text
        return _holds(told.text, text) or _holds(text, told.text)


def _holds(text: str, words: str) -> bool:
    """Whether a text has some words in it that stand for themselves."""
    start = text.find(words)
    end = start + len(words)
    around = text[max(0, start - 1) : start], text[end : end + 1]
    return start >= 0 and not any(character.isalnum() for character in around)


def _known(standing: Any, coming: Any) -> Any:
    return coming if standing is None else standing


def _union(standing: tuple[Any, ...], coming: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys((*standing, *coming)))


_WIDER: dict[str, Callable[[Any, Any], Any]] = {
    "first_at": min,
    **dict.fromkeys(("last_at", "ended_at", "last_used", "last_message"), max),
    **dict.fromkeys(("count", "messages", "half_life", "use_count", "pinned", "confidential"), max),
    **dict.fromkeys(("participants", "parts", "supersedes", "awaits", "evidence"), _union),
    "valid_to": _known,
}
"""How a field of two rows is joined; every other one stays as it stands: a summary, too, which
may be empty because somebody had forgotten what it told."""
_JOINED = (Name, Mention, Participation, Episode, Fact)


def join(standing: Row | None, coming: Row) -> Row:
    """The union of two rows; what comes in never narrows what stands.

    A second time it adds nothing. Whether a fact is in use is this memory's to say.
    """
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
