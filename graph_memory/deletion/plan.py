"""Deletion plan: what goes with a person or a message, and what is left of a row.

What a user said goes, with everything that rests on it alone; so does what is known
about them, whoever said it, and the bot's side of their conversations. What other people
said stays, word for word, and so does what the bot made of it.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace

from ..episode import GAP
from ..model import BOT, EPISODE, Data, Fact, Mention, Message, Name, is_entity, kind_named
from ..store.messages import answers
from ..text import normalise
from .message_retention import thinned, trimmed
from .name_search import Named, search

Key = tuple[str, str]
_NODES = {Name.kind: "node", Mention.kind: "entity"}
NOBODY = "-"
"""No user's id."""


@dataclass(slots=True)
class DeletionPlan:
    """Everything that goes with one user, or with one message.

    Attributes:
        sessions: The user's private chats.
        messages: Ids of the user's messages and of the bot's answers, in order, by Session.
        named: Where the user is named by the bot, or told of by others.
        rows: ``(kind, id)`` of names and mentions that come from the user's words alone.
    """

    user: str
    sessions: set[str] = field(default_factory=set)
    messages: dict[str, list[int]] = field(default_factory=dict)
    named: Named = field(default_factory=Named)
    rows: set[Key] = field(default_factory=set)
    _ids: set[int] = field(default_factory=set)

    def take(self, messages: Iterable[tuple[str, int]]) -> None:
        """Let more messages go."""
        found: dict[str, list[int]] = defaultdict(list, self.messages)
        for session, id in messages:
            if id not in self._ids:
                self._ids.add(id)
                found[session].append(id)
        self.messages = {session: sorted(ids) for session, ids in found.items()}

    def take_named(self, named: Named) -> None:
        """Let go what names the user; conversations without the user stay otherwise."""
        lines = [line for line in named.lines if line[1] not in self._ids]
        self.named = replace(named, lines=lines)
        self._ids.update(id for _, id in lines)

    @property
    def ids(self) -> set[int]:
        """Ids of all messages that go."""
        return self._ids

    @property
    def places(self) -> set[str]:
        """Ids of the Sessions in which a row may change."""
        lines = (session for session, _ in self.named.lines)
        nodes = (session for session, _ in self.named.nodes)
        return {*self.sessions, *self.messages, *self.named.patterns, *lines, *nodes}

    @property
    def nodes(self) -> set[str]:
        """Ids of the nodes that are the user, in one Session at least."""
        return {self.user, *(node for _, node in self.named.nodes)}

    def left(self, kind: str, id: str, data: Data | None) -> Data | None:
        """What is left of a state of a row; ``None`` if nothing is."""
        if data is None or (kind, id) in self.rows or data.get("session") in self.sessions:
            return None
        if cls := kind_named(kind):
            return cls.left(data, self)
        # Nobody knows any more what it means.
        is_theirs = self.own(data.get("session", "")) or self.user in data.values()
        return None if is_theirs else data

    def is_node(self, node: str, session: str) -> bool:
        """Whether a node of a Session is the user."""
        return node == self.user or (session, node) in self.named.nodes

    def is_message(self, id: int) -> bool:
        """Whether a message goes."""
        return id in self._ids

    def own(self, session: str, first: int = 0, last: int = sys.maxsize) -> int:
        """How many of the user's messages and of the answers to them are in a stretch."""
        return _within(self.messages.get(session, []), first, last)

    def naming(self, session: str, first: int, last: int) -> int:
        """How many of the bot's lines in a stretch name the user, and go for that alone."""
        return sum(place == session and first <= id <= last for place, id in self.named.lines)

    def is_named(self, session: str, text: str) -> bool:
        """Whether a text of a Session names the user."""
        return self.named.is_in(session, text)


def _within(ids: list[int], first: int, last: int) -> int:
    """How many of some ids, in order, are in a range."""
    return bisect_right(ids, last) - bisect_left(ids, first)


