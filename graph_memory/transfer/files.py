"""Files that are imported and exported: kinds, names, places, room on the disk.

What comes in is read from ``imports/`` in the data directory, or from wherever the owner
says by an absolute path; what goes out is written to ``exports/``, for the owner of the
process only, and is there whole or not at all.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from .. import data_directory
from ..errors import ClosedError, FormatError, NotFoundError
from ..store import copies
from ..store.connection import failing
from ..text import clean
from .file_format import FORMAT, is_storable, read_own_file
from .sources import Options, Pieces, database
from .sources.astrbot_history import read_astrbot_history
from .sources.chat_lines import read_chat_lines
from .sources.graphmemory_05 import read_graphmemory_05
from .sources.livingmemory import read_livingmemory
from .sources.qq_chat_exporter import read_qq_chat

IMPORTS, EXPORTS = "imports", "exports"
MINE = "mine"
"""Begins the names of files that are handed over to somebody, and then deleted."""
MAX_SIZE = 16 << 30
"""Bytes of a file that is read."""
MAX_SENT = 1 << 30
"""Bytes of a file that is sent in; whoever has a larger one puts it there."""
MAX_WAITING = 20
"""Files in ``imports/`` above which none is sent in: they stay until somebody deletes them."""
MAX_NAME = 180
"""Bytes of a name: a system takes 255, a page an address with 200 characters."""
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\ud800-\udfff]+')
"""What some system does not allow in the name of a file."""
SLACK = 3
"""How many times its size a file may need while it is imported."""
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
_OURS = secrets.token_hex(4)
"""Tells the drafts of this process from those that a kill left."""


class Stop(threading.Event):
    """Asked between two pieces of work whether to go on."""

    def look(self) -> None:
        """Raise ``ClosedError`` once it was set."""
        if self.is_set():
            raise ClosedError("the import was stopped")


def waiting(directory: Path) -> list[Path]:
    """The files in ``imports/``, which is made if it is not there.

    One whose name is no UTF-8 is left out: nobody could say, or be shown, what it is called.
    """
    folder = directory / IMPORTS
    with failing(f"{folder} cannot be read"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return sorted(
            path
            for path in folder.iterdir()
            if path.is_file() and path.name[0] != "." and is_storable(path.name)
        )


def find(directory: Path, name: str) -> Path:
    """The file that an owner means, by a path below ``imports/`` or an absolute one.

    Raises:
        FormatError: There is none, or it is not where it says, or too large.
    """
    given = Path(name)
    folder = (directory / IMPORTS).resolve()
    try:
        path = given.resolve(strict=True) if given.is_absolute() else (folder / given).resolve()
        # A link below imports/ must not lead out of it: whoever may put files there need
        # not be who may read everything.
        if not given.is_absolute() and not path.is_relative_to(folder):
            raise FormatError(f"{name[:200]} is not in {IMPORTS}/").told("outside", name=name[:200])
        if not path.is_file():
            raise FormatError(f"there is no file {name[:200]}").told("no_file", name=name[:200])
        size = path.stat().st_size
    except (OSError, ValueError, RuntimeError):
        error = FormatError(f"there is no file {name[:200]}")
        raise error.told("no_file", name=name[:200]) from None
    if size > MAX_SIZE:
        most = f"{MAX_SIZE >> 30} GiB"
        error = FormatError(f"{path.name} is larger than {most}")
        raise error.told("too_large", name=path.name, size=most)
    return path


def discard(directory: Path, name: str) -> None:
    """Delete one of the :func:`waiting` files; of a link, the link.

    Raises:
        NotFoundError: There is none of this name.
        JournalError: It cannot be deleted.
    """
    found = {path.name: path for path in waiting(directory)}
    if name not in found:
        raise NotFoundError(f"there is no file {name[:200]} in {IMPORTS}/")
    with failing(f"{name} could not be deleted"):
        found[name].unlink(missing_ok=True)


def sweep(directory: Path, before: float) -> None:
    """Delete files that a killed process left half written or not handed over.

    Args:
        before: Seconds since the epoch; what was taken out since is this process's own.
    """
    for draft in (directory / IMPORTS).glob(".*.tmp"):
        if not draft.name.startswith(f".{_OURS}"):
            draft.unlink(missing_ok=True)
    for pattern in ("*.tmp", f"{MINE}-*.jsonl"):
        for left in (directory / EXPORTS).glob(pattern):
            with suppress(FileNotFoundError):  # sent, and deleted, meanwhile
                if left.stat().st_mtime < before:
                    left.unlink()


class Incoming:
    """A file that is sent into ``imports/`` piece by piece, whole or not at all.

    Blocks, and is used by one thread at a time. In ``imports/`` its name may differ a little.

    Raises:
        FormatError: The name is none for a file, or too many wait already.
        JournalError: It cannot be written.
    """

    def __init__(self, directory: Path, name: str) -> None:
        bare = _NOT_IN_NAMES.sub("_", clean(name.replace("\\", "/").rpartition("/")[2]))
        self._name = bare.strip(" .").encode()[-MAX_NAME:].decode(errors="ignore").lstrip(" .")
        if not self._name.strip("_"):
            raise FormatError("a file needs a name").told("no_name")
        self._unwritten = f"{self._name} could not be written"
        self._folder = directory / IMPORTS
        self._size = 0
        self._draft = self._folder / f".{_OURS}{secrets.token_hex(8)}.tmp"
        with failing(self._unwritten):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            count = sum(path.is_file() for path in self._folder.iterdir())
            if count >= MAX_WAITING:
                error = FormatError(f"{count} files are in {IMPORTS}/ already")
                raise error.told("many_files", count=count)
            handle = os.open(self._draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            self._file = open(handle, "wb")  # noqa: SIM115 - closed by keep or drop

    def write(self, piece: bytes) -> None:
        """Add a piece; raises ``FormatError`` if the file is too large."""
        self._size += len(piece)
        if self._size > MAX_SENT:
            error = FormatError(f"{self._name} is larger than {MAX_SENT >> 30} GiB")
            raise error.told("too_large", name=self._name, size=f"{MAX_SENT >> 30} GiB")
        with failing(self._unwritten):
            copies.require_space(self._folder, len(piece))
            self._file.write(piece)

    def keep(self) -> Path:
        """Give it its name, or one like it if that is taken; call this once, at the end."""
        with failing(self._unwritten):
            self._file.close()
            wanted = path = self._folder / self._name
            number = 1
            while path.exists():
                number += 1
                path = wanted.with_name(f"{wanted.stem}-{number}{wanted.suffix}")
            data_directory.settle(self._draft, path)
        return path

    def drop(self) -> None:
        """Leave nothing behind but what was kept; harmless after :meth:`keep`."""
        self._file.close()
        self._draft.unlink(missing_ok=True)


def require_room(directory: Path, path: Path) -> None:
    """Raise ``JournalError`` if there is no room on the disk to import a file."""
    copies.require_space(directory, path.stat().st_size * SLACK)


def target(directory: Path, scope: str, at: float) -> Path:
    """A name for what is exported at a time, which no other export has.

    Two people may ask in the same second, and neither must be given what is the other's.
    """
    folder = directory / EXPORTS
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    when = f"{datetime.fromtimestamp(at, UTC):%Y%m%dT%H%M%SZ}"
    return folder / f"{scope}-{when}-{secrets.token_hex(4)}.jsonl"


@contextmanager
def writing(path: Path) -> Iterator[TextIO]:
    """A file that gets its name once it is complete, readable for nobody else."""
    with failing(f"{path.name} could not be written"), data_directory.writing(path) as file:
        yield file


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
    if not head.strip(b"\xef\xbb\xbf\r\n\t "):
        raise FormatError("the file is empty").told("empty")
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
