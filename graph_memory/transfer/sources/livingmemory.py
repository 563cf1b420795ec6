"""Source: the databases of LivingMemory, one of messages and one of memories.

A memory sums up a stretch of a conversation. It becomes a conversation's summary in
the Session it was made in, and so is seen by those who were there, under the persona that
was told.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from ...dates import timestamp
from ...errors import FormatError
from ...model import BOT, Episode, Session, session_of, stable_id
from ...store.connection import open_to_read
from ...text import clean
from ..intake import Skipped, SourceLine
from .source import Options, Pieces, origin, pages

_MESSAGES = (
    "SELECT id, session_id, role, content, sender_id, sender_name, timestamp"
    " FROM messages WHERE id > ? ORDER BY id LIMIT 500"
)
_MEMORIES = "SELECT id, text, metadata FROM documents WHERE id > ? ORDER BY id LIMIT 500"


class LivingMemory:
    """One of the two databases; LivingMemory may be using it meanwhile."""

    format = "livingmemory"

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, options: Options) -> Pieces:
        """Messages or memories, whichever it holds.

        Raises:
            FormatError: It holds neither.
        """
        try:
            with closing(open_to_read(self.path)) as db:
                db.execute("BEGIN")
                found = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                tables = {name for (name,) in found}
                if not tables & {"messages", "documents"}:
                    raise FormatError("this is no database of LivingMemory").told("alien")
                if "messages" in tables:
                    for row in pages(lambda after: db.execute(_MESSAGES, (after,)).fetchall()):
                        yield _message(row, options)
                if "documents" in tables:
                    for row in pages(lambda after: db.execute(_MEMORIES, (after,)).fetchall()):
                        yield from _memory(row, options)
        except sqlite3.Error as error:
            raise FormatError(f"the database cannot be read: {error}").told("unreadable") from error


def _message(row: tuple[Any, ...], options: Options) -> SourceLine | Skipped:
    number, umo, role, content, sender, name, said_at = row
    place = origin(str(umo or ""), options.platforms)
    at = timestamp(said_at, options.zone)
    if place is None or at is None:
        return Skipped("origin" if place is None else "time")
    return SourceLine(
        key=f"{number}:{umo}:{said_at}",
        platform=place.platform,
        group=place.group,
        account=place.account,
        persona=options.persona,
        sender=BOT if role == "assistant" else str(sender or ""),
        name=str(name or ""),
        text=str(content or ""),
        at=at,
        umo=place.umo,
    )


def _memory(row: tuple[Any, ...], options: Options) -> Pieces:
    number, text, metadata = row
    about = _json(metadata)
    session = _session(about, options)
    summary = _summary(str(text or ""), about)
    at = timestamp(about.get("create_time"), options.zone)
    if session is None or not summary or at is None or about.get("status") == "deleted":
        yield Skipped("origin" if session is None else "time" if at is None else "empty")
        return
    yield session
    # Whoever the private chat belongs to took part; of a group nobody knows who did.
    people = (session.owner,) if session.owner else ()
    id = stable_id("ep", session.id, "livingmemory", str(number), summary)
    yield Episode(id, session.id, at, at, 0, 0, 0, summary=summary, participants=people)


def _session(about: dict[str, Any], options: Options) -> Session | None:
    """Where a memory was made; else the circle that the owner chose, if any."""
    persona = about.get("persona_id")
    persona = persona if isinstance(persona, str) and persona else options.persona
    umo = about.get("source_session_id") or about.get("session_id") or ""
    place = origin(str(umo), options.platforms)
    if place is None:
        return options.session()
    return session_of(place.platform, place.group, place.account, persona, umo=place.umo)


def _summary(text: str, about: dict[str, Any]) -> str:
    told = clean(str(about.get("canonical_summary") or text))
    facts = about.get("key_facts")
    more = [clean(fact) for fact in facts if isinstance(fact, str)] if facts else []
    return clean("\n".join([told, *(fact for fact in more if fact and fact not in told)]))


def _json(text: Any) -> dict[str, Any]:
    try:
        data = json.loads(text) if isinstance(text, str | bytes) else None
    except (ValueError, RecursionError):
        data = None
    return data if isinstance(data, dict) else {}
