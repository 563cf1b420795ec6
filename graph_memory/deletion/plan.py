"""Deletion plan: what goes with a person or a message, and what is left of a row.

What a user said goes, with everything that rests on it alone; so does what is known
about them, whoever said it, and the bot's side of their conversations. What other people
said stays, word for word, and so does what the bot made of it.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter
from typing import NamedTuple

from pydantic import TypeAdapter

from ..model import (
    BOT,
    GAP,
    Data,
    Episode,
    Fact,
    Mention,
    Message,
    Name,
    encode,
    is_entity,
    kind_named,
)
from ..store.messages import answers
from ..store.rows import ASKED, PAGE, Rows, note, noted, noted_number, paged, retold, unnote
from ..text import CJK, normalise, significance, terms
from .message_retention import THINNED

Key = tuple[str, str]
_NODES = {Name.kind: "node", Mention.kind: "entity"}
_NOTE = "going:"
NOBODY = "-"
"""No user's id."""
MAX_NAMES = 50
"""Names of one person that are looked for: those borne last."""
_SHORTEST = 2
"""Characters of a name; one of them is in every other line."""
_WORD = rf"[^\W_{CJK}]"
"""A letter or digit of a script that puts spaces between words."""


class Origin(NamedTuple):
    """Where and when the first of the messages taken back was said."""

    session: str = ""
    at: float = 0.0
    batches: Sequence[int] = ()


@dataclass(slots=True)
class DeletionPlan:
    """Everything that goes with one user, or with some messages of one Session.

    Attributes:
        sessions: The user's private chats.
        ids: Of all messages that go.
        messages: Ids of the user's messages and of the answers, in order, by Session.
        lines: ``(session, id)`` of the bot's messages that go because they name the user.
        people: ``(session, entity)`` of people in others' private chats who are the user.
        patterns: What finds the user's names in a text, by Session.
        rows: ``(kind, id)`` of names and mentions that come from the user's words alone.
        at: When it was asked for, in seconds since the epoch; 0 if that is not known.
        newest: The newest change when it was made; once it is noted, that of the deletion.
        origin: Whence the messages are that are taken back.
    """

    user: str
    sessions: set[str] = field(default_factory=set)
    messages: dict[str, list[int]] = field(default_factory=dict)
    lines: set[tuple[str, int]] = field(default_factory=set)
    people: set[tuple[str, str]] = field(default_factory=set)
    patterns: dict[str, list[re.Pattern[str]]] = field(default_factory=dict)
    rows: set[Key] = field(default_factory=set)
    ids: set[int] = field(default_factory=set)
    newest: int = 0
    at: float = 0.0
    origin: Origin = field(default_factory=Origin)

    def note(self, db: sqlite3.Connection, key: str) -> None:
        """Write down what is about to go, to be finished after a kill."""
        note(db, f"{_NOTE}{key}", _format().dump_json(self).decode())

    @staticmethod
    def noted(db: sqlite3.Connection, key: str) -> DeletionPlan | None:
        """The plan that was noted, if what it says is not done."""
        found = noted(db, f"{_NOTE}{key}")
        return None if found is None else _format().validate_json(found)

    @staticmethod
    def times(db: sqlite3.Connection, prefix: str) -> dict[str, float]:
        """When what is noted under a prefix was asked for, by the rest of the key."""
        name = f"{_NOTE}{prefix}"
        query = "SELECT substr(key, ?), json_extract(value, '$.at') FROM meta WHERE key GLOB ?"
        found = db.execute(query, (len(name) + 1, f"{name}*")).fetchall()
        return {key: float(at or 0.0) for key, at in found}

    @staticmethod
    def done(db: sqlite3.Connection, key: str) -> None:
        """Delete the note: nothing is left to do."""
        unnote(db, f"{_NOTE}{key}")

    def take(self, messages: Iterable[tuple[str, int]]) -> None:
        """Let more messages, ``(session, id)``, go."""
        for session, id in messages:
            if id not in self.ids:
                self.ids.add(id)
                self.messages.setdefault(session, []).append(id)
        for ids in self.messages.values():
            ids.sort()

    @property
    def places(self) -> set[str]:
        """Ids of the Sessions in which a row may change."""
        told = (session for session, _ in self.people)
        return {*self.sessions, *self.messages, *self.patterns, *told}

    @property
    def nodes(self) -> set[str]:
        """Ids of the nodes that are the user, in one Session at least."""
        return {self.user, *(node for _, node in self.people)}

    def left(self, kind: str, id: str, data: Data | None) -> Data | None:
        """What is left of a state of a row; ``None`` if nothing is."""
        if data is None or (kind, id) in self.rows or data.get("session") in self.sessions:
            return None
        if cls := kind_named(kind):
            return cls.left(data, self)
        # Nobody knows any more what it means.
        is_theirs = self.own(data.get("session", "")) or self.user in data.values()
        return None if is_theirs else data

    def retold(self, db: sqlite3.Connection, kind: str, before: Data, left: Data) -> Data:
        """What is left of a row; a summary that lost its words tells of what is left."""
        if kind != Episode.kind or left["summary"] == before["summary"]:
            return left
        whole = Episode.of_data({**left, "summary": before["summary"]})

        def goes(said: Message) -> bool:
            return said.id in self.ids or self.is_named(said.session, f"{said.name}\n{said.text}")

        return encode(retold(Rows(db), whole, goes))

    def is_node(self, node: str, session: str) -> bool:
        """Whether a node of a Session is the user."""
        return node == self.user or (session, node) in self.people

    def is_message(self, id: int) -> bool:
        """Whether a message goes."""
        return id in self.ids

    def own(self, session: str, first: int = 0, last: int = sys.maxsize) -> int:
        """How many of the user's messages and the answers to them are in a stretch."""
        ids = self.messages.get(session, [])
        return bisect_right(ids, last) - bisect_left(ids, first)

    def naming(self, session: str, first: int, last: int) -> int:
        """How many lines of the bot in a stretch go only because they name the user."""
        return sum(place == session and first <= id <= last for place, id in self.lines)

    def is_named(self, session: str, text: str) -> bool:
        """Whether a text of a Session names the user."""
        known = self.patterns.get(session, ())
        said = normalise(text) if known else ""
        return any(pattern.search(said) for pattern in known)


