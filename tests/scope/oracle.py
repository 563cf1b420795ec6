"""A second, naive reading of the rules of layered sharing, and stripping by it.

Written from the memory model and nothing else: it imports nothing of the code that it
judges and works on the rows as the journal's file holds them. It is slow and plain on
purpose; should it disagree with ``graph_memory/privacy/scope.py``, one of the two is wrong.
"""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Data = dict[str, Any]

OWN, FOREIGN, HIDDEN = "own", "foreign", "hidden"
SAID = dict.fromkeys(("name", "mention", "participation"), ("first_at", "first_at")) | {
    "fact": ("said_at", "said_at"),
    "episode": ("started_at", "ended_at"),
    "follow_up": ("created_at", "created_at"),
}
"""From when to when it was said what a row holds, by its kind; others have one time."""


@dataclass(frozen=True)
class Rules:
    """The settings that decide, in the words of the settings."""

    sharing: str = "layered"
    cross_persona: bool = False
    audience: str = "participants"
    space: frozenset[str] = frozenset()
    """Circles of groups that the owner made one."""


@dataclass(frozen=True)
class Listener:
    """Who will read the answer: in private one person with all accounts, else a group."""

    circle: str
    is_group: bool
    persona: str
    accounts: frozenset[str]


@dataclass
class Record:
    """Everything that a journal's file holds."""

    rows: dict[tuple[str, str], Data] = field(default_factory=dict)
    messages: dict[int, Data] = field(default_factory=dict)
    presences: list[tuple[str, str, float, float | None]] = field(default_factory=list)

    def of(self, kind: str) -> list[Data]:
        return [row for (each, _), row in self.rows.items() if each == kind]


def read(path: Path) -> Record:
    with closing(sqlite3.connect(path)) as db:
        db.row_factory = sqlite3.Row
        record = Record()
        for row in db.execute("SELECT kind, id, data FROM row"):
            record.rows[row["kind"], row["id"]] = json.loads(row["data"])
        for row in db.execute("SELECT * FROM message"):
            record.messages[row["id"]] = dict(row)
        record.presences = [
            tuple(row) for row in db.execute("SELECT circle, user, since, until FROM presence")
        ]
        return record


class Judge:
    """What one listener may be reminded of."""

    def __init__(self, record: Record, listener: Listener, rules: Rules) -> None:
        self._record = record
        self._listener = listener
        self._rules = rules

    def row(self, kind: str, row: Data) -> str:
        """How a row that belongs to a Session stands to the listener."""
        if kind == "forgotten":  # it says something about a message and goes with it
            message = self._record.messages.get(row["message"])
            return self.message(message) if message else HIDDEN
        begun, ended = SAID.get(kind, ("at", "at"))
        said = row[begun], row[ended]
        about_user = kind == "fact" and not row["subject"].startswith("e:")
        return self._stand(row["session"], said, about_user, row.get("confidential", False))

    def message(self, message: Data) -> str:
        """How a message stands to the listener."""
        asked = self._answered(message) if message["sender"] == "bot" else None
        if asked and self.message(asked) == HIDDEN:
            return HIDDEN
        kept = message["sender"] != "bot" and "别告诉" in message["text"]
        kept = kept or bool(message["confided"])
        return self._stand(message["session"], (message["at"], message["at"]), False, kept)

    def _answered(self, line: Data) -> Data | None:
        """What somebody said within ten minutes before a line of the bot, last of all."""
        to = json.loads(line["addressees"])
        before = [
            each
            for id, each in self._record.messages.items()
            if each["session"] == line["session"] and id < line["id"]
            if each["sender"] != "bot" and each["at"] > line["at"] - 600
            if not to or each["sender"] == to[0][0]
        ]
        return max(before, key=lambda each: int(each["id"]), default=None)

    def _stand(
        self, session_id: str, said: tuple[float, float], about_user: bool, kept: bool
    ) -> str:
        session = self._record.rows.get(("session", session_id))
        if session is None or not self._heard(session, said):
            return HIDDEN
        if kept:  # told in confidence: to the teller alone, by the persona that was told
            listener = self._listener
            is_teller = not listener.is_group and session["owner"] in listener.accounts
            if not is_teller or self._persona(session, False) != OWN:
                return HIDDEN
        return self._persona(session, about_user)

    def _heard(self, session: Data, said: tuple[float, float]) -> bool:
        """Only before people who were there."""
        listener, space = self._listener, self._rules.space
        if self._rules.audience == "off":
            return True
        one = space if session["circle"] in space else {session["circle"]}
        is_private = session["owner"] != ""
        if listener.is_group:
            return not is_private and listener.circle in one
        if is_private:
            if session["owner"] not in listener.accounts:
                return False
            with_whom = session["circle"].split(":")[1]  # of ours: nobody in particular, or one
            return with_whom in ("private", listener.circle.split(":")[1])
        for circle, user, since, until in self._record.presences:
            if circle not in one or user not in listener.accounts:
                continue
            if since <= said[0] and (until is None or said[1] <= until):
                return True
        return False

    def _persona(self, session: Data, about_user: bool) -> str:
        if session["persona"] == self._listener.persona or self._rules.sharing == "shared":
            return OWN
        if self._rules.sharing == "layered" and about_user:
            return OWN
        return FOREIGN if self._rules.cross_persona else HIDDEN


