"""Sources of imports: one module for each kind of file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from ...errors import FormatError
from ..file_format import FORMAT
from .astrbot_history import AstrBotHistory
from .chat_lines import ChatLines
from .graphmemory_05 import GraphMemory05
from .livingmemory import LivingMemory
from .own_file import OwnFile
from .qq_chat_exporter import QQChatExporter
from .source import Options, Source, Stop, split_circle

SOURCES: dict[str, Callable[[Path], Source]] = {
    each.format: each
    for each in (OwnFile, AstrBotHistory, ChatLines, LivingMemory, GraphMemory05, QQChatExporter)
}
OWN_FORMAT = OwnFile.format
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


__all__ = ["OWN_FORMAT", "SOURCES", "Options", "Source", "Stop", "detect", "split_circle"]