@cache
def _format() -> TypeAdapter[DeletionPlan]:
    """How a plan is noted, made when there is one: it takes milliseconds."""
    return TypeAdapter(DeletionPlan)


def plan_for_user(db: sqlite3.Connection, user: str) -> DeletionPlan:
    """What goes with a user."""
    found = DeletionPlan(user, newest=Rows(db).last_change())
    owned = "SELECT id FROM row WHERE kind = 'session' AND json_extract(data, '$.owner') = ?"
    found.sessions = {id for (id,) in db.execute(owned, (user,))}
    found.take(
        db.execute(
            "SELECT session, id FROM message WHERE sender = ?"
            " OR session IN (SELECT value FROM json_each(?))",
            (user, json.dumps(sorted(found.sessions))),
        )
    )
    for session in found.messages.keys() - found.sessions:
        found.take(_answers(db, session, user))
    _find_names(db, found)
    spans = _spans_of(db, user)
    places = found.places | spans.keys()
    there = _standing(db, places, "fact", "name", "mention")
    states = _with_deleted(there, changes_about(db, found, places))
    found.rows = _coined(db, found, states, there, spans)
    return found


def with_answers(db: sqlite3.Connection, messages: Iterable[Message]) -> set[int]:
    """Ids of some messages and of the answers to them."""
    return {id for each in messages for id in (each.id, *answers(db, each))}


