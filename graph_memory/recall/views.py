"""What each asker may see of each Session, remembered until something changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping

from ..model import Asker, Change, Erased, Presence, Session
from ..scope import OPEN, Attendance, Policy, View, standpoint, view

_ASKERS = 256


class Views:
    """Views of askers. Used on the event loop only, like the attendance it reads.

    Sessions it does not know show nothing.
    """

    def __init__(self, policy: Policy, attendance: Attendance) -> None:
        self._policy = policy
        self._attendance = attendance
        self._sessions: dict[str, Session] = {}
        self._known: OrderedDict[Hashable, Mapping[str, View]] = OrderedDict()

    def learn(self, sessions: Iterable[Session]) -> None:
        """Learn of Sessions that were there before; newer states are kept."""
        for session in sessions:
            self._sessions.setdefault(session.id, session)
        self._known.clear()

    def follow(self, event: Change | Presence | Erased) -> None:
        """Take note of Sessions and comings and goings."""
        if isinstance(event, Erased):
            if event.user:
                self._attendance.forget(event.user)
            self._known.clear()
            return
        if isinstance(event, Presence):
            self._attendance.add(event)  # which does no harm if another listener did
            self._known.clear()
            return
        for op in event.ops:
            if op.kind != Session.kind:
                continue
            self._known.clear()
            if isinstance(op.row, Session):
                self._sessions[op.id] = op.row
            else:
                self._sessions.pop(op.id, None)

    def of(self, asker: Asker) -> Mapping[str, View]:
        """What ``asker`` may see, by Session id; other Sessions are hidden.

        Askers who see the same are given the same object: the members of a group.
        """
        return self._under(self._policy, asker)

    def everything(self, asker: Asker) -> Mapping[str, View]:
        """Every Session, as if there were no scope: for what only the owner looks at."""
        return self._under(OPEN, asker)

    def _under(self, policy: Policy, asker: Asker) -> Mapping[str, View]:
        key = standpoint(asker, policy)
        known = self._known.get(key)
        if known is None:
            seen = (
                (id, view(session, asker, policy, self._attendance))
                for id, session in self._sessions.items()
            )
            known = self._known[key] = {id: each for id, each in seen if each}
            if len(self._known) > _ASKERS:
                self._known.popitem(last=False)
        return known
