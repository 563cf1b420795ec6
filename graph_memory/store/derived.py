"""Derived rows (``Basis.LEARNED``): what they were before they were rewritten.

Learning rewrites them from one batch to the next, and they name no messages. So they go back
as a whole when a message is retracted, or confided to who is not alone with the bot.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..model import Basis, Data, Row, decode, registered
from .rows import Draft, Rows, blank_log, trimmed

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Derived:
    """The derived rows of one Session.

    Attributes:
        learned: The change that learned the first of the batches; 0 if there is none.
        before: The states before it of rows rewritten since.
    """

    learned: int = 0
    before: dict[Key, Data | None] = field(default_factory=dict)

    @classmethod
    def since(cls, db: sqlite3.Connection, session: str, batches: Sequence[int]) -> Derived:
        """Look through what came of a Session since some batches were learned."""
        query = "SELECT min(id) FROM change WHERE batch IN (SELECT value FROM json_each(?))"
        (learned,) = db.execute(query, (json.dumps(batches),)).fetchone()
        before: dict[Key, Data | None] = {}
        kinds = [kind for kind in registered() if kind.basis is Basis.LEARNED]
        if learned is None:
            return cls()
        if learned <= trimmed(db):  # what stood before is not known any more
            rows = (row for kind in kinds for row in Rows(db).find(kind, session=session))
            return cls(learned, {(row.kind, row.id): None for row in rows})
        needle, names = json.dumps(session, ensure_ascii=False), {k.kind for k in kinds}
        query = "SELECT ops FROM change WHERE id >= ? AND instr(ops, ?) ORDER BY id"
        for (text,) in db.execute(query, (learned, needle)):
            for kind, id, was, became in json.loads(text):
                if kind in names and (was or became)["session"] == session:
                    before.setdefault((kind, id), was)
        return cls(learned, before)

    def bring_back(self, db: sqlite3.Connection, draft: Draft, at: float) -> None:
        """Enter what was before."""
        for (kind, id), data in self.before.items():
            if data is None:
                draft.drop.append((kind, id))
                continue
            row = decode(kind, data)
            draft.put.append(row.brought_back(Rows(db).get(type(row), id) or row, at))

    def blank(self, db: sqlite3.Connection, session: str) -> None:
        """Take the words that did not stand before out of the log."""
        query = "SELECT id FROM change WHERE id >= ? AND instr(ops, ?) ORDER BY id"
        values = (self.learned, json.dumps(session, ensure_ascii=False))
        found = db.execute(query, values).fetchall() if self.before else ()
        blank_log(db, (number for (number,) in found), self.differs)

    def differs(self, cls: type[Row], id: str, state: Data, change: int) -> bool:
        """Whether a state that a change found or left has words that did not stand before."""
        if change < self.learned or (cls.kind, id) not in self.before:
            return False
        stands = self.before[cls.kind, id] or {}
        return any(state.get(field, "") != stands.get(field, "") for field in cls.words)