def plan_for_messages(db: sqlite3.Connection, messages: Sequence[Message]) -> DeletionPlan:
    """What goes with some messages of one Session and with the answers to them."""
    found, session = DeletionPlan(NOBODY), messages[0].session
    batches = sorted({each.batch for each in messages if each.batch is not None})
    found.origin = Origin(session, min(each.at for each in messages), batches)
    found.newest = Rows(db).last_change()
    found.take((session, id) for id in with_answers(db, messages))
    facts = {
        id: json.loads(text)
        for id, text in db.execute(
            "SELECT id, data FROM row WHERE kind = 'fact' AND session = ?"
            " AND (json_array_length(data, '$.supersedes') > 0 OR EXISTS"
            "  (SELECT 1 FROM json_each(data, '$.evidence')"
            "  WHERE value IN (SELECT value FROM json_each(?))))",
            (session, json.dumps([*found.ids])),
        )
    }
    there = _standing(db, [session], "name", "mention")
    there |= {(Fact.kind, id): data for id, data in facts.items()}
    query = "SELECT 0, ops FROM change WHERE batch IN (SELECT value FROM json_each(?))"
    query += " OR (reason = ? AND instr(ops, ?))"
    given = json.dumps(batches), ASKED, json.dumps(session, ensure_ascii=False)
    states = _with_deleted(there, db.execute(query, given))
    lost = {id: data["statement"] for id, data in facts.items() if not found.left("fact", id, data)}
    found.rows = {
        (Fact.kind, id)
        for id, data in facts.items()  # that something is over repeats what it was
        if any(lost.get(old) == data["statement"] for old in data["supersedes"])
    }
    found.rows |= _coined(db, found, states, there, _spans_in(db, batches))
    return found


def coined_in(db: sqlite3.Connection, gone: DeletionPlan, batches: Sequence[int]) -> set[Key]:
    """Names and mentions that came up only in some batches, or facts, that go."""
    spans = _spans_in(db, batches)
    there = _standing(db, spans, "fact", "name", "mention")
    return _coined(db, gone, there, there, spans)


def _spans_in(db: sqlite3.Connection, batches: Sequence[int]) -> Spans:
    query = "SELECT session, min(at), max(at) FROM message WHERE batch IN"
    query += " (SELECT value FROM json_each(?)) GROUP BY batch"
    return _by_session(db.execute(query, (json.dumps(batches),)))


def _answers(db: sqlite3.Connection, session: str, user: str) -> Iterator[tuple[str, int]]:
    """The bot's lines in a Session that turn to a user, or come after their words."""
    last = ""
    query = "SELECT id, sender, addressees FROM message WHERE session = ? ORDER BY id"
    for id, sender, addressees in db.execute(query, (session,)):
        if sender != BOT:
            last = sender
        elif next((to for to, *_ in json.loads(addressees)), last) == user:
            yield session, id


def _standing(db: sqlite3.Connection, sessions: Iterable[str], *kinds: str) -> dict[Key, Data]:
    """The rows of some kinds in some Sessions."""
    found = db.execute(
        "SELECT kind, id, data FROM row WHERE kind IN (SELECT value FROM json_each(?))"
        " AND session IN (SELECT value FROM json_each(?))",
        (json.dumps(kinds), json.dumps(sorted(sessions))),
    )
    return {(kind, id): json.loads(text) for kind, id, text in found}


def _with_deleted(there: dict[Key, Data], changes: Iterable[tuple[int, str]]) -> dict[Key, Data]:
    """Rows by key, and those that changes made or deleted and nobody finds any more."""
    states = dict(there)
    for _, ops in changes:
        for kind, id, before, after in json.loads(ops):
            if state := after or before:
                states.setdefault((kind, id), state)
    return states


Spans = dict[str, list[tuple[float, float]]]
"""From when to when something was said, by Session."""


