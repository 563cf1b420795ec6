"""Source: the databases of LivingMemory, one of messages and one of memories.

A memory sums up a stretch of a conversation, and becomes a summary in the Session it was
made in: those who were there see it, under the persona that was told.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...dates import timestamp
from ...model import BOT, Episode, stable_id
from ...text import clean
from ..intake import Skipped, SourceLine
from . import Options, Pieces, database, pages, parsed, place_of

_MESSAGES = (
    "SELECT id, session_id, role, content, sender_id, sender_name, timestamp"
    " FROM messages WHERE id > ? ORDER BY id LIMIT ?"
)
_MEMORIES = "SELECT id, text, metadata FROM documents WHERE id > ? ORDER BY id LIMIT ?"


def read_livingmemory(path: Path, options: Options) -> Pieces:
    """Messages or memories, whichever a database holds.

    Raises:
        FormatError: It holds neither.
    """
    with database(path, "messages", "documents") as (db, tables):
        if "messages" in tables:
            for row in pages(db, _MESSAGES):
                yield _message(row, options)
        if "documents" in tables:
            for row in pages(db, _MEMORIES):
                yield from _memory(row, options)


def _message(row: tuple[Any, ...], options: Options) -> SourceLine | Skipped:
    number, umo, role, content, sender, name, said_at = row
    place = place_of(umo, options.platforms)
    at = timestamp(said_at, options.zone)
    if place is None or at is None:
        return Skipped("origin" if place is None else "time")
    return SourceLine(
        key=f"{number}:{umo}:{said_at}",
        place=place,
        persona=options.persona,
        sender=BOT if role == "assistant" else str(sender or ""),
        name=str(name or ""),
        text=str(content or ""),
        at=at,
    )


def _memory(row: tuple[Any, ...], options: Options) -> Pieces:
    number, text, metadata = row
    about = parsed(metadata)
    about = about if isinstance(about, dict) else {}
    persona = about.get("persona_id")
    persona = persona if isinstance(persona, str) and persona else options.persona
    umo = about.get("source_session_id") or about.get("session_id")
    place = place_of(umo, options.platforms)
    session = place.session(persona) if place else options.session()
    told = clean(str(about.get("canonical_summary") or text or ""))
    facts = about.get("key_facts")
    more = (
        [clean(fact) for fact in facts if isinstance(fact, str)] if isinstance(facts, list) else []
    )
    summary = clean("\n".join([told, *(fact for fact in more if fact and fact not in told)]))
    at = timestamp(about.get("create_time"), options.zone)
    if session is None or not summary or at is None or about.get("status") == "deleted":
        yield Skipped("origin" if session is None else "time" if at is None else "empty")
        return
    yield session
    # The owner of a private chat took part; of a group nobody knows who did.
    people = (session.owner,) if session.owner else ()
    id = stable_id("ep", session.id, "livingmemory", str(number), summary)
    yield Episode(id, session.id, at, at, 0, 0, 0, summary=summary, participants=people)
