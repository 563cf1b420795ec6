"""Source: AstrBot's history, two tables of ``data_v4.db``.

A conversation keeps its lines without times and, in a group, without speakers, unless
AstrBot was told to show them to the model: then a reminder beside the user's words has them.
Between the times that are known the lines are laid out in runs, because they were said in
conversations, not one by one.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from itertools import pairwise
from pathlib import Path
from typing import Any

from ...dates import timestamp
from ...errors import FormatError
from ...model import BOT
from ...store.connection import open_to_read
from ...text import clean
from ..intake import EXACT, Skipped, SourceLine
from .source import Options, Pieces, origin, pages

RUN = 20
"""Lines that are taken for one conversation if nobody knows."""
PACE = 10.0
"""Seconds between them."""
_SPEAKER = re.compile(r"User ID: ([^,\n]+), Nickname: ([^\n<]*)")
_OLD_SPEAKER = re.compile(r"\s*\[User ID: ([^,\n]+), Nickname: ([^\n]*)\]\n")
_TIME = re.compile(r"Current datetime: (\d{4}-\d\d-\d\d \d\d:\d\d)")
_NOT_SAID = ("<system_reminder>", "<Quoted Message>", "<image_caption>", "<memories>")
_COLUMNS = {
    "conversations": {"conversation_id", "user_id", "content", "persona_id", "created_at"},
    "platform_message_history": {"platform_id", "user_id", "content", "sender_id", "created_at"},
}


@dataclass(slots=True)
class _HistoryLine:
    """One line of a conversation; what is not known is empty."""

    role: str
    text: str
    account: str = ""
    name: str = ""
    at: float | None = None


class AstrBotHistory:
    """AstrBot's database. AstrBot may be using it meanwhile."""

    format = "astrbot"

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, options: Options) -> Pieces:
        """What people and the bot said in every conversation.

        Raises:
            FormatError: It is not AstrBot's database.
        """
        try:
            with closing(open_to_read(self.path)) as db:
                db.execute("BEGIN")
                if not _has(db, "conversations"):
                    raise FormatError(
                        "this is not AstrBot's database: it has no conversations"
                    ).told("alien")
                options = replace(options, platforms={**_platforms(db), **options.platforms})
                for row in pages(lambda after: db.execute(_CONVERSATIONS, (after,)).fetchall()):
                    yield from _conversation(row, options)
                if _has(db, "platform_message_history"):
                    for row in pages(lambda after: db.execute(_HISTORY, (after,)).fetchall()):
                        yield _heard(row, options)
        except sqlite3.Error as error:
            raise FormatError(f"the database cannot be read: {error}").told("unreadable") from error


def _conversation(row: tuple[Any, ...], options: Options) -> Pieces:
    _, id, umo, persona, content, created, updated = row
    place = origin(str(umo), options.platforms)
    said = list(_said(content, options.zone))
    if place is None:
        yield Skipped("origin", len(said))
        return
    speakers = {each.account for each in said if each.account}
    if not place.group and len(speakers) == 1:
        # On some platforms a private chat has a number of its own.
        place = replace(place, account=speakers.pop())
    start = _utc(created)
    seen: Counter[tuple[str, str]] = Counter()
    for each, (at, slack) in zip(said, _times(said, start, max(start, _utc(updated))), strict=True):
        seen[each.role, each.text] += 1
        yield SourceLine(
            key=f"{id}:{each.role}:{seen[each.role, each.text]}:{each.text}",
            platform=place.platform,
            group=place.group,
            account=place.account,
            persona=persona or options.persona,
            sender=BOT if each.role == "assistant" else each.account,
            name=each.name,
            text=each.text,
            at=at,
            slack=slack,
            umo=place.umo,
        )


def _heard(row: tuple[Any, ...], options: Options) -> SourceLine | Skipped:
    """A line of a group that AstrBot kept with its speaker."""
    number, umo, sender, name, content, created = row
    place = origin(str(umo), options.platforms)
    data = _json(content)
    if place is None or not place.group or not isinstance(data, dict):
        return Skipped("origin")
    parts = data.get("message")
    return SourceLine(
        key=f"heard:{number}",
        platform=place.platform,
        group=place.group,
        account="",
        persona=options.persona,
        sender=BOT if data.get("type") == "bot" else str(sender or ""),
        name=str(name or ""),
        text=_chain(parts if isinstance(parts, list) else []),
        at=_utc(created),
        umo=place.umo,
    )


