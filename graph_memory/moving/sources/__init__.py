"""What a memory can be fed from: one module for each kind of file."""

from __future__ import annotations

import json
from pathlib import Path

from ...errors import FormatError
from ..format import FORMAT
from .astrbot import AstrBotHistory
from .base import Options, Source, Stop, split_circle
from .chatlog import ChatLog
from .graphmemory import GraphMemoryJson
from .livingmemory import LivingMemory
from .own import OwnFile
from .qq import QQChat

SOURCES = {
    each.format: each
    for each in (OwnFile, AstrBotHistory, ChatLog, LivingMemory, GraphMemoryJson, QQChat)
}
_SQLITE = b"SQLite format 3\0"
_HEAD = 4_096


def detect(path: Path, format: str = "") -> Source:
    """The source that a file is.

    Args:
        format: A key of :data:`SOURCES`; empty: by what the file looks like.

    Raises:
        FormatError: Nobody knows this kind of file.
    """
    name = format or _guess(path)
    if name not in SOURCES:
        kinds = ", ".join(SOURCES)
        error = FormatError(f"what kind of file this is, is not known; {kinds}?")
        raise error.told("kind", kinds=kinds)
    return SOURCES[name](path)


def _guess(path: Path) -> str:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise FormatError(f"the file cannot be read: {error}").told("unreadable") from error
    if head.startswith(_SQLITE):
        return "astrbot" if path.name.startswith("data_v") else "livingmemory"
    text = head.decode("utf-8", "ignore").lstrip("\ufeff \r\n\t")
    try:
        first = json.loads(text.partition("\n")[0])
    except (ValueError, RecursionError):
        first = None
    if isinstance(first, dict):
        if first.get("format") == FORMAT:
            return "memory"
        if "text" in first and "time" in first:
            return "chat"
    if '"chatInfo"' in text:
        return "qq"
    return "graphmemory" if '"entities"' in text else ""


__all__ = ["SOURCES", "Options", "Source", "Stop", "detect", "split_circle"]
