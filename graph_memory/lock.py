"""One owner for a data directory, held by the operating system.

A lock that the system drops with the process survives nothing it should not: neither
SIGKILL nor a power cut leaves it behind.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .errors import LockedError


class DirectoryLock:
    """An exclusive lock on a directory, taken by :meth:`acquire`."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "lock"
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            LockedError: Another process, or another owner in this one, holds it.
        """
        # Not inheritable: AstrBot's dashboard restart is an exec of the same process.
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            _lock(handle)
        except OSError as error:
            os.close(handle)
            raise LockedError(
                f"{self._path.parent} is in use by another AstrBot or plugin instance; "
                "stop that one or give this one a data directory of its own"
            ) from error
        self._handle = handle

    def release(self) -> None:
        """Give the lock back; harmless if it is not held."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
