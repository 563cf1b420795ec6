"""The data directory: one owner, private files, written whole or not at all."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from .errors import LockedError

logger = logging.getLogger("graph_memory.data_directory")


def restrict(directory: Path) -> None:
    """Make a folder and close it, with all that is in it, to other accounts. Blocks.

    Links are not followed. What cannot be closed is left as it is: some file systems know
    no permissions.

    Raises:
        OSError: The folder cannot be made.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for folder, _, names in os.walk(directory.resolve()):
        _allow(folder, 0o700)
        for name in names:
            _allow(os.path.join(folder, name), 0o600)
    if os.name == "posix" and directory.stat().st_mode & 0o077:
        logger.warning("%s may be readable for other accounts of this machine", directory)


def _allow(path: str, mode: int) -> None:
    with suppress(OSError):
        if not os.path.islink(path):
            os.chmod(path, mode)


def reserve(path: Path) -> None:
    """Create an empty private file if there is none, before others open it.

    That it cannot be made is for them to tell.
    """
    with suppress(OSError):
        path.touch(mode=0o600)


@contextmanager
def writing(path: Path) -> Iterator[TextIO]:
    """A text file that gets its name once it is complete.

    Raises:
        OSError: It could not be written; nothing is left of it.
    """
    draft = path.with_name(f"{path.name}.tmp")
    draft.unlink(missing_ok=True)
    try:
        handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            yield file
        settle(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def settle(draft: Path, target: Path) -> None:
    """Give a finished file its name, durably: it is there whole or not at all.

    Raises:
        OSError: It could not be written.
    """
    with draft.open("rb+") as file:
        os.fsync(file.fileno())
    draft.replace(target)
    sync(target.parent)


def sync(folder: Path) -> None:
    """Make renames and deletions in ``folder`` durable where the system can."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def lock(directory: Path) -> int:
    """Lock a directory for this process; closing the file that is returned ends it.

    The system drops the lock with the process: neither SIGKILL nor a power cut leaves it behind.

    Raises:
        LockedError: Another process, or another owner in this one, holds it.
    """
    # Not inheritable: AstrBot's dashboard restart is an exec of the same process.
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    handle = os.open(directory / "lock", flags, 0o600)
    try:
        _lock(handle)
    except OSError as error:
        os.close(handle)
        raise LockedError(
            f"{directory} is in use by another AstrBot or plugin instance; "
            "stop that one or give this one a data directory of its own"
        ) from error
    return handle


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