def plan_for_user(db: sqlite3.Connection, user: str) -> DeletionPlan:
    """What goes with a user."""
    found = DeletionPlan(user)
    owned = "SELECT id FROM row WHERE kind = 'session' AND json_extract(data, '$.owner') = ?"
    found.sessions = {id for (id,) in db.execute(owned, (user,))}
    said = db.execute("SELECT DISTINCT session FROM message WHERE sender = ?", (user,)).fetchall()
    found.take(db.execute("SELECT session, id FROM message WHERE sender = ?", (user,)))
    for session in found.sessions:
        found.take(db.execute("SELECT session, id FROM message WHERE session = ?", (session,)))
    for (session,) in said:
        found.take(_answers(db, session, user))
    found.take_named(search(db, user))
    found.rows = _coined(db, found, *_learned_with(db, found))
    return found


def plan_for_message(db: sqlite3.Connection, message: Message) -> DeletionPlan:
    """What goes with a single message and with the answers to it."""
    found, session = DeletionPlan(NOBODY), message.session
    found.take([(session, id) for id in (message.id, *answers(db, message))])
    facts = [
        (id, json.loads(text))
        for id, text in db.execute(
            "SELECT id, data FROM row INDEXED BY row_session WHERE kind = 'fact' AND session = ?",
            (session,),
        )
    ]
    lost = {id: data["statement"] for id, data in facts if found.left(Fact.kind, id, data) is None}
    found.rows = {
        (Fact.kind, id)
        for id, data in facts  # that something is over repeats what it was
        if any(lost.get(old) == data["statement"] for old in data["supersedes"])
    }
    found.rows |= _coined(db, found, *_named_first_in(db, found, message))
    return found


def _answers(db: sqlite3.Connection, session: str, user: str) -> Iterator[tuple[str, int]]:
    """The bot's lines in a Session that may be about what a user said there.

    They are context for learning and never recalled; so all of the conversations go in
    which the user took part, and all that follow the user's lines.
    """
    spans = sorted(
        (data["first_message"], data["last_message"])
        for (text,) in db.execute(
            "SELECT data FROM row WHERE kind = 'episode' AND session = ?"
            " AND json_extract(data, '$.level') = ?",
            (session, EPISODE),
        )
        if user in (data := json.loads(text))["participants"]
    )
    last, before, is_involved = "", 0.0, False
    for id, sender, at, batch in db.execute(
        "SELECT id, sender, at, batch FROM message WHERE session = ? ORDER BY id", (session,)
    ):
        is_involved = sender == user or (is_involved and abs(at - before) < GAP)
        before = at
        while spans and spans[0][1] < id:
            del spans[0]
        if sender != BOT:
            last = sender
        # What is not learned yet is in no episode.
        elif last == user or (batch is None and is_involved) or (spans and spans[0][0] <= id):
            yield session, id


def _coined(
    db: sqlite3.Connection, gone: DeletionPlan, names: dict[str, Data], mentions: dict[str, Data]
) -> set[Key]:
    """Those of some names and mentions that are there only because of what goes.

    A name that was learned together with the user's words, or is of something of which
    only the user's facts told, stays if somebody else's
    words have it, too, or if it is the last by which somebody else's facts are known.
    """
    if not names and not mentions:
        return set()
    sessions = {data["session"] for data in (*names.values(), *mentions.values())}
    words, linked = _others(db, gone, sessions)
    found: set[Key] = {
        (Name.kind, id)
        for id, data in names.items()
        if not data["norm"] or data["norm"] not in words[data["session"]]
    }
    standing: dict[tuple[str, str], list[str]] = defaultdict(list)
    for id, text in db.execute("SELECT id, data FROM row WHERE kind = 'name'"):
        data = json.loads(text)
        if data["session"] in sessions and data["node"] != gone.user:
            standing[data["session"], data["node"]].append(id)
    for (session, node), ids in standing.items():
        if (session, node) in linked and all((Name.kind, id) in found for id in ids):
            found -= {(Name.kind, id) for id in ids}
    named = {
        place for place, ids in standing.items() if not all((Name.kind, id) in found for id in ids)
    }
    found |= {
        (Mention.kind, id)
        for id, data in mentions.items()
        if not {(data["session"], data["entity"])} & (named | linked)
    }
    return found


