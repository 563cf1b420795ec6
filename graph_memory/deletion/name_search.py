"""Search for a person's names in what the bot wrote and what others told.

Names are free: anybody may call themselves 今天 or Al, and then ask to be forgotten. So a
name counts only where nobody else can be meant by it: in the circles where the person
was, as a whole name, since they bear it, if nobody else there has it in theirs, and if it
is no ordinary word: one that is common in itself (``stopwords.py``), or that was used
before they bore it, or by people who never met them.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import defaultdict
from dataclasses import dataclass, field

from ..model import BOT, Data, EntityType, Name, is_entity
from ..stopwords import weight
from ..text import CJK, normalise, terms

MAX_NAMES = 50
"""Names of one person that are looked for: those borne last."""
_SHORTEST = 2
"""Characters of a name; one of them is in every other line."""
_WORD = rf"[^\W_{CJK}]"
"""A letter or digit of a script that puts spaces between words."""


@dataclass(frozen=True, slots=True)
class Named:
    """Where the bot wrote a person's names, and where others told of them by name.

    Attributes:
        lines: ``(session, id)`` of the bot's messages.
        nodes: ``(session, entity)`` of people in others' private chats who are this person.
    """

    lines: list[tuple[str, int]] = field(default_factory=list)
    nodes: set[tuple[str, str]] = field(default_factory=set)
    patterns: dict[str, list[re.Pattern[str]]] = field(default_factory=dict)

    def is_in(self, session: str, text: str) -> bool:
        """Whether a text of a Session names the person."""
        known = self.patterns.get(session)
        return bool(known and text) and any(p.search(normalise(text)) for p in known or ())


@dataclass(frozen=True, slots=True)
class _Places:
    """The Sessions, by what they are to a person.

    Attributes:
        groups: Those of groups where the person was, by circle.
        friends: Private ones of people who were in such a group, by circle, with the groups.
        strangers: Those that nobody shares with the person.
    """

    groups: dict[str, set[str]]
    friends: dict[str, tuple[set[str], set[str]]]
    strangers: set[str]


def search(db: sqlite3.Connection, user: str) -> Named:
    """Where a user is named.

    Args:
        db: A journal of any version.
        user: User id.
    """
    since = _names(db, user)
    if not since:
        return Named()
    places = _places(db, user)
    patterns = {name: pattern(name) for name in since}
    people, things = _taken(db, user)
    candidates, ordinary = _scan(db, places, patterns, since)

    def free(others: set[str]) -> set[str]:
        return {
            name
            for name, whole in patterns.items()
            if name not in ordinary and not any(whole.search(other) for other in others)
        }

    here = {circle: free(people[circle] | things[circle]) for circle in places.groups}
    by_session = {
        session: here[circle] for circle, sessions in places.groups.items() for session in sessions
    }
    nodes: set[tuple[str, str]] = set()
    for circle, (sessions, shared) in places.friends.items():
        alone = free(people[circle]).intersection(*(here[group] for group in shared))
        nodes |= _told(db, sessions, {name: since[name] for name in alone})
    return Named(
        sorted({(place, id) for place, id, name in candidates if name in by_session[place]}),
        nodes,
        {session: [patterns[name] for name in names] for session, names in by_session.items()},
    )


def pattern(name: str) -> re.Pattern[str]:
    """A whole name in normalised text: no letter that belongs to it stands beside it."""
    before = f"(?<!{_WORD})" if re.match(_WORD, name) else ""
    after = f"(?!{_WORD})" if re.match(_WORD, name[-1]) else ""
    return re.compile(f"{before}{re.escape(name)}{after}")


def is_ordinary(name: str) -> bool:
    """Whether a normalised name is a common word, a number or hardly anything."""
    found = terms(name)
    return len(name) < _SHORTEST or name.isdigit() or all(weight(term) < 1 for term in found)


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


def _places(db: sqlite3.Connection, user: str) -> _Places:
    circles: dict[str, set[str]] = defaultdict(set)
    owner: dict[str, str] = {}
    for id, text in db.execute("SELECT id, data FROM row WHERE kind = 'session'"):
        data = json.loads(text)
        circles[data["circle"]].add(id)
        owner[data["circle"]] = data["owner"]
    where = {session: circle for circle, sessions in circles.items() for session in sessions}
    people: dict[str, set[str]] = defaultdict(set)
    spoke = "SELECT DISTINCT session, sender FROM message WHERE sender != ?"
    for session, sender in db.execute(spoke, (BOT,)):
        people[where.get(session, "")].add(sender)
    for circle, who in db.execute("SELECT DISTINCT circle, user FROM presence"):
        people[circle].add(who)
    groups = {c: circles[c] for c, who in people.items() if user in who and not owner.get(c, user)}
    friends = {
        circle: (circles[circle], shared)
        for circle, who in owner.items()
        if who not in ("", user) and (shared := {g for g in groups if who in people[g]})
    }
    met = {who for circle in groups for who in people[circle]} | {user}
    strangers = {
        session
        for circle, sessions in circles.items()
        if not (people[circle] | {owner[circle]}) & met
        for session in sessions
    }
    return _Places(groups, friends, strangers)


def _taken(db: sqlite3.Connection, user: str) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Normalised names of other people and personas, and of things, by circle."""
    people: dict[str, set[str]] = defaultdict(set)
    things: dict[str, set[str]] = defaultdict(set)
    circle = "SELECT json_extract(s.data, '$.circle')"
    for place, persona in db.execute(
        f"{circle}, json_extract(s.data, '$.persona') FROM row s WHERE kind = 'session'"
    ):
        people[place].add(normalise(persona))
    for place, name in db.execute(
        f"{circle}, m.name FROM row s JOIN (SELECT DISTINCT session, name FROM message"
        " WHERE sender != ? AND name != '') m ON m.session = s.id WHERE s.kind = 'session'",
        (user,),
    ):
        people[place].add(normalise(name))
    for place, node, name in db.execute(
        f"{circle}, n.a, n.b FROM row n JOIN row s ON s.kind = 'session' AND s.id = n.session"
        " WHERE n.kind = 'name' AND n.a != ?",
        (user,),
    ):
        (things if is_entity(node) else people)[place].add(name)
    return people, things


