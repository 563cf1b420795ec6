"""Kùzu database file with a connection to write and one to read.

What was measured and is answered here: a checkpoint waits for readers, so there is none;
``execute(text, …)`` leaks per call, so statements are prepared once; open results pin the
buffer pool, so each is closed at once.
"""

from __future__ import annotations

import ctypes
import glob
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import kuzu
from kuzu.prepared_statement import PreparedStatement

from ..errors import GraphError

_MAX_SIZE = 1 << 32  # bytes; the default, 8 TiB of address space, fails under ulimit
_THREADS = 2


class Connection:
    """A connection, to be used by one thread at a time."""

    def __init__(self, database: Any, timeout: float | None) -> None:
        self._raw: Any = kuzu.Connection(database, num_threads=_THREADS)
        self._prepared: dict[str, Any] = {}
        if timeout is not None:
            self._raw.set_query_timeout(int(timeout * 1000))

    def run(self, statement: str, parameters: dict[str, Any] | None = None) -> list[list[Any]]:
        """Execute one statement and return its rows.

        Args:
            statement: Constant text; with ``parameters`` it is prepared and kept.
            parameters: Exactly those that the statement names.

        Raises:
            GraphError: It failed; an open transaction has been rolled back.
        """
        try:
            query = statement if parameters is None else self._prepare(statement)
            with self._raw.execute(query, parameters) as result:
                rows: list[list[Any]] = result.get_all()
                return rows
        # pybind turns C++ errors into several classes, bad text into UnicodeError.
        except (RuntimeError, ValueError, TypeError, IndexError, MemoryError) as error:
            raise GraphError(f"the graph could not be asked: {_brief(error)}") from error

    def _prepare(self, statement: str) -> Any:
        prepared = self._prepared.get(statement)
        if prepared is None:
            prepared = PreparedStatement(self._raw, statement)
            if not prepared.is_success():
                raise RuntimeError(prepared.get_error_message())
            self._prepared[statement] = prepared
        return prepared

    @contextmanager
    def transaction(self, *, read_only: bool = False) -> Iterator[None]:
        """Everything inside, or nothing of it.

        Raises:
            GraphError: It could not be committed.
        """
        self.run("BEGIN TRANSACTION READ ONLY" if read_only else "BEGIN TRANSACTION")
        try:
            yield
        except BaseException:
            # An error inside has rolled back already; then there is nothing to do.
            with suppress(GraphError):
                self.run("ROLLBACK")
            raise
        self.run("COMMIT")

    def close(self) -> None:
        """Free the connection; does nothing when it is closed."""
        self._prepared.clear()
        self._raw.close()


class Database:
    """An open database file, new and disposable.

    Args:
        path: The file, which must not exist: opening a damaged one may hang the process.
        buffer_pool_mb: Most memory its pages may take, MiB.
        read_timeout: Seconds after which a read is given up.

    Raises:
        GraphError: It cannot be made.
    """

    def __init__(self, path: Path, buffer_pool_mb: int, read_timeout: float = 10.0) -> None:
        self.path = path
        try:
            self._database = kuzu.Database(
                path,
                buffer_pool_size=buffer_pool_mb << 20,
                max_num_threads=_THREADS,
                max_db_size=_MAX_SIZE,
                auto_checkpoint=False,
            )
            self.writer = Connection(self._database, None)
            self.reader = Connection(self._database, read_timeout)
        except (RuntimeError, OSError, MemoryError) as error:
            raise GraphError(f"{path} cannot be opened: {_brief(error)}") from error
        with suppress(OSError):  # some file systems know no permissions
            path.chmod(0o600)
        self.writer.run("CALL force_checkpoint_on_close=false")

    def discard(self) -> None:
        """Close it and delete its files. No query may be at work (it would crash)."""
        self.reader.close()
        self.writer.close()
        self._database.close()
        _give_back()
        remove(self.path)


def remove(path: Path) -> None:
    """Delete a file that is closed, with what Kùzu put beside it, or a folder."""
    for each in (path, *path.parent.glob(f"{glob.escape(path.name)}.*")):
        with suppress(FileNotFoundError):
            if each.is_dir() and not each.is_symlink():
                shutil.rmtree(each)
            else:
                each.unlink()


def _give_back() -> None:
    """Return free memory to the system where the C library can (glibc).

    A file that was built or written and then closed leaves tens of MiB in the heaps of
    Kùzu's threads; after a day of rebuilds that had become several hundred.
    """
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _brief(error: BaseException) -> str:
    # Kùzu quotes values and, in COPY, whole lines: somebody's private chat.
    text = re.split("[\"'`]|Line/record", str(error))[0].strip()
    return (text.splitlines() or [type(error).__name__])[0][:200]
