"""Personal export: what one asker may see, decided row by row as in recall.

No numbers of anything that others said get in, not even ids, which tell how much there is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import datetime, tzinfo
from typing import Any

from ..model import Asker, Episode, Fact, Forgotten, Message, Session, Status, registered
from ..scope import Attendance, Policy, Rank, View, span, view
from ..store import Rows, contents
from .file_format import line

FORMAT = "graph-memory-mine"
VERSION = 1


def lines(
    db: sqlite3.Connection, asker: Asker, policy: Policy, attendance: Attendance, zone: tzinfo
) -> Iterator[str]:
    """The lines of a file: facts, summaries and messages, Session by Session."""
    yield line({"kind": "header", "format": FORMAT, "version": VERSION})
    seen = [
        (session, found)
        for session in contents.sessions(db).values()
        if (found := view(session, asker, policy, attendance))
    ]
    rows = Rows(db)
    replaced = {
        old
        for session, sight in seen
        for fact in rows.find(Fact, session=session.id)
        if _shows(sight, fact)
        for old in fact.supersedes
    }
    count = 1
    for session, sight in seen:
        for data in _session(db, session, sight, replaced, asker):
            count += 1
            data["time"] = datetime.fromtimestamp(data.pop("at"), zone).isoformat()
            yield line({**data, "chat": session.title or _place(session)})
    yield line({"kind": "end", "lines": count})


def _place(session: Session) -> str:
    return session.circle.split(":", 1)[-1]


def _shows(sight: View, row: Fact | Episode | Message) -> bool:
    return sight.rank(*span(row)) is not Rank.HIDDEN


def _session(
    db: sqlite3.Connection, session: Session, sight: View, replaced: set[str], asker: Asker
) -> Iterator[dict[str, Any]]:
    rows = Rows(db)
    facts = [f for f in rows.find(Fact, session=session.id) if f.status == Status.ACTIVE]
    for fact in sorted(facts, key=lambda fact: (fact.said_at, fact.id)):
        if _shows(sight, fact):
            more = {"outdated": True} if fact.id in replaced else {}
            yield {"kind": "fact", "at": fact.said_at, "text": fact.statement, **more}
    yield from _own(rows, session, sight, asker)
    episodes = [e for e in rows.find(Episode, session=session.id) if e.summary]
    for episode in sorted(episodes, key=lambda episode: (episode.started_at, episode.id)):
        if _shows(sight, episode):
            yield {"kind": "summary", "at": episode.started_at, "text": episode.summary}
    muted = {each.message for each in rows.find(Forgotten, session=session.id)}
    for said in contents.messages_of(db, [session.id]):
        # As in recall: the bot's own lines are none of its memories.
        if said.is_human and said.id not in muted and _shows(sight, said):
            yield {"kind": "message", "at": said.at, "name": said.name, "text": said.text}


def _own(rows: Rows, session: Session, sight: View, asker: Asker) -> Iterator[dict[str, Any]]:
    """What is kept of who asks and shown to nobody else (``Row.exported``)."""
    for kind in registered():
        if not kind.exported:
            continue
        own = [
            row
            for row in rows.find(kind, session=session.id)
            if all(getattr(row, field) in asker.accounts for field in kind.nodes)
            and sight.rank(*span(row)) is Rank.OWN
        ]
        for row in sorted(own, key=lambda row: (row.span, row.id)):
            if text := getattr(row, kind.words[0]):
                yield {"kind": kind.exported, "at": row.span[0], "text": text}
