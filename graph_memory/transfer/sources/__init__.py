"""Sources of imports: one module for each kind of file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from ...errors import FormatError
from ..file_format import FORMAT, read_own_file
from .astrbot_history import read_astrbot_history
from .chat_lines import read_chat_lines
from .graphmemory_05 import read_graphmemory_05
from .livingmemory import read_livingmemory
from .qq_chat_exporter import read_qq_chat
from .source import Options as Options
from .source import Pieces, database
from .source import circle_meant as circle_meant

OWN_FORMAT = "memory"
SOURCES: dict[str, Callable[[Path, Options], Pieces]] = {
    OWN_FORMAT: read_own_file,
    "astrbot": read_astrbot_history,
    "chat": read_chat_lines,
    "livingmemory": read_livingmemory,
    "graphmemory": read_graphmemory_05,
    "qq": read_qq_chat,
}
"""Readers of files by the name of their kind; they block, and raise ``FormatError``."""


def detect(path: Path, format: str = "") -> str:
    """The kind of file, a key of :data:`SOURCES`.

    Args:
        format: What the owner says it is; empty: by what the file looks like.

    Raises:
        FormatError: Nobody knows this kind of file.
    """
    name = format or _guess(path)
    if name not in SOURCES:
        kinds = ", ".join(SOURCES)
        error = FormatError(f"what kind of file this is, is not known; {kinds}?")
        raise error.told("kind", kinds=kinds)
    return name


def _guess(path: Path) -> str:
    try:
        with path.open("rb") as file:
            head = file.read(4_096)
    except OSError as error:
        raise FormatError(f"the file cannot be read: {error}").told("unreadable") from error
    if head.startswith(b"SQLite format 3\0"):
        with database(path, "conversations", "messages", "documents") as (_, tables):
            return "astrbot" if "conversations" in tables else "livingmemory"
    text = head.decode("utf-8", "ignore").lstrip("\ufeff \r\n\t")
    try:
        first = json.loads(text.partition("\n")[0])
    except (ValueError, RecursionError):
        first = None
    if isinstance(first, dict):
        if first.get("format") == FORMAT:
            return OWN_FORMAT
        if "text" in first and "time" in first:
            return "chat"
    if '"chatInfo"' in text:
        return "qq"
    return "graphmemory" if '"entities"' in text else ""
