"""The few things about a user that are always in view: numbered, few, the useful stay.

There are at most :data:`MOST` of each user in each Session. What is new takes the place of
what was of use longest ago; what somebody pinned is neither replaced nor reworded by
learning.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from ..journal import Draft, Rows
from ..model import stable_id
from ..text import normalise, one_line
from .companion_rows import CoreFact, CoreKind

MOST = 30
MAX_TEXT = 100
"""Characters of one."""
MAX_EVIDENCE = 20
"""Messages that one cites; with any of them it goes."""

_KINDS = {
    "事实": CoreKind.FACT, "时刻": CoreKind.MOMENT, "回忆": CoreKind.MOMENT,
    "event": CoreKind.MOMENT, "情绪": CoreKind.FEELING, "感受": CoreKind.FEELING,
    "feelings": CoreKind.FEELING, "emotion": CoreKind.FEELING, "成长": CoreKind.GROWTH,
}  # fmt: skip


def kind_of(word: str) -> CoreKind:
    """The kind that a model means; a plain fact if it means none."""
    word = normalise(word)
    try:
        return CoreKind(word)
    except ValueError:
        return _KINDS.get(word, CoreKind.FACT)


def standing(rows: Rows, session: str, users: Iterable[str]) -> list[CoreFact]:
    """The core facts about some users in a Session, by number."""
    found = rows.find(CoreFact, session=session)
    wanted = set(users)
    kept = [row for row in found if row.user in wanted and row.text]
    return sorted(kept, key=lambda row: (row.user, row.number, row.id))


class Shelf:
    """The core facts about one user in one Session, on their way into a draft.

    Args:
        now: When what is put there is of use.
    """

    def __init__(self, rows: Rows, session: str, user: str, now: float) -> None:
        self._session = session
        self._user = user
        self._now = now
        self._before = {row.id: row for row in standing(rows, session, [user])}
        self._rows = dict(self._before)

    def find(self, number: int) -> CoreFact | None:
        """The one with a number."""
        return next((row for row in self._rows.values() if row.number == number), None)

    def rests_on(self, messages: Collection[int]) -> bool:
        """Whether one of them rests on one of some messages."""
        return any(set(messages) & set(row.evidence) for row in self._rows.values())

    def add(
        self,
        text: str,
        kind: CoreKind,
        at: float,
        evidence: tuple[int, ...],
        *,
        pinned: bool = False,
    ) -> bool:
        """Put one there, or use the one that says the same; false if there is no room."""
        text = one_line(text, MAX_TEXT)
        same = next((r for r in self._rows.values() if normalise(r.text) == normalise(text)), None)
        if same is not None or not text:
            if same is not None:
                self._use(same, evidence)
            return same is not None
        number = self._room()
        if number is None:
            return False
        id = stable_id("c", self._session, self._user, normalise(text), str(evidence[:1]))
        self._rows[id] = CoreFact(
            id, self._session, self._user, number, kind.value, text, at, self._now, pinned,
            evidence[:MAX_EVIDENCE],
        )  # fmt: skip
        return True

    def reword(
        self, ids: Iterable[str], text: str, kind: CoreKind, at: float, evidence: tuple[int, ...]
    ) -> bool:
        """Let some say one thing from now on: the first stays, the others go.

        Returns:
            False if none of them stands, or somebody pinned all that do.
        """
        free = [row for id in dict.fromkeys(ids) if (row := self._rows.get(id)) and not row.pinned]
        text = one_line(text, MAX_TEXT)
        if not free or not text:
            return False
        first, *others = free
        cited = dict.fromkeys((*(id for row in free for id in row.evidence), *evidence))
        for row in others:
            del self._rows[row.id]
        self._rows[first.id] = replace(
            first,
            type=kind.value,
            text=text,
            at=at,
            used_at=max(self._now, first.used_at),
            evidence=tuple(cited)[-MAX_EVIDENCE:],
        )
        return True

    def use(self, ids: Iterable[str]) -> None:
        """Note that some were of use."""
        for id in ids:
            if row := self._rows.get(id):
                self._use(row, ())

    def put(self, row: CoreFact) -> None:
        """Let one stand as its owner wants it."""
        self._rows[row.id] = row

    def drop(self, id: str) -> None:
        """Let one go."""
        self._rows.pop(id, None)

    def write(self, draft: Draft) -> None:
        """Enter what is to stand into a draft."""
        draft.drop += [(CoreFact.kind, id) for id in self._before.keys() - self._rows.keys()]
        draft.put += [row for id, row in self._rows.items() if self._before.get(id) != row]

    def _use(self, row: CoreFact, evidence: tuple[int, ...]) -> None:
        cited = tuple(dict.fromkeys((*row.evidence, *evidence)))[-MAX_EVIDENCE:]
        self._rows[row.id] = replace(row, used_at=max(self._now, row.used_at), evidence=cited)

    def _room(self) -> int | None:
        """A number that is free, or made so."""
        taken = {row.number for row in self._rows.values()}
        free = next((number for number in range(1, MOST + 1) if number not in taken), None)
        if free is not None:
            return free
        idle = min(
            (row for row in self._rows.values() if not row.pinned),
            key=lambda row: (row.used_at, row.at, row.number),
            default=None,
        )
        if idle is None:
            return None
        del self._rows[idle.id]
        return idle.number
