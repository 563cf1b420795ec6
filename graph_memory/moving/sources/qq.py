"""QQChatExporter: one JSON file of a chat, or the manifest of one that was cut in pieces.

Whoever exported it is ``self``. If that is not the bot, a private chat of theirs is none of
the bot's, unless it is with the bot: so the owner has to say which account the bot has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from ...errors import FormatError
from ...model import BOT, GROUP, PRIVATE
from ..history import History, Line
from ..stage import Stage
from .base import Options, Stop, moment, split_circle
from .streams import JsonReader

PLATFORM = "aiocqhttp"
_CHUNKED = "chunked"
_PICTURE = re.compile(r"\[(?:图片|表情|动画表情|视频|语音|文件|商城表情)[^\]\n]{0,80}\]")


class QQChat:
    """One exported chat."""

    format = "qq"

    def __init__(self, path: Path) -> None:
        self.path = path

    def fill(self, stage: Stage, history: History, options: Options, stop: Stop) -> None:
        """Stage every message that somebody said.

        Raises:
            FormatError: It is no such export, or nobody says which chat it is.
            ClosedError: ``stop`` was set.
        """
        chat: _Chat | None = None
        is_read = False
        with _open(self.path) as file:
            reader = JsonReader(file)
            for name in reader.members():
                if name == "messages":
                    if chat is None:
                        raise FormatError(
                            "is missing or comes after the messages", 0, "chatInfo"
                        ).told("missing")
                    for number, item in enumerate(reader.items(), 1):
                        if number % 500 == 0:
                            stop.look()
                        chat.add(history, item, f"messages[{number}]")
                    is_read = True
                    break  # what follows are pictures of people
                value = reader.value()
                if name == "chatInfo":
                    chat = _Chat(value, options)
                elif name == _CHUNKED and chat is not None:
                    for piece in _pieces(self.path, value):
                        _read_piece(piece, chat, history, stop)
                    is_read = True
        if not is_read:
            raise FormatError("is missing", 0, "messages").told("missing")
        history.finish()


@contextmanager
def _open(path: Path) -> Iterator[TextIO]:
    with path.open(encoding="utf-8-sig") as file:
        yield file


def _pieces(manifest: Path, value: Any) -> Iterator[Path]:
    """The files of a chat in pieces; none outside of the manifest's folder."""
    folder = manifest.parent.resolve()
    chunks = value.get("chunks") if isinstance(value, dict) else None
    if not isinstance(chunks, list):
        raise FormatError("is no list", 0, "chunked.chunks")
    for number, each in enumerate(chunks, 1):
        name = each.get("relativePath") if isinstance(each, dict) else None
        path = (folder / str(name)).resolve()
        if not isinstance(name, str) or not path.is_relative_to(folder) or not path.is_file():
            raise FormatError("is no file beside the manifest", 0, f"chunked.chunks[{number}]")
        yield path


def _read_piece(path: Path, chat: _Chat, history: History, stop: Stop) -> None:
    with _open(path) as file:
        for number, text in enumerate(file, 1):
            if number % 500 == 0:
                stop.look()
            if not text.strip():
                continue
            try:
                item = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise FormatError(f"is no JSON: {error}", number, path.name).told(
                    "no_json"
                ) from None
            chat.add(history, item, f"{path.name}:{number}")


class _Chat:
    """Which chat window an export is of."""

    def __init__(self, info: Any, options: Options) -> None:
        if not isinstance(info, dict):
            raise FormatError("is no object", 0, "chatInfo")
        self._options = options
        self._title = str(info.get("name") or "")
        self._own = {str(info[key]) for key in ("selfUin", "selfUid") if info.get(key)}
        self.platform, self.group, self.account = PLATFORM, "", ""
        if options.into:
            platform, kind, key = split_circle(options.into)
            self.platform = platform
            self.group = key if kind == GROUP else ""
            self.account = key if kind == PRIVATE else ""
        elif info.get("type") == "group":
            self.group = str(info.get("peerUid") or info.get("peerUin") or "")
        else:
            self.account = self._whose(info)
        if not (self.group or self.account):
            raise FormatError("it does not say which chat this is; choose one", 0, "into").told(
                "whose"
            )

    def _whose(self, info: dict[str, Any]) -> str:
        """Whose private chat with the bot it is; empty if it is not one."""
        own, peer = (str(info.get(key) or "") for key in ("selfUin", "peerUin"))
        if own in self._options.bots:
            return peer
        return own if peer in self._options.bots else ""

    def add(self, history: History, item: Any, place: str) -> None:
        """Take one message."""
        if not isinstance(item, dict) or not isinstance(item.get("sender"), dict):
            raise FormatError("is no message", 0, place)
        if item.get("system") or item.get("recalled"):
            history.skipped["recalled" if item.get("recalled") else "system"] += 1
            return
        at = moment(item.get("timestamp"), self._options.zone)
        if at is None:
            raise FormatError("is no time", 0, f"{place}.timestamp").told("no_time")
        sender = item["sender"]
        account = str(sender.get("uin") or sender.get("uid") or "")
        name = sender.get("groupCard") or sender.get("name") or sender.get("nickname") or ""
        history.add(
            Line(
                key=str(item.get("id") or f"{account}:{at}:{_words(item)}"),
                platform=self.platform,
                group=self.group,
                account=self.account,
                persona=self._options.persona,
                sender=BOT if account in self._options.bots else account,
                name=str(name),
                text=_words(item),
                at=at,
                title=self._title if self.group else "",
            )
        )


def _words(item: dict[str, Any]) -> str:
    """What somebody said themselves: no quotes of others, no pictures, no cards."""
    content = item.get("content")
    content = content if isinstance(content, dict) else {}
    elements = content.get("elements")
    if not isinstance(elements, list) or not elements:
        return _PICTURE.sub("", str(content.get("text") or ""))
    found: list[str] = []
    for each in elements:
        data = each.get("data") if isinstance(each, dict) else None
        if not isinstance(data, dict):
            continue
        if each.get("type") == "text":
            found.append(str(data.get("text") or ""))
        elif each.get("type") == "at":
            found.append(f"@{str(data.get('name') or data.get('uid') or '').removeprefix('@')} ")
    return "".join(found)