def _spans_of(db: sqlite3.Connection, user: str) -> Spans:
    """Times of what was learned together with a user's words, or by their act."""
    took_part = "SELECT session FROM row WHERE kind = 'participation' AND a = :user AND a != ''"
    return _by_session(
        db.execute(
            "SELECT session, min(at), max(at) FROM message WHERE batch IN"
            " (SELECT batch FROM message WHERE sender = :user) GROUP BY batch"
            " UNION ALL SELECT session, at, at FROM message WHERE sender = :user"
            f" UNION ALL SELECT session, at, at FROM change JOIN ({took_part}) ON actor = :user"
            # Of old batches nobody knows any more who was in them (message_retention.py).
            " UNION ALL SELECT p.session, json_extract(data, '$.first_at') - :gap,"
            " coalesce((SELECT min(at) FROM message m WHERE m.session = p.session"
            " AND m.batch > :thinned), json_extract(data, '$.last_at') + :gap) FROM row p"
            " WHERE kind = 'participation' AND a = :user AND a != '' AND :thinned",
            {"user": user, "gap": GAP, "thinned": noted_number(db, THINNED)},
        )
    )


def _by_session(found: Iterable[tuple[str, float, float]]) -> Spans:
    spans: Spans = defaultdict(list)
    for session, first, last in found:
        spans[session].append((first, last))
    return spans


def _coined(
    db: sqlite3.Connection,
    gone: DeletionPlan,
    states: dict[Key, Data],
    there: Collection[Key],
    spans: Spans,
) -> set[Key]:
    """Names and mentions that came up at those times, or only in facts that go.

    A name stays if others' words have it, or as the last of what others' facts are about.
    """
    places = {
        (kind, id): (data["session"], data[_NODES[kind]])
        for (kind, id), data in states.items()
        if kind in _NODES and data["session"] not in gone.sessions
    }
    bereft = _bereft(gone, states)
    came_up = {
        key
        for key, place in places.items()
        if place[1] != gone.user and (place in bereft or _came_up(states[key], spans))
    }
    words, linked = _others(db, gone, {places[key][0] for key in came_up})
    unheard = {
        key
        for key in came_up
        if key[0] == Name.kind and not _is_heard(states[key], words[places[key][0]])
    }
    names_of: dict[tuple[str, str], set[Key]] = defaultdict(set)
    for key in places.keys() & there:
        if key[0] == Name.kind:
            names_of[places[key]].add(key)
    nameless = {place for place, names in names_of.items() if names <= unheard}
    going = unheard.difference(*(names_of[place] for place in nameless & linked))
    known = linked | (names_of.keys() - nameless)
    return going | {key for key in came_up if key[0] == Mention.kind and places[key] not in known}


def _bereft(gone: DeletionPlan, states: dict[Key, Data]) -> set[tuple[str, str]]:
    """``(session, node)`` of entities that facts which go are about."""
    return {
        (data["session"], data[end])
        for (kind, id), data in states.items()
        if kind == Fact.kind and gone.left(kind, id, data) is None
        for end in ("subject", "object")
        if is_entity(data[end])
    }


def _came_up(state: Data, spans: Spans) -> bool:
    """Whether a name or mention was new at one of some times."""
    return any(a <= state["first_at"] <= b for a, b in spans.get(state["session"], ()))


def _is_heard(name: Data, words: str) -> bool:
    """Whether some words have a name in them."""
    return bool(name["norm"]) and name["norm"] in words


def changes_about(
    db: sqlite3.Connection, gone: DeletionPlan, places: Collection[str] = (), since: int = 0
) -> Iterator[tuple[int, str]]:
    """Number and text of the changes after one that name what goes, or some places."""
    words = (*gone.nodes, *gone.places, *places)
    needles = [json.dumps(word, ensure_ascii=False) for word in words]
    query = "SELECT id, ops FROM change WHERE id > ? ORDER BY id LIMIT ?"
    pages = paged(lambda last: db.execute(query, (last, PAGE)).fetchall(), since, itemgetter(0))
    return (each for each in pages if any(needle in each[1] for needle in needles))


