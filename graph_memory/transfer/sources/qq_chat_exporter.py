"""Source: QQChatExporter, a JSON file of a chat or its manifest.

The person who exported it is ``self``. If that is not the bot, a private chat of theirs is
none of the bot's, unless it is with the bot: so the owner has to name the bot's account.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import ijson

from ...dates import timestamp
from ...errors import FormatError
from ...model import BOT
from ..file_format import lines_of, parse
from ..intake import ChatWindow, Skipped, SourceLine
from . import Options, Pieces, objects

PLATFORM = "aiocqhttp"
MAX_PATH = 4_096
"""Characters of the names that lead to a value: nested on and on, they would fill all memory."""
_PICTURE = re.compile(r"\[(?:图片|表情|动画表情|视频|语音|文件|商城表情)[^\]\n]{0,80}\]")


def read_qq_chat(path: Path, options: Options) -> Pieces:
    """Every message that somebody said.

    Raises:
        FormatError: It is no such export, or nobody says which chat it is.
    """
    info = next(_values(path, "chatInfo"), None)
    if not isinstance(info, dict):
        raise FormatError("is missing or no object", 0, "chatInfo").told("missing")
    place = _place(info, options)
    number = 0
    for number, item in enumerate(_messages(path), 1):
        yield _line(item, place, options, f"messages[{number}]")
    if not number:
        raise FormatError("is missing", 0, "messages").told("missing")


def _values(path: Path, prefix: str) -> Iterator[Any]:
    """The values that a large JSON file has at a place, one after the other."""
    with path.open("rb") as file:
        if file.read(3) != b"\xef\xbb\xbf":  # some write that first
            file.seek(0)
        try:
            events = ijson.parse(file, use_float=True, buf_size=MAX_PATH)
            yield from ijson.items(map(_placed, events), prefix)
        except (ijson.JSONError, UnicodeDecodeError) as error:
            # Its text repeats what people said; it says so where the file only ends too early.
            is_cut = "premature EOF" in str(error)
            raise FormatError("is no JSON").told("cut_off" if is_cut else "no_json") from None


def _placed(event: tuple[str, str, Any]) -> tuple[str, str, Any]:
    """An event of the parser, if it is not nested too deeply."""
    if len(event[0]) > MAX_PATH:
        raise FormatError("is nested too deeply").told("content")
    return event


def _messages(path: Path) -> Iterator[Any]:
    """The messages of a file; if it is a manifest, those of the files beside it."""
    is_whole = False
    for item in _values(path, "messages.item"):
        is_whole = True
        yield item
    for piece in () if is_whole else _values(path, "chunked.chunks.item"):
        name = piece.get("relativePath") if isinstance(piece, dict) else None
        folder = path.parent.resolve()
        beside = (folder / str(name)).resolve()
        if not name or not beside.is_relative_to(folder) or not beside.is_file():
            raise FormatError("is no file beside the manifest", 0, "chunked.chunks")
        with beside.open("rb") as file:
            for number, text in enumerate(lines_of(file), 1):
                if text.strip():
                    yield parse(text, number)


def _place(info: dict[str, Any], options: Options) -> ChatWindow:
    """The chat window that an export is of."""
    own, peer = (str(info.get(key) or "") for key in ("selfUin", "peerUin"))
    group = str(info.get("peerUid") or peer) if info.get("type") == "group" else ""
    account = peer if own in options.bots else own if peer in options.bots else ""
    place = options.place() or ChatWindow(PLATFORM, group, "" if group else account)
    if not (place.group or place.account):
        error = FormatError("it does not say which chat this is; choose one", 0, "into")
        raise error.told("whose")
    return replace(place, title=str(info.get("name") or "")) if place.group else place


def _line(item: Any, place: ChatWindow, options: Options, where: str) -> SourceLine | Skipped:
    if not isinstance(item, dict) or not isinstance(item.get("sender"), dict):
        raise FormatError("is no message", 0, where)
    if item.get("system") or item.get("recalled"):
        return Skipped("recalled" if item.get("recalled") else "system")
    at = timestamp(item.get("timestamp"), options.zone)
    if at is None:
        raise FormatError("is no time", 0, f"{where}.timestamp").told("no_time")
    sender, text = item["sender"], _words(item.get("content"))
    account = str(sender.get("uin") or sender.get("uid") or "")
    return SourceLine(
        key=str(item.get("id") or f"{account}:{at}:{text}"),
        place=place,
        persona=options.persona,
        sender=BOT if account in options.bots else account,
        name=str(sender.get("groupCard") or sender.get("name") or sender.get("nickname") or ""),
        text=text,
        at=at,
    )


def _words(content: Any) -> str:
    """What somebody said themselves: no quotes of others, no pictures, no cards."""
    content = content if isinstance(content, dict) else {}
    elements = objects(content.get("elements"))
    if not elements:
        return _PICTURE.sub("", str(content.get("text") or ""))
    found = ""
    for each in elements:
        data = each.get("data")
        if isinstance(data, dict) and each.get("type") == "text":
            found += str(data.get("text") or "")
        elif isinstance(data, dict) and each.get("type") == "at":
            found += f"@{str(data.get('name') or data.get('uid') or '').removeprefix('@')} "
    return found