def _learned_with(
    db: sqlite3.Connection, gone: DeletionPlan
) -> tuple[dict[str, Data], dict[str, Data]]:
    """Names and mentions, by id, that were first learned with the user.

    That is in batches with the user in them, or of entities of facts that go. The log has
    them all, deleted ones included; of old ones it does not tell
    (``message_retention.trim_log``) those count that came up while the user took part.
    """
    took_part = {
        session: (first - GAP, last + GAP)
        for session, first, last in db.execute(
            "SELECT session, json_extract(data, '$.first_at'), json_extract(data, '$.last_at')"
            " FROM row WHERE kind = 'participation' AND a = ? AND a != ''",
            (gone.user,),
        )
    }
    found, made, bereft = _logged(db, gone, took_part)
    for kind, id, data in _named_in(db, took_part):
        first, last = took_part[data["session"]]
        if (kind, id) not in made and data[_NODES[kind]] != gone.user:
            found[kind, id] = data, first <= data["first_at"] <= last
    return _by_kind(
        (kind, id, data)
        for (kind, id), (data, is_with_user) in found.items()
        if is_with_user
        or (is_entity(data[_NODES[kind]]) and (data["session"], data[_NODES[kind]]) in bereft)
    )


def _logged(
    db: sqlite3.Connection, gone: DeletionPlan, took_part: Collection[str]
) -> tuple[dict[Key, tuple[Data, bool]], set[Key], set[tuple[str, str]]]:
    """Names and mentions of the change log.

    Returns:
        Names and mentions with whether they were learned with the user; those of which the
        log knows when they were made; entities of facts that go.
    """
    with_user = _changes_with(db, gone.user)
    found: dict[Key, tuple[Data, bool]] = {}
    made: set[Key] = set()
    bereft: set[tuple[str, str]] = set()
    for number, ops in changes_about(db, gone, with_user, took_part):
        for kind, id, before, after in json.loads(ops):
            if kind in _NODES and before is None:
                made.add((kind, id))
            if after is None or after.get("session") in gone.sessions:
                continue
            if kind == Fact.kind and gone.left(kind, id, after) is None:
                bereft |= {(after["session"], after[end]) for end in ("subject", "object")}
            elif kind in _NODES and after[_NODES[kind]] != gone.user:
                known = found.get((kind, id), (after, False))[1]
                found[kind, id] = after, known or (before is None and number in with_user)
    return found, made, bereft


def _changes_with(db: sqlite3.Connection, user: str) -> set[int]:
    """The changes by a user, and those learned from batches that may have them in it."""
    found = db.execute(
        "SELECT id FROM change WHERE actor = :user OR batch IN"
        " (SELECT batch FROM message WHERE sender = :user AND batch IS NOT NULL"
        # Of old batches nobody knows any more who was in them.
        "  UNION SELECT id FROM batch WHERE id <= :thinned AND session IN"
        "  (SELECT session FROM row WHERE kind = 'participation' AND a = :user AND a != ''))",
        {"user": user, "thinned": thinned(db)},
    )
    return {number for (number,) in found}


def _named_in(db: sqlite3.Connection, sessions: Iterable[str]) -> Iterator[tuple[str, str, Data]]:
    """The names and mentions of some Sessions."""
    for session in sessions:
        for kind, id, text in db.execute(
            "SELECT kind, id, data FROM row INDEXED BY row_session"
            " WHERE kind IN ('name', 'mention') AND session = ?",
            (session,),
        ).fetchall():
            yield kind, id, json.loads(text)


