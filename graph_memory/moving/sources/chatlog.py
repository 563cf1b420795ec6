"""Plain chat, one line of JSON each: ``{"time", "sender", "name", "text", "group"?}``.

``docs/data-format.md`` says what else a line may have.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...errors import FormatError
from ...model import BOT
from ..format import MAX_KEY, MAX_TEXT, is_storable, parse
from ..history import History, Line
from ..stage import Stage
from .base import Options, Stop, moment
from .own import lines_of

_OPTIONAL = ("name", "group", "private", "platform", "persona", "id", "title")


class ChatLog:
    """A file of chat lines."""

    format = "chat"

    def __init__(self, path: Path) -> None:
        self.path = path

    def fill(self, stage: Stage, history: History, options: Options, stop: Stop) -> None:
        """Stage every line.

        Raises:
            FormatError: One is not as it should be.
            ClosedError: ``stop`` was set.
        """
        with self.path.open("rb") as file:
            for number, text in enumerate(lines_of(file), 1):
                if number % 500 == 0:
                    stop.look()
                if not text.strip():
                    continue
                data = parse(text, number)
                history.add(_line(data, options, number), repeats="id" not in data)
        history.finish()


def _line(data: dict[str, Any], options: Options, number: int) -> Line:
    for name in ("sender", "text", *_OPTIONAL):
        value = data.get(name, "")
        if isinstance(value, int) and not isinstance(value, bool) and name != "text":
            data[name] = value = str(value)  # accounts are often written as numbers
        limit = MAX_TEXT if name == "text" else MAX_KEY
        if not isinstance(value, str) or len(value) > limit or not is_storable(value):
            raise FormatError("is no text, or too long", number, name)
    at = moment(data.get("time"), options.zone)
    if at is None:
        raise FormatError("is no time", number, "time").told("no_time")
    if "text" not in data:
        raise FormatError("is missing", number, "text").told("missing")
    sender = data.get("sender", "")
    if not sender:
        raise FormatError("is missing", number, "sender").told("missing")
    if sender in options.bots:
        sender = BOT
    platform = data.get("platform", "") or options.platform
    if not platform:
        raise FormatError("is missing, and the import names none", number, "platform")
    group = data.get("group", "")
    account = "" if group else data.get("private", "") or sender
    if account == BOT:
        raise FormatError("is missing: whose private chat is this?", number, "private").told(
            "missing"
        )
    where = f"{platform}:{group}:{account}"
    return Line(
        key=data.get("id") or f"{where}:{sender}:{at}:{data['text']}",
        platform=platform,
        group=group,
        account=account,
        persona=data.get("persona", "") or options.persona,
        sender=sender,
        name=data.get("name", ""),
        text=data["text"],
        at=at,
        title=data.get("title", ""),
    )
