"""Which graph file may be opened: one that was closed cleanly and sealed, untouched since.

Opening a damaged Kùzu file can hang the process while it holds the interpreter's lock,
crash it, or show wrong data, so nothing is ever opened to see whether it is good. The
seal is written last and removed before the file is opened; between the two there is no
seal, and whatever a kill leaves behind is deleted and built anew from the journal.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import private
from .engine import VERSION
from .schema import SCHEMA_VERSION

_log = logging.getLogger("graph_memory.graph")
_OURS = re.compile(r"graph-(\d{1,9})\.(kuzu|seal|csv)(?:\..*)?", re.DOTALL)
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Seal:
    """What is known about a closed file.

    Attributes:
        change: Number of the last change it holds; 0 for none.
        change_at: When that change was made: tells a journal restored from a backup,
            whose later changes bear the same numbers, from the one the file is of.
        checksum: BLAKE2b of the file.
        sealed_at: When it was closed.
        schema, engine: What wrote it.
    """

    change: int
    change_at: float
    checksum: str
    sealed_at: float
    schema: int = SCHEMA_VERSION
    engine: str = VERSION


def database(home: Path, number: int) -> Path:
    """The database file with this number."""
    return home / f"graph-{number}.kuzu"


def spool(path: Path) -> Path:
    """The folder of CSV files from which the database at ``path`` is built."""
    return path.with_suffix(".csv")


def last_number(home: Path) -> int:
    """The greatest number any file of ours in ``home`` has; 0 if there is none."""
    return max((number for number, _ in _files(home)), default=0)


def write(path: Path, change: int, change_at: float, now: float) -> None:
    """Seal the closed database at ``path``.

    Raises:
        OSError: It could not be read, or the seal not written.
    """
    seal = Seal(change, change_at, _checksum(path), now)
    with private.writing(path.with_suffix(".seal")) as file:
        json.dump(asdict(seal), file)


def find(home: Path) -> tuple[Path, Seal] | None:
    """The newest database that may be opened; everything else of ours is deleted.

    Reads files but opens no database. The seal stays until :func:`break_open`.
    """
    numbers = sorted({number for number, _ in _files(home)}, reverse=True)
    for number in numbers:
        path = database(home, number)
        seal = _read(path.with_suffix(".seal"))
        if seal is not None and _holds(path, seal):
            clean(home, keep=path)
            return path, seal
    clean(home)
    return None


def break_open(path: Path) -> None:
    """Remove the seal of ``path``, durably, so that it may be opened and written.

    Raises:
        OSError: It could not be removed; then the file must not be opened.
    """
    path.with_suffix(".seal").unlink()
    private.sync(path.parent)


def clean(home: Path, keep: Path | None = None) -> None:
    """Delete all files of ours in ``home`` but the database ``keep`` and its seal."""
    for _, found in _files(home):
        if keep is not None and found in (keep, keep.with_suffix(".seal")):
            continue
        _delete(found)


def discard(path: Path) -> None:
    """Delete the closed database at ``path`` with everything beside it."""
    for _, found in _files(path.parent):
        if found.stem == path.stem or found.name.startswith(f"{path.name}."):
            _delete(found)


def _delete(path: Path) -> None:
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("old graph file %s could not be deleted: %s", path.name, error)


def _files(home: Path) -> Iterator[tuple[int, Path]]:
    with suppress(FileNotFoundError):
        for path in sorted(home.iterdir()):
            if match := _OURS.fullmatch(path.name):
                yield int(match[1]), path


def _read(path: Path) -> Seal | None:
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
        seal = Seal(**data)
        good = (
            type(seal.change) is int
            and seal.change >= 0
            and type(seal.change_at) in (int, float)
            and type(seal.checksum) is str
        )
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return seal if good else None


def _holds(path: Path, seal: Seal) -> bool:
    if (seal.schema, seal.engine) != (SCHEMA_VERSION, VERSION):
        return False
    # A log beside a sealed file belongs to another story: opening would replay it.
    if any(path.parent.glob(f"{path.name}.*")) or path.is_symlink():
        return False
    try:
        return _checksum(path) == seal.checksum
    except OSError:
        return False


def _checksum(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=32)
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