_CONVERSATIONS = (
    "SELECT inner_conversation_id, conversation_id, user_id, persona_id, content, created_at,"
    " updated_at FROM conversations WHERE inner_conversation_id > ?"
    " ORDER BY inner_conversation_id LIMIT 20"
)
_HISTORY = (
    "SELECT id, user_id, sender_id, sender_name, content, created_at"
    " FROM platform_message_history WHERE id > ? AND user_id LIKE '%:GroupMessage:%'"
    " ORDER BY id LIMIT 200"
)


def _has(db: sqlite3.Connection, table: str) -> bool:
    found = db.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
    return {name for (name,) in found} >= _COLUMNS[table]


def _platforms(db: sqlite3.Connection) -> dict[str, str]:
    """Type of every platform AstrBot has counted messages of, by id."""
    table = db.execute("SELECT name FROM pragma_table_info('platform_stats')").fetchall()
    if not {("platform_id",), ("platform_type",)} <= set(table):
        return {}
    return dict(
        db.execute("SELECT platform_id, platform_type FROM platform_stats ORDER BY id").fetchall()
    )


def _json(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str | bytes) else None
    except (ValueError, RecursionError):
        return None


def _said(content: Any, zone: tzinfo) -> Iterator[_HistoryLine]:
    """What people and the bot said, of all that a conversation keeps."""
    turns = _json(content)
    for turn in turns if isinstance(turns, list) else []:
        if not isinstance(turn, dict) or turn.get("role") not in ("user", "assistant"):
            continue
        said = _HistoryLine(turn["role"], "")
        for text in _texts(turn.get("content")):
            _read(said, text, zone)
        said.text = clean(said.text)
        if said.text:
            yield said


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    found = (part.get("text") for part in parts if isinstance(part, dict))
    return [text for text in found if isinstance(text, str)]


def _read(said: _HistoryLine, text: str, zone: tzinfo) -> None:
    """Add a part of a turn: words, or what AstrBot put beside them."""
    if said.role == "user" and text.lstrip().startswith("<system_reminder>"):
        if found := _SPEAKER.search(text):
            said.account, said.name = found[1].strip(), found[2].strip()
        if found := _TIME.search(text):
            said.at = timestamp(found[1], zone)
        return
    if text.lstrip().startswith(_NOT_SAID):
        return
    if said.role == "user" and (found := _OLD_SPEAKER.match(text)):
        said.account, said.name = found[1].strip(), found[2].strip()
        text = text[found.end() :]
    said.text = f"{said.text}\n{text}" if said.text else text


def _times(said: list[_HistoryLine], start: float, end: float) -> Iterator[tuple[float, float]]:
    """When each line was said, and by how much that may be wrong.

    Never before the one it follows, so that they stay in order.
    """
    # What is known stays where it is; the answer to it comes right after it.
    known = {0: start, len(said): end}
    known |= {number: each.at for number, each in enumerate(said) if each.at is not None}
    marks = sorted(known)
    last = 0.0
    for first, following in pairwise(marks):
        count = following - first
        if not count:
            continue
        length = max(0.0, known[following] - known[first])
        runs = -(-count // RUN)
        pace = min(PACE, length / count)
        is_exact = said[first].at is not None
        for place in range(count):
            at = known[first] + length * (place // RUN) / runs + pace * (place % RUN)
            last = max(last, at)
            yield last, EXACT if is_exact and place < 2 else length + EXACT


def _utc(value: Any) -> float:
    """AstrBot writes its times down in UTC, without saying so."""
    found = timestamp(value, UTC)
    return found if found is not None else datetime(2020, 1, 1, tzinfo=UTC).timestamp()


def _chain(parts: list[Any]) -> str:
    """The words of a message that AstrBot kept part by part."""
    found: list[str] = []
    for part in parts:
        if not isinstance(part, dict):
            continue
        if part.get("type") == "plain":
            found.append(str(part.get("text") or ""))
        elif part.get("type") == "at":
            found.append(f"@{part.get('name') or part.get('user_id') or ''} ")
    return "".join(found)
