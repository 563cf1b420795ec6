"""What people and the model were shown, so that they can say which of it they mean.

A numbered line is meant by its number, a cited one by a short id (``m:1a2b``). Both count
only for whoever was shown them, where they were shown them: a short id of anything else
is as good as one that does not exist, or a model could forget what it never saw by an id
that it made up.

A short id is made of what it stands for. After a restart it means nothing until the same
line is shown again, and then it is the same one, which is still in the model's history.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass

from .caller import Caller

MAX_PLACES = 500
"""Askers whose lines are remembered; the one that was silent longest goes first."""
MAX_CITED = 300
"""Short ids of one asker that are remembered, the newest."""
SHORTEST = 4
"""Hexadecimal digits of a short id; more if it would stand for two things."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A line that was shown.

    Attributes:
        kind: ``fact``, ``message`` or ``episode``.
        id: Of the fact, message or episode.
    """

    kind: str
    id: str
    text: str


class Shown:
    """What was shown to whom."""

    def __init__(self) -> None:
        self._places: OrderedDict[tuple[str, str], _Place] = OrderedDict()

    def number(self, caller: Caller, lines: list[Memory]) -> None:
        """Remember a list whose lines are numbered from 1; an older list is forgotten."""
        self._place(caller).lines = lines

    def cite(self, caller: Caller, line: Memory) -> str:
        """The short id of a line that is shown now, ``m:`` and some digits."""
        return self._place(caller).cite(line)

    def numbered(self, caller: Caller, number: int) -> Memory | None:
        """The line of the last list with this number."""
        place = self._places.get(_key(caller))
        fits = place is not None and 1 <= number <= len(place.lines)
        return place.lines[number - 1] if place and fits else None

    def cited(self, caller: Caller, id: str) -> Memory | None:
        """The line that was shown with this short id, however it is written."""
        place = self._places.get(_key(caller))
        word = id.strip(" []【】()（）").casefold().replace("：", ":")
        return place.cited.get(f"m:{word.removeprefix('m:')}") if place else None

    def _place(self, caller: Caller) -> _Place:
        place = self._places.setdefault(_key(caller), _Place())
        self._places.move_to_end(_key(caller))
        while len(self._places) > MAX_PLACES:
            self._places.popitem(last=False)
        return place


class _Place:
    """What one asker was shown in one chat."""

    def __init__(self) -> None:
        self.lines: list[Memory] = []
        self.cited: OrderedDict[str, Memory] = OrderedDict()

    def cite(self, line: Memory) -> str:
        digest = hashlib.blake2b(f"{line.kind}\x1f{line.id}".encode(), digest_size=16).hexdigest()
        for digits in range(SHORTEST, len(digest) + 1):
            short = f"m:{digest[:digits]}"
            known = self.cited.get(short)
            if known is None or (known.kind, known.id) == (line.kind, line.id):
                break
        self.cited[short] = line
        self.cited.move_to_end(short)
        while len(self.cited) > MAX_CITED:
            self.cited.popitem(last=False)
        return short


def _key(caller: Caller) -> tuple[str, str]:
    return caller.user, caller.session.circle