def _by_kind(
    rows: Iterable[tuple[str, str, Data]],
) -> tuple[dict[str, Data], dict[str, Data]]:
    """Names by id, and mentions by id."""
    found: dict[str, dict[str, Data]] = {Name.kind: {}, Mention.kind: {}}
    for kind, id, data in rows:
        found[kind][id] = data
    return found[Name.kind], found[Mention.kind]


def changes_about(
    db: sqlite3.Connection,
    gone: DeletionPlan,
    also: Collection[int] = (),
    places: Collection[str] = (),
) -> Iterator[tuple[int, str]]:
    """Number and text of the changes in which something may go, and of some others."""
    words = (*gone.nodes, *gone.places, *places)
    needles = [json.dumps(word, ensure_ascii=False) for word in words]
    for number, ops in db.execute("SELECT id, ops FROM change ORDER BY id"):
        if number in also or any(needle in ops for needle in needles):
            yield number, ops


def _named_first_in(
    db: sqlite3.Connection, gone: DeletionPlan, message: Message
) -> tuple[dict[str, Data], dict[str, Data]]:
    """Names and mentions, by id, that were learned together with a message.

    Of its Session, also those of entities of facts that go with it.
    """
    query = "SELECT id, ops FROM change WHERE batch = ?"
    number, ops = db.execute(query, (message.batch,)).fetchone() or (0, "[]")
    made = {(kind, id) for kind, id, was, _ in json.loads(ops) if was is None}
    is_trimmed = 0 < number <= trimmed(db)
    facts = db.execute(
        "SELECT id, data FROM row INDEXED BY row_session WHERE kind = 'fact' AND session = ?",
        (message.session,),
    )
    bereft = {
        data[end]
        for id, data in ((id, json.loads(text)) for id, text in facts)
        if gone.left(Fact.kind, id, data) is None
        for end in ("subject", "object")
        if is_entity(data[end])
    }
    return _by_kind(
        (kind, id, data)
        for kind, id, data in _named_in(db, [message.session])
        if (kind, id) in made
        or data[_NODES[kind]] in bereft
        or (is_trimmed and abs(data["first_at"] - message.at) < GAP)
    )


def _others(
    db: sqlite3.Connection, gone: DeletionPlan, sessions: set[str]
) -> tuple[dict[str, str], set[tuple[str, str]]]:
    """Texts that stay, by Session, normalised.

    And the (Session, node) of facts that stay.
    """
    words: dict[str, list[str]] = {session: [] for session in sessions}
    linked: set[tuple[str, str]] = set()
    for session in sessions:
        for id, name, text in db.execute(
            "SELECT id, name, text FROM message WHERE session = ?", (session,)
        ):
            if id not in gone.ids:
                words[session].append(f"{name}\n{text}")
        for id, text in db.execute(
            "SELECT id, data FROM row WHERE kind = 'fact' AND session = ?", (session,)
        ):
            data = gone.left(Fact.kind, id, json.loads(text))
            if data is not None:
                words[session].append(data["statement"])
                linked |= {(session, data["subject"]), (session, data["object"])}
    return {session: normalise("\n".join(found)) for session, found in words.items()}, linked


def orphans(db: sqlite3.Connection, touched: set[str]) -> list[str]:
    """Those of some nodes that are entities and have no row left that names them."""
    return sorted(
        node
        for node in touched
        if db.execute("SELECT 1 FROM row WHERE kind = 'entity' AND id = ?", (node,)).fetchone()
        and not db.execute(
            "SELECT 1 FROM row INDEXED BY row_a WHERE kind IN ('fact', 'name', 'mention')"
            " AND a = :node AND a != '' UNION ALL"
            " SELECT 1 FROM row INDEXED BY row_b WHERE kind = 'fact' AND b = :node AND b != ''"
            " LIMIT 1",
            {"node": node},
        ).fetchone()
    )
