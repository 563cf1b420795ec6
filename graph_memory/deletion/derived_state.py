"""Derived state of a Session: rows that rest on messages without naming them.

These are inner state, mood and follow-ups.

The first two are written anew with what was learned last, each on top of the one before, so
whatever was written since a message was learned may be told by it. A follow-up is meant
while an answer is given, so any that was meant since may be about it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..journal.rows import Draft, Rows
from ..model import FollowUp, InnerState, Message, Mood, decode
from .plan import PARTS, Data, Key

_REWRITTEN = (InnerState.kind, Mood.kind)


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
        needle = json.dumps(message.session, ensure_ascii=False)
        for (text,) in db.execute(
            "SELECT ops FROM change WHERE id >= ? AND instr(ops, ?) ORDER BY id", (learned, needle)
        ):
            for kind, id, was, became in json.loads(text):
                if kind in _REWRITTEN and (was or became)["session"] == message.session:
                    before.setdefault((kind, id), was)
        return cls(message, learned, before)

    def enter(self, db: sqlite3.Connection, draft: Draft, at: float) -> None:
        """Let what stood before stand again; what was meant since is meant no more."""
        draft.drop += [(FollowUp.kind, row.id) for row in self._meant(db)]
        for (kind, id), data in self.before.items():
            if data is None:
                draft.drop.append((kind, id))
                continue
            row = decode(kind, data)
            if isinstance(row, InnerState):
                # A version of its own, so that none in between can be had by an undo.
                current = Rows(db).get(InnerState, id) or row
                row = replace(row, version=current.version + 1, at=at)
            draft.put.append(row)

    def _meant(self, db: sqlite3.Connection) -> Iterator[FollowUp]:
        for row in Rows(db).find(FollowUp, session=self.message.session):
            if row.created_at >= self.message.at:
                yield row

    def left(self, kind: str, id: str, state: Data | None, change: int) -> Data | None:
        """What the log may keep of a state of a row that a change found or left."""
        if state is None or state.get("session") != self.message.session:
            return state
        if kind == FollowUp.kind and state["created_at"] >= self.message.at:
            return {**state, "reason": ""}
        if kind == InnerState.kind and change >= self.learned and (kind, id) in self.before:
            stands = self.before[kind, id] or {}
            if any(state[part] != stands.get(part) for part in PARTS):
                return {**state, **dict.fromkeys(PARTS, "")}
        return state
