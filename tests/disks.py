"""Small disks of their own, which tests fill up or make read-only."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class Disk:
    """A disk in memory, mounted at ``path``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._filler = path / "filler"

    def fill(self) -> None:
        """Use up every byte."""
        with self._filler.open("wb", buffering=0) as file:
            block = 1 << 20
            while block:
                try:
                    file.write(b"x" * block)
                except OSError:
                    block //= 2

    def free(self) -> None:
        """Give back what :meth:`fill` took."""
        self._filler.unlink()

    def protect(self, *, read_only: bool) -> None:
        """Make it read-only, or writable again; nothing on it may be open for writing."""
        option = "remount,ro" if read_only else "remount,rw"
        subprocess.run(["mount", "-o", option, str(self.path)], check=True)


@contextmanager
def small_disk(path: Path, size: str = "4m") -> Iterator[Disk]:
    """Mount a disk at ``path``; skips the test where that is not permitted."""
    path.mkdir()
    try:
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)],
            check=True,
            capture_output=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"a disk of its own cannot be mounted here: {error}")
    try:
        yield Disk(path)
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)