def joined(record: Record, kind: str, one: str, other: str) -> list[frozenset[str]]:
    """What the owner said is one: sets of nodes, from rows with two of them each."""
    groups: list[frozenset[str]] = []
    for row in record.of(kind):
        pair = frozenset((row[one], row[other]))
        touched = [group for group in groups if group & pair]
        groups = [group for group in groups if group not in touched]
        groups.append(pair.union(*touched))
    return groups


def accounts_of(record: Record, user: str) -> frozenset[str]:
    """All accounts of one person."""
    groups = joined(record, "link", "a", "b")
    return next((group for group in groups if user in group), frozenset((user,)))


COMPANION = ("core_fact", "mood", "inner_state", "follow_up")
SCOPED = ("fact", "episode", "name", "mention", "participation", "forgotten", *COMPANION)


def strip(source: Path, target: Path, listener: Listener, rules: Rules, own: str) -> set[str]:
    """Copy a journal's file without whatever the listener may not see.

    A merge is there for those who know two of the things that are one, a link for the
    person whose accounts it joins.

    Args:
        own: Id of the Session in which is asked; it exists because somebody asks there.

    Returns:
        Ids of the facts that are gone.
    """
    with closing(sqlite3.connect(source)) as db, closing(sqlite3.connect(target)) as copy:
        db.backup(copy)
    record = read(target)
    judge = Judge(record, listener, rules)
    kept = {
        (kind, id)
        for (kind, id), row in record.rows.items()
        if kind in SCOPED and judge.row(kind, row) != HIDDEN
    }
    heard = {id for id, message in record.messages.items() if judge.message(message) != HIDDEN}
    seen = [record.rows[key] for key in kept] + [record.messages[id] for id in heard]
    alive = _nodes(seen) | listener.accounts
    sessions = {each["session"] for each in seen} | {own}
    known = {
        node
        for group in joined(record, "merge", "node", "into")
        if len(group & alive) > 1
        for node in group
    }
    kept |= {
        (kind, id)
        for (kind, id), row in record.rows.items()
        if (kind == "session" and id in sessions)
        or (kind in ("user", "entity") and id in alive)
        or (kind == "merge" and row["node"] in known)
        or (kind == "link" and row["a"] in listener.accounts)
    }
    with closing(sqlite3.connect(target, isolation_level=None)) as copy:
        copy.execute("BEGIN")
        for kind, id in record.rows.keys() - kept:
            copy.execute("DELETE FROM row WHERE kind = ? AND id = ?", (kind, id))
        for id in record.messages.keys() - heard:
            copy.execute("DELETE FROM message WHERE id = ?", (id,))
        copy.execute("DELETE FROM batch WHERE id NOT IN (SELECT batch FROM message)")
        for circle, user, since, _ in record.presences:
            if user not in listener.accounts:
                copy.execute(
                    "DELETE FROM presence WHERE circle = ? AND user = ? AND since = ?",
                    (circle, user, since),
                )
        copy.execute("DELETE FROM vector")
        for kind, id in copy.execute("SELECT kind, id FROM pause").fetchall():
            if id not in listener.accounts | {listener.circle}:
                copy.execute("DELETE FROM pause WHERE kind = ? AND id = ?", (kind, id))
        _strip_changes(copy, judge, record)
        copy.execute("COMMIT")
    return {id for kind, id in record.rows.keys() - kept if kind == "fact"}


def _nodes(seen: Iterable[Data]) -> set[str]:
    """The nodes that rows and messages speak of."""
    keys = ("subject", "object", "node", "entity", "user", "sender")
    return {each[key] for each in seen for key in keys if each.get(key)}


def _strip_changes(copy: sqlite3.Connection, judge: Judge, record: Record) -> None:
    """Leave of every change what it did to rows that may be seen."""
    for id, ops in copy.execute("SELECT id, ops FROM change").fetchall():
        left: list[list[Any]] = []
        for kind, key, before, after in json.loads(ops):
            states = [state for state in (before, after) if state]
            if kind in SCOPED and any(judge.row(kind, state) != HIDDEN for state in states):
                left.append([kind, key, before, after])
        if left:
            copy.execute("UPDATE change SET ops = ? WHERE id = ?", (json.dumps(left), id))
        else:
            copy.execute("DELETE FROM change WHERE id = ?", (id,))