def _others(
    db: sqlite3.Connection, gone: DeletionPlan, sessions: set[str]
) -> tuple[dict[str, str], set[tuple[str, str]]]:
    """Normalised texts that stay, and ``(session, node)`` of facts that stay."""
    words: dict[str, list[str]] = {session: [] for session in sessions}
    linked: set[tuple[str, str]] = set()
    for session in sessions:
        for id, sender, name, text in db.execute(
            "SELECT id, sender, name, iif(id IN (SELECT json_extract(data, '$.message') FROM row"
            "  WHERE kind = 'forgotten' AND session = :session), '', text)"
            " FROM message WHERE session = :session",
            {"session": session},
        ):
            words[session] += [name] * (sender != gone.user) + [text] * (id not in gone.ids)
        for id, text in db.execute(
            "SELECT id, data FROM row WHERE kind = 'fact' AND session = ?", (session,)
        ):
            data = gone.left(Fact.kind, id, json.loads(text))
            if data is not None:
                words[session].append(data["statement"])
                linked |= {(session, data["subject"]), (session, data["object"])}
    return {session: " ".join(map(normalise, found)) for session, found in words.items()}, linked


def orphans(db: sqlite3.Connection, touched: set[str]) -> list[str]:
    """Those of some nodes that are entities and have no row left that names them."""
    return sorted(
        node
        for node in touched
        if db.execute("SELECT 1 FROM row WHERE kind = 'entity' AND id = ?", (node,)).fetchone()
        and not db.execute(
            "SELECT 1 FROM row WHERE kind IN ('fact', 'name', 'mention')"
            " AND a = :node AND a != '' UNION ALL"
            " SELECT 1 FROM row WHERE kind = 'fact' AND b = :node AND b != ''"
            " LIMIT 1",
            {"node": node},
        ).fetchone()
    )


# ------------------------------------------------------------------------------ names


@dataclass(slots=True)
class _Circle:
    """A chat: its members, and normalised names of other people and of things."""

    owner: str = ""
    sessions: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)
    people: set[str] = field(default_factory=set)
    things: set[str] = field(default_factory=set)


def _find_names(db: sqlite3.Connection, plan: DeletionPlan) -> None:
    """Find where the bot and others name the user, in a journal of any version.

    Anybody may call themselves 今天 or Al. So a name counts only where nobody else can be
    meant: as a whole name, since the user bears it, in groups where the user was and in
    private chats of people met there, if no name of somebody else contains it, and if it is
    no ordinary word: one that is common in itself (``text.significance``), or that was said
    before the user bore it, or by people who never met the user.
    """
    since = _names(db, plan.user)
    circles = _circles(db, plan.user) if since else []
    groups = [each for each in circles if plan.user in each.members and not each.owner]
    met = {plan.user}.union(*(group.members for group in groups))
    private = [
        (each, shared)
        for each in circles
        if each.owner not in ("", plan.user)
        and (shared := [group for group in groups if each.owner in group.members])
    ]
    roles = {id: "group" for group in groups for id in group.sessions}
    roles |= {id: "friend" for friend, _ in private for id in friend.sessions}
    strangers = [each for each in circles if not (each.members | {each.owner}) & met]
    roles |= {id: "stranger" for stranger in strangers for id in stranger.sessions}
    patterns = {name: pattern(name) for name in since}
    lines, ordinary = _scan(db, roles, patterns, since)

    def free(*taken: set[str]) -> list[str]:
        others = set[str]().union(*taken)
        return [
            name
            for name, whole in patterns.items()
            if name not in ordinary and not any(whole.search(other) for other in others)
        ]

    for group in groups:
        names = free(group.people, group.things)
        plan.patterns |= {id: [patterns[name] for name in names] for id in group.sessions}
        plan.lines |= {
            (place, id)
            for place, id, name in lines
            if place in group.sessions and name in names and id not in plan.ids
        }
    for friend, shared in private:
        names = free(friend.people, *(group.people | group.things for group in shared))
        plan.people |= _called(db, friend.sessions, {name: since[name] for name in names})
    plan.ids |= {id for _, id in plan.lines}


def pattern(name: str) -> re.Pattern[str]:
    """A whole name in normalised text: no letter that belongs to it stands beside it."""
    before = f"(?<!{_WORD})" if re.match(_WORD, name) else ""
    after = f"(?!{_WORD})" if re.match(_WORD, name[-1]) else ""
    return re.compile(f"{before}{re.escape(name)}{after}")


