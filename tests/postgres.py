"""A real PostgreSQL server for tests, which lives in a folder and dies with the process."""

import atexit
import hashlib
import os
import pwd
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from graph_memory.store import Journal
from graph_memory.store.postgres import LOCK

OWN = ("vector", "migration", "meta")
"""Tables of which every file has its own, in part at least."""
OPTIONS = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=60"


def programs() -> Path | None:
    """The folder of the newest server's programs, if one is installed."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: float(p.parts[-3])
    )
    named = shutil.which("initdb")
    return found[-1].parent if found else Path(named).parent if named else None


class Postgres:
    """A server on a port of the loopback.

    Args:
        options: Of the server; by default nothing is safe from a power cut, and fast.
        follows: The server whose standby it is; by default it is one by itself, and empty.
    """

    def __init__(self, options: str = OPTIONS, follows: "Postgres | None" = None) -> None:
        found = programs()
        assert found, "PostgreSQL is needed: apt-get install postgresql"
        self._programs = found
        # It refuses to run as root.
        self._user = "nobody" if os.getuid() == 0 else None
        self.folder = Path(tempfile.mkdtemp(prefix="gm-pg-"))
        if self._user:
            os.chown(self.folder, pwd.getpwnam(self._user).pw_uid, -1)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._options = f"{options} -c listen_addresses=127.0.0.1 -p {self.port} -k {self.folder}"
        atexit.register(self.remove)
        if follows:
            there = ("-h", "127.0.0.1", "-p", str(follows.port), "-U", "gm")
            self._run("pg_basebackup", "-R", "-X", "stream", "-c", "fast", "--no-sync", *there)
        else:
            self._run("initdb", "-A", "trust", "-U", "gm", "-E", "UTF8", "--no-sync")
        self.start()

    @property
    def dsn(self) -> str:
        return f"host=127.0.0.1 port={self.port} user=gm dbname=postgres"

    def dsn_at(self, port: int) -> str:
        """How to reach it through another port."""
        return self.dsn.replace(f"port={self.port}", f"port={port}")

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, "-D", self.folder / "data", *arguments], check=True,
            user=self._user, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            timeout=60,
        )  # fmt: skip

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._run("pg_ctl", "start", "-w", "-l", str(self.folder / "log"), "-o", self._options)

    def stop(self, mode: str = "immediate") -> None:
        """Stop it, as a power cut would by default."""
        self._run("pg_ctl", "stop", "-w", "-m", mode)

    def promote(self) -> None:
        """Let a standby take over."""
        self._run("pg_ctl", "promote", "-w")

    def remove(self) -> None:
        """Stop it and delete its folder."""
        atexit.unregister(self.remove)
        with suppress(subprocess.SubprocessError):  # it may be stopped already
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextmanager
    def memory(self, name: str) -> Iterator[str]:
        """How to reach an empty schema, until it is not needed any more."""
        schema = sql.Identifier(name)
        with psycopg.connect(self.dsn, autocommit=True) as db:
            db.execute(sql.SQL("CREATE SCHEMA {}").format(schema))
        try:
            yield f"{self.dsn} options='-csearch_path={name}'"
        finally:
            with psycopg.connect(self.dsn, autocommit=True) as db:
                db.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(schema))


def with_each_table(dsn: str, work: str) -> None:
    """Do something with all tables (``$``) at once, while nobody writes."""
    with psycopg.connect(dsn) as db:
        db.execute(LOCK)
        for table in ("head", "step", "item"):
            db.execute(work.replace("$", table))


@contextmanager
def set_back(dsn: str) -> Iterator[None]:
    """Have a server lose what is written there meanwhile, as if an older backup came back."""
    with_each_table(dsn, "CREATE TABLE saved_$ AS TABLE $")
    yield
    with_each_table(dsn, "DELETE FROM $; INSERT INTO $ TABLE saved_$")


def content(path: Path) -> dict[str, list[Any]]:
    """Every row of a journal's file that is shared."""
    with closing(sqlite3.connect(path)) as db:
        tables = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        found = {
            name: sorted(db.execute(f"SELECT * FROM {name}").fetchall(), key=repr)
            for (name,) in tables
            if name not in OWN and not name.startswith("sqlite_")
        }
        query = "SELECT * FROM meta WHERE key NOT LIKE 'replica.%' ORDER BY key"
        return found | {"meta": db.execute(query).fetchall()}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shared", action="store_true", help="let every journal be shared through PostgreSQL"
    )


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A server for all tests of one process."""
    server = Postgres()
    yield server
    server.remove()


@pytest.fixture
def dsn(postgres: Postgres) -> Iterator[str]:
    """How to reach an empty memory."""
    with postgres.memory("m") as dsn:
        yield dsn


async def _begun() -> None:
    """It was begun before."""


@pytest.fixture(autouse=True)
def shared(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With ``--shared``, each journal has a schema of its own on a server."""
    if not request.config.getoption("--shared") or request.node.get_closest_marker("server"):
        return  # which say themselves what is shared
    if request.node.get_closest_marker("alone"):
        pytest.skip("what only a memory does that no other bot shares")
    server: Postgres = request.getfixturevalue("postgres")
    opened = Journal.open

    async def open(
        cls: type[Journal],
        path: Path,
        now: Callable[[], float] = time.time,
        dsn: str = "",
        *more: Any,
    ) -> Journal:
        schema = f"m{hashlib.blake2b(str(path.resolve()).encode(), digest_size=8).hexdigest()}"
        with psycopg.connect(server.dsn, autocommit=True) as db:
            db.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
        dsn = dsn or f"{server.dsn} options='-csearch_path={schema}'"
        journal: Journal = await opened.__func__(cls, path, now, dsn, *more)
        await journal.begin()  # as the service does, which most of these tests do without
        monkeypatch.setattr(journal, "begin", _begun)
        return journal

    monkeypatch.setattr(Journal, "open", classmethod(open))