def _scan(
    db: sqlite3.Connection,
    places: _Places,
    patterns: dict[str, re.Pattern[str]],
    since: dict[str, float],
) -> tuple[list[tuple[str, int, str]], set[str]]:
    """The bot's lines that have a name in them, and the names that are ordinary words."""
    groups = {session for sessions in places.groups.values() for session in sessions}
    friends = {session for sessions, _ in places.friends.values() for session in sessions}
    found: list[tuple[str, int, str]] = []
    ordinary: set[str] = set()
    for id, session, sender, text, at in db.execute(
        "SELECT id, session, sender, text, at FROM message ORDER BY id"
    ):
        if session not in groups and session not in friends and session not in places.strangers:
            continue
        said = normalise(text)
        for name, whole in patterns.items():
            if name not in said or not whole.search(said):
                continue
            if session in places.strangers or at < since[name]:
                ordinary.add(name)
            elif sender == BOT and session in groups:
                found.append((session, id, name))
    return found, ordinary


def _told(
    db: sqlite3.Connection, sessions: set[str], since: dict[str, float]
) -> set[tuple[str, str]]:
    """The people in some Sessions who are called that since then, and nothing else is."""
    persons: set[str] = set()
    called: dict[str, list[Data]] = defaultdict(list)
    for session in sessions if since else ():
        for kind, text in db.execute(
            "SELECT kind, data FROM row WHERE kind IN ('name', 'mention') AND session = ?",
            (session,),
        ):
            data = json.loads(text)
            if kind == Name.kind:
                called[data["norm"]].append(data)
            elif data["type"] == EntityType.PERSON.value:
                persons.add(data["entity"])
    found: set[tuple[str, str]] = set()
    for name, first in since.items():
        if {row["node"] for row in called[name]} <= persons:
            found |= {
                (row["session"], row["node"]) for row in called[name] if row["first_at"] >= first
            }
    return found