def is_ordinary(name: str) -> bool:
    """Whether a normalised name is a common word, a number or hardly anything."""
    found = terms(name)
    return len(name) < _SHORTEST or name.isdigit() or all(significance(term) < 1 for term in found)


def _names(db: sqlite3.Connection, user: str) -> dict[str, float]:
    """Since when a user bears each name, normalised; no ordinary words."""
    rows = db.execute(
        "SELECT name, min(at), max(at) FROM message WHERE sender = :user GROUP BY name UNION ALL"
        " SELECT json_extract(data, '$.text'), json_extract(data, '$.first_at'),"
        " json_extract(data, '$.last_at') FROM row"
        " WHERE kind = 'name' AND a = :user AND a != ''",
        {"user": user},
    )
    found: dict[str, tuple[float, float]] = {}
    for text, first, last in rows:
        name = normalise(text)
        if not is_ordinary(name):
            before = found.get(name, (first, last))
            found[name] = min(first, before[0]), max(last, before[1])
    latest = sorted(found, key=lambda name: -found[name][1])[:MAX_NAMES]
    return {name: found[name][0] for name in latest}


def _circles(db: sqlite3.Connection, user: str) -> list[_Circle]:
    circles: dict[str, _Circle] = defaultdict(_Circle)
    where: dict[str, _Circle] = {}
    for id, text in db.execute("SELECT id, data FROM row WHERE kind = 'session'"):
        data = json.loads(text)
        circle = where[id] = circles[data["circle"]]
        circle.owner = data["owner"]
        circle.sessions.add(id)
        circle.people.add(normalise(data["persona"]))
    for session, who, name in db.execute("SELECT DISTINCT session, sender, name FROM message"):
        circle = where.get(session, _Circle())
        circle.members |= {who} - {BOT}
        circle.people |= {normalise(name)} if name and who != user else set()
    for id, who in db.execute("SELECT DISTINCT circle, user FROM presence"):
        circles[id].members.add(who)
    names = "SELECT session, a, b FROM row WHERE kind = 'name' AND a != ?"
    for session, node, name in db.execute(names, (user,)):
        circle = where.get(session, _Circle())
        (circle.things if is_entity(node) else circle.people).add(name)
    return [circle for circle in circles.values() if circle.sessions]


def _scan(
    db: sqlite3.Connection,
    roles: dict[str, str],
    patterns: dict[str, re.Pattern[str]],
    since: dict[str, float],
) -> tuple[list[tuple[str, int, str]], set[str]]:
    """The bot's lines in groups that have a name in them, and names that are ordinary."""
    found: list[tuple[str, int, str]] = []
    ordinary: set[str] = set()
    for id, session, sender, text, at in db.execute(
        "SELECT id, session, sender, text, at FROM message ORDER BY id"
    ):
        role = roles.get(session)
        said = normalise(text) if role else ""
        for name, whole in patterns.items():
            if name not in said or not whole.search(said):
                continue
            if role == "stranger" or at < since[name]:
                ordinary.add(name)
            elif role == "group" and sender == BOT:
                found.append((session, id, name))
    return found, ordinary


def _called(
    db: sqlite3.Connection, sessions: set[str], since: dict[str, float]
) -> set[tuple[str, str]]:
    """The people in some Sessions called that since then, where nothing else is."""
    rows = db.execute(
        "WITH place AS (SELECT value FROM json_each(?))"
        " SELECT session, a, b, json_extract(data, '$.first_at'), a IN (SELECT a FROM row"
        " WHERE kind = 'mention' AND session IN place AND json_extract(data, '$.type') = 'person')"
        " FROM row WHERE kind = 'name' AND session IN place",
        (json.dumps(sorted(sessions)),),
    ).fetchall()
    others = {name for _, _, name, _, is_person in rows if not is_person}
    return {
        (session, node)
        for session, node, name, at, _ in rows
        if name in since and name not in others and at >= since[name]
    }
