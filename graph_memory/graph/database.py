"""Kùzu database file, written once and then read.

What was measured and is answered here: ``execute(text, …)`` leaks per call, so statements
are prepared once; open results pin the buffer pool, so each is closed at once.
"""

from __future__ import annotations

import ctypes
import glob
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import kuzu
from kuzu.prepared_statement import PreparedStatement

from ..errors import GraphError

_MAX_SIZE = 1 << 32  # bytes; the default, 8 TiB of address space, fails under ulimit
_THREADS = 2


class Database:
    """An open database file, new and disposable, to be used by one thread at a time.

    Args:
        path: The file, which must not exist: opening a damaged one may hang the process.
        buffer_pool_mb: Most memory its pages may take, MiB.

    Raises:
        GraphError: It cannot be made.
    """

    def __init__(self, path: Path, buffer_pool_mb: int) -> None:
        self._path = path
        self._prepared: dict[str, Any] = {}
        try:
            self._database = kuzu.Database(
                path,
                buffer_pool_size=buffer_pool_mb << 20,
                max_num_threads=_THREADS,
                max_db_size=_MAX_SIZE,
                auto_checkpoint=False,
            )
            self._connection: Any = kuzu.Connection(self._database, num_threads=_THREADS)
        except (RuntimeError, OSError, MemoryError) as error:
            raise GraphError(f"{path} cannot be opened: {_brief(error)}") from error
        with suppress(OSError):  # some file systems know no permissions
            path.chmod(0o600)
        self.run("CALL force_checkpoint_on_close=false")

    def run(self, statement: str, parameters: dict[str, Any] | None = None) -> list[list[Any]]:
        """Execute one statement and return its rows.

        Args:
            statement: Constant text; with ``parameters`` it is prepared and kept.
            parameters: Exactly those that the statement names.

        Raises:
            GraphError: It failed.
        """
        try:
            query = statement if parameters is None else self._prepare(statement)
            with self._connection.execute(query, parameters) as result:
                rows: list[list[Any]] = result.get_all()
                return rows
        # pybind turns C++ errors into several classes, bad text into UnicodeError.
        except (RuntimeError, ValueError, TypeError, IndexError, MemoryError) as error:
            raise GraphError(f"the graph could not be asked: {_brief(error)}") from error

    def _prepare(self, statement: str) -> Any:
        prepared = self._prepared.get(statement)
        if prepared is None:
            prepared = PreparedStatement(self._connection, statement)
            if not prepared.is_success():
                raise RuntimeError(prepared.get_error_message())
            self._prepared[statement] = prepared
        return prepared

    def limit(self, seconds: float) -> None:
        """Give up each statement after so many seconds."""
        self._connection.set_query_timeout(int(seconds * 1000))

    def discard(self) -> None:
        """Close it and delete its files. No query may be at work (it would crash)."""
        self._prepared.clear()
        self._connection.close()
        self._database.close()
        # glibc keeps what Kùzu's threads freed: after a day of builds, hundreds of MiB.
        with suppress(OSError, AttributeError, TypeError):
            ctypes.CDLL(None).malloc_trim(0)
        remove(self._path)


def remove(path: Path) -> None:
    """Delete a file that is closed, with what Kùzu put beside it, or a folder."""
    for each in (path, *path.parent.glob(f"{glob.escape(path.name)}.*")):
        with suppress(FileNotFoundError):
            if each.is_dir() and not each.is_symlink():
                shutil.rmtree(each)
            else:
                each.unlink()


def _brief(error: BaseException) -> str:
    # Kùzu quotes values and, in COPY, whole lines: somebody's private chat.
    text = re.split("[\"'`]|Line/record", str(error))[0].strip()
    return (text.splitlines() or [type(error).__name__])[0][:200]
