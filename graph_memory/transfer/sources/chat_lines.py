"""Source: plain chat, a line of JSON for each message (``docs/data-format.md``)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from ...dates import timestamp
from ...errors import FormatError
from ...model import BOT
from ..file_format import Key, Text, lines_of, parse, validate
from ..intake import ChatWindow, SourceLine
from . import Options, Pieces


class ChatLine(BaseModel):
    """One line; accounts are often written as numbers."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    sender: Key = ""
    text: Annotated[Text, Field(strict=True)] = ""
    name: Key = ""
    group: Key = ""
    private: Key = ""
    platform: Key = ""
    persona: Key = ""
    id: Key = ""
    title: Key = ""


def read_chat_lines(path: Path, options: Options) -> Pieces:
    """Every line.

    Raises:
        FormatError: One is not as it should be.
    """
    with path.open("rb") as file:
        for number, text in enumerate(lines_of(file), 1):
            if text.strip():
                try:
                    yield _line(parse(text, number), options)
                except FormatError as error:
                    raise error.at(number) from None


def _line(data: dict[str, Any], options: Options) -> SourceLine:
    at = timestamp(data.get("time"), options.zone)
    if at is None:
        raise FormatError("is no time", 0, "time").told("no_time")
    line: ChatLine = validate(ChatLine, data)
    sender = BOT if line.sender in options.bots else line.sender
    into = None if line.group or line.private else options.place()
    platform = line.platform or (into.platform if into else options.platform)
    group = into.group if into else line.group
    account = into.account if into else "" if group else line.private or sender
    missing = {
        "text": "text" not in data,
        "sender": not sender,
        "platform": not platform or ":" in platform,  # which no id could be read with
        "private": account == BOT,  # whose private chat is this?
    }
    for field in (name for name, is_missing in missing.items() if is_missing):
        raise FormatError("is missing", 0, field).told("missing")
    return SourceLine(
        key=line.id or f"{platform}:{group}:{account}:{sender}:{at}:{line.text}",
        place=ChatWindow(platform, group, account, title=line.title),
        persona=line.persona or options.persona,
        sender=sender,
        name=line.name,
        text=line.text,
        at=at,
        repeats="id" not in data,
    )
