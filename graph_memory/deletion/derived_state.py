"""Derived state of a Session: rows that rest on messages without naming them.

Some are written anew with what was learned last, each on top of the one before, so whatever
was written since a message was learned may be told by it. Others are made while an answer
is given, so any that was made since may be about it (``Basis.LEARNED``, ``Basis.MOMENT``).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..journal.rows import Draft, Rows
from ..model import Basis, Data, Message, Row, decode, kind_named, registered
from .message_retention import trimmed
from .plan import Key


@dataclass(frozen=True, slots=True)
class DerivedState:
    """What may rest on a message that is taken back.

    Attributes:
        learned: The change from which on; 0 if nothing was learned from the message.
        before: What stood before that change and was written anew since; ``None`` for
            nothing.
    """

    message: Message
    learned: int = 0
    before: dict[Key, Data | None] = field(default_factory=dict)

    @classmethod
    def of(cls, db: sqlite3.Connection, message: Message) -> DerivedState:
        """Look up what may rest on a message."""
        found = db.execute("SELECT id FROM change WHERE batch = ?", (message.batch,)).fetchone()
        if found is None:
            return cls(message)
        (learned,) = found
        before: dict[Key, Data | None] = {}
        if learned <= trimmed(db):
            # What stood before is not known any more.
            derived = [kind for kind in registered() if kind.basis is Basis.LEARNED]
            rows = [row for kind in derived for row in Rows(db).find(kind, session=message.session)]
            return cls(message, learned, {(row.kind, row.id): None for row in rows})
        needle = json.dumps(message.session, ensure_ascii=False)
        for (text,) in db.execute(
            "SELECT ops FROM change WHERE id >= ? AND instr(ops, ?) ORDER BY id", (learned, needle)
        ):
            for kind, id, was, became in json.loads(text):
                if _basis(kind) is Basis.LEARNED and (was or became)["session"] == message.session:
                    before.setdefault((kind, id), was)
        return cls(message, learned, before)

    def enter(self, db: sqlite3.Connection, draft: Draft, at: float) -> None:
        """Let what stood before stand again; what was meant since is meant no more."""
        draft.drop += [(row.kind, row.id) for row in self._made(db)]
        for (kind, id), data in self.before.items():
            if data is None:
                draft.drop.append((kind, id))
                continue
            row = decode(kind, data)
            draft.put.append(row.brought_back(Rows(db).get(type(row), id) or row, at))

    def _made(self, db: sqlite3.Connection) -> Iterator[Row]:
        for cls in [cls for cls in registered() if cls.basis is Basis.MOMENT]:
            for row in Rows(db).find(cls, session=self.message.session):
                if row.span[0] >= self.message.at:
                    yield row

    def left(self, kind: str, id: str, state: Data | None, change: int) -> Data | None:
        """What the log may keep of a state of a row that a change found or left."""
        cls = kind_named(kind)
        if state is None or cls is None or state.get("session") != self.message.session:
            return state
        goes = cls.basis is Basis.MOMENT and state[cls.times[0]] >= self.message.at
        if cls.basis is Basis.LEARNED and change >= self.learned and (kind, id) in self.before:
            stands = self.before[kind, id] or {}
            goes = any(state[field] != stands.get(field) for field in cls.words)
        return {**state, **dict.fromkeys(cls.words, "")} if goes else state


def _basis(kind: str) -> Basis:
    cls = kind_named(kind)
    return cls.basis if cls else Basis.NONE
