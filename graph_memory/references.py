"""References to lines that people and the model were shown.

By number, or by a short id (``m:1a2b``) that is a hash of what it stands for. Both are valid
only for whoever was shown them, in that chat: a model cannot forget by an id it made up.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from .model import Episode, Turn
from .process_memory import Newest

MAX_PLACES = 500
"""Askers whose lines are kept; the one silent longest goes first."""
MAX_CITED = 300
"""Newest short ids kept of one asker."""
SHORTEST = 4
"""Hexadecimal digits of a short id, or more to be unique."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A line that was shown; ``kind`` is ``fact``, ``message`` or ``episode``."""

    kind: str
    id: str
    text: str


class References:
    """Lines that were shown, by asker.

    Args:
        can_open: Whether the chat model has tools to open a conversation record.
    """

    def __init__(self, *, can_open: bool = True) -> None:
        self._can_open = can_open
        self._places = Newest[tuple[str, str], _Place](MAX_PLACES)

    def number(self, turn: Turn, lines: list[Reference]) -> None:
        """Keep a list whose lines are numbered from 1, in place of the one before."""
        self._place(turn).lines = lines

    def replace(self, turn: Turn, line: Reference, other: Reference) -> None:
        """Let another line stand where one was listed or cited."""
        one = line.kind, line.id
        self._place(turn).change(lambda each: other if (each.kind, each.id) == one else each)

    def empty(self, is_gone: Callable[[Reference], bool]) -> None:
        """Forget the words of some lines; their numbers stay theirs."""
        for place in self._places.values():
            place.change(lambda each: replace(each, text="") if is_gone(each) else each)

    def cite(self, turn: Turn, line: Reference) -> str:
        """The short id of a line that is shown now."""
        return self._place(turn).cite(line)

    def record(self, turn: Turn, record: Episode) -> str:
        """The short id of a conversation record that is shown now."""
        return self.cite(turn, Reference(Episode.kind, record.id, record.summary))

    def citing(self, turn: Turn) -> Callable[[Episode], str] | None:
        """Gives conversation records their short ids, if the chat model can open them."""
        return partial(self.record, turn) if self._can_open else None

    def numbered(self, turn: Turn, number: int) -> Reference | None:
        """The line of the last list with this number."""
        place = self._places.get(_key(turn))
        fits = place is not None and 1 <= number <= len(place.lines)
        return place.lines[number - 1] if place and fits else None

    def cited(self, turn: Turn, id: str) -> Reference | None:
        """The line that was shown with this short id, in any spelling."""
        place = self._places.get(_key(turn))
        word = id.strip(" []【】()（）").casefold().replace("：", ":")
        return place.cited.get(f"m:{word.removeprefix('m:')}") if place else None

    def _place(self, turn: Turn) -> _Place:
        place = self._places[_key(turn)] = self._places.get(_key(turn)) or _Place()
        return place


class _Place:
    """What one asker was shown in one chat."""

    def __init__(self) -> None:
        self.lines: list[Reference] = []
        self.cited = Newest[str, Reference](MAX_CITED)

    def change(self, changed: Callable[[Reference], Reference]) -> None:
        self.lines = [changed(line) for line in self.lines]
        self.cited.update([(short, changed(line)) for short, line in self.cited.items()])

    def cite(self, line: Reference) -> str:
        digest = hashlib.blake2b(f"{line.kind}\x1f{line.id}".encode(), digest_size=16).hexdigest()
        for digits in range(SHORTEST, len(digest) + 1):
            short = f"m:{digest[:digits]}"
            known = self.cited.get(short)
            if known is None or (known.kind, known.id) == (line.kind, line.id):
                break
        self.cited[short] = line
        return short


def _key(turn: Turn) -> tuple[str, str]:
    return turn.user, turn.session.circle
