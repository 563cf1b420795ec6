"""Source: AstrBot's history, two tables of ``data_v4.db``.

A conversation keeps its lines without times and, in a group, without speakers, unless
AstrBot shows them to the model: then a reminder beside the user's words has them. Between
the times that are known, lines are spread over runs, as people talk in conversations.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from itertools import pairwise
from pathlib import Path
from typing import Any

from ...dates import timestamp
from ...locales import in_all
from ...model import BOT
from ...text import clean
from ..intake import EXACT, Skipped, SourceLine
from . import Options, Pieces, database, objects, pages, parsed, place_of

RUN = 20
"""Lines that are taken for one conversation if nobody knows."""
PACE = 10.0
"""Seconds between them."""
_HOSTS = re.compile(
    r"\s*(?:<system_reminder>|<Quoted Message>|<image_caption>|<memories>"
    r"|\[(?:(?:Image|Audio|Video|File) Attachment\b|(?:Image|Voice) unavailable\]"
    r"|Image Captioning Failed\]|Image from tool '|SYSTEM NOTICE|CronJob\]|BackgroundTask\])"
    r"|Our previous history conversation summary:|Acknowledged the summary of our previous conv"
    r"|(?:\[图片\]|\[音频\]|<attachment>|Stop output\.|Output stopped\.)\s*$"
    r"|Output your last task result below\.\s*$)"
)
"""What AstrBot, or this plugin, puts beside what was said begins with it, or is no more."""
_UNSAID = {*in_all("care_turn").values(), *in_all("control_silent").values()}
"""What stands in the history for who said nothing."""
_SPEAKER = re.compile(r"\s*<system_reminder>User ID: ([^,\n]+), Nickname: ([^\n<]*)")
_OLD_SPEAKER = re.compile(r"\s*\[User ID: ([^,\n]+), Nickname: ([^\n]*)\]\n")
_TIME = re.compile(
    r"\s*<system_reminder>(?:User ID: .*\n)?(?:Group name: .*\n)?"
    r"Current datetime: (\d{4}-\d\d-\d\d \d\d:\d\d)"
)
_CONVERSATIONS = (
    "SELECT inner_conversation_id, conversation_id, user_id, persona_id, content, created_at,"
    " updated_at FROM conversations WHERE inner_conversation_id > ?"
    " ORDER BY inner_conversation_id LIMIT ?"
)
_HISTORY = (
    "SELECT id, user_id, sender_id, sender_name, content, created_at"
    " FROM platform_message_history WHERE id > ? AND user_id LIKE '%:GroupMessage:%'"
    " ORDER BY id LIMIT ?"
)
_PLATFORMS = "SELECT platform_id, platform_type FROM platform_stats ORDER BY id"


@dataclass(slots=True)
class _HistoryLine:
    """One line of a conversation; what is not known is empty."""

    role: str
    text: str
    account: str = ""
    name: str = ""
    at: float | None = None


def read_astrbot_history(path: Path, options: Options) -> Pieces:
    """What people and the bot said in every conversation.

    Raises:
        FormatError: It is not AstrBot's database.
    """
    with database(path, "conversations") as (db, tables):
        if "platform_stats" in tables:
            with suppress(sqlite3.OperationalError):  # of another version
                counted = dict(db.execute(_PLATFORMS))
                options = replace(options, platforms={**counted, **options.platforms})
        for row in pages(db, _CONVERSATIONS, 20):
            yield from _conversation(row, options)
        for row in pages(db, _HISTORY) if "platform_message_history" in tables else ():
            yield _heard(row, options)


def _conversation(row: tuple[Any, ...], options: Options) -> Pieces:
    _, id, umo, persona, content, created, updated = row
    place = place_of(umo, options.platforms)
    said = list(_said(content, options.zone))
    if place is None:
        yield Skipped("origin", len(said))
        return
    if content and not isinstance(parsed(content), list):
        yield Skipped("broken")
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
            place=place,
            persona=persona or options.persona,
            sender=BOT if each.role == "assistant" else each.account,
            name=each.name,
            text=each.text,
            at=at,
            slack=slack,
            is_to_bot=True,
        )


def _heard(row: tuple[Any, ...], options: Options) -> SourceLine | Skipped:
    """A line of a group that AstrBot kept with its speaker."""
    number, umo, sender, name, content, created = row
    place = place_of(umo, options.platforms)
    data = parsed(content)
    if place is None or not place.group or not isinstance(data, dict):
        return Skipped("broken" if place and place.group else "origin")
    text = ""
    for part in objects(data.get("message")):
        if part.get("type") == "plain":
            text += str(part.get("text") or "")
        elif part.get("type") == "at":
            text += f"@{part.get('name') or part.get('user_id') or ''} "
    return SourceLine(
        key=f"heard:{number}",
        place=place,
        persona=options.persona,
        sender=BOT if data.get("type") == "bot" else str(sender or ""),
        name=str(name or ""),
        text=text,
        at=_utc(created),
    )


def _said(content: Any, zone: tzinfo) -> Iterator[_HistoryLine]:
    """What people and the bot said, of all that a conversation keeps."""
    for turn in objects(parsed(content)):
        if turn.get("role") not in ("user", "assistant"):
            continue
        said, words = _HistoryLine(turn["role"], ""), turn.get("content")
        for part in objects([{"text": words}] if isinstance(words, str) else words):
            if isinstance(part.get("text"), str):
                _read(said, part["text"], zone)
        said.text = clean(said.text)
        if said.text:
            yield said


def is_said(text: str) -> bool:
    """Whether a part of AstrBot's history is what somebody said."""
    return not _HOSTS.match(text) and text.strip() not in _UNSAID


def _read(said: _HistoryLine, text: str, zone: tzinfo) -> None:
    """Add a part of a turn: words, or what AstrBot put beside them."""
    if not is_said(text):
        if said.role == "user" and (found := _SPEAKER.match(text)):
            said.account, said.name = found[1].strip(), found[2].strip()
        if said.role == "user" and (found := _TIME.match(text)):
            said.at = timestamp(found[1], zone)
        return
    if said.role == "user" and (found := _OLD_SPEAKER.match(text)):
        said.account, said.name = found[1].strip(), found[2].strip()
        text = text[found.end() :]
    said.text = f"{said.text}\n{text}" if said.text else text


def _times(said: list[_HistoryLine], start: float, end: float) -> Iterator[tuple[float, float]]:
    """When each line was said, and by how much that may be wrong; never going back."""
    # What is known stays where it is; the answer to it comes right after it.
    known = {0: start, len(said): end}
    known |= {number: each.at for number, each in enumerate(said) if each.at is not None}
    last = 0.0
    for first, following in pairwise(sorted(known)):
        count = following - first
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
