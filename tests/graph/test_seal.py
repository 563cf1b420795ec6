"""Only a file that was sealed, and not touched since, is ever opened."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph_memory.graph import GraphStore, check, engine, seal
from graph_memory.journal import Journal

from .support import POOL, opened, put, world


@pytest.fixture
def touched(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were there already when Kùzu opened them."""
    found: list[Path] = []
    real = engine.kuzu.Database

    def database(path: Path, **options: Any) -> Any:
        if path.exists():
            found.append(path)
        return real(path, **options)

    monkeypatch.setattr(engine.kuzu, "Database", database)
    return found


async def sealed(directory: Path) -> Path:
    """A data directory whose graph was closed cleanly; returns the graph's file."""
    async with opened(directory, *world()):
        pass
    (file,) = (directory / "graph").glob("*.kuzu")
    assert sorted(path.name for path in file.parent.iterdir()) == [
        file.name,
        f"{file.stem}.seal",
        "lock",
    ]
    return file


async def test_a_sealed_file_is_opened_and_its_seal_broken(
    tmp_path: Path, touched: list[Path]
) -> None:
    file = await sealed(tmp_path)
    async with opened(tmp_path) as (journal, store):
        assert touched == [file]
        assert not file.with_suffix(".seal").exists()
        assert await check(store, journal) == []
    assert file.with_suffix(".seal").exists()


def truncated(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def emptied(file: Path) -> None:
    os.truncate(file, 0)


def flipped(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def foreign(file: Path) -> None:
    file.write_bytes(b"SQLite format 3\0" + bytes(100_000))


def unsealed(file: Path) -> None:
    file.with_suffix(".seal").unlink()


def with_a_log(file: Path) -> None:
    file.with_name(f"{file.name}.wal").write_bytes(b"\0" * 64)


def gone(file: Path) -> None:
    file.unlink()


def broken_seal(file: Path) -> None:
    file.with_suffix(".seal").write_text('{"change": 1', encoding="utf-8")


def seal_with(**values: object) -> Callable[[Path], None]:
    def alter(file: Path) -> None:
        path = file.with_suffix(".seal")
        data = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**data, **values}), encoding="utf-8")

    return alter


DAMAGES = {
    "truncated": truncated,
    "emptied": emptied,
    "flipped": flipped,
    "foreign": foreign,
    "unsealed": unsealed,
    "with a log": with_a_log,
    "gone": gone,
    "broken seal": broken_seal,
    "older schema": seal_with(schema=0),
    "other kuzu": seal_with(engine="kuzu 0.0.1"),
    "other journal": seal_with(change_at=1.0),
    "from the future": seal_with(change=99),
    "nonsense": seal_with(change="1"),
    "more than known": seal_with(surprise=True),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
async def test_anything_else_is_rebuilt_without_being_opened(
    tmp_path: Path, touched: list[Path], damage: Callable[[Path], None]
) -> None:
    file = await sealed(tmp_path)
    damage(file)
    async with opened(tmp_path) as (journal, store):
        assert touched == []
        assert await check(store, journal) == []
        assert len(list(file.parent.glob("graph-*.kuzu"))) == 1


async def test_leftovers_are_removed_and_nothing_else_is(tmp_path: Path) -> None:
    home = tmp_path / "graph"
    leftovers = ["graph-1.kuzu", "graph-1.kuzu.wal", "graph-2.kuzu.shadow", "graph-3.seal.tmp"]
    kept = ["notes.txt", "graph-x.kuzu", "mygraph-1.kuzu"]
    home.mkdir()
    for name in leftovers + kept:
        (home / name).write_bytes(b"x")
    (home / "graph-4.csv").mkdir()
    (home / "graph-4.csv" / "User.csv").write_bytes(b"x")
    async with opened(tmp_path, *world()):
        names = {path.name for path in home.iterdir()}
    assert names - {"lock"} == {"graph-1.kuzu", *kept}


async def test_a_link_is_not_followed(tmp_path: Path, touched: list[Path]) -> None:
    file = await sealed(tmp_path)
    elsewhere = tmp_path / "elsewhere.kuzu"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    async with opened(tmp_path):
        assert touched == []
    assert elsewhere.exists()


async def test_a_seal_that_cannot_be_removed_keeps_the_file_shut(
    tmp_path: Path, touched: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    await sealed(tmp_path)

    def refuse(path: Path) -> None:
        raise PermissionError(path)

    monkeypatch.setattr(seal, "break_open", refuse)
    async with opened(tmp_path) as (journal, store):
        assert touched == []
        assert await check(store, journal) == []


async def test_what_was_learned_meanwhile_is_caught_up(tmp_path: Path, touched: list[Path]) -> None:
    file = await sealed(tmp_path)
    journal = await Journal.open(tmp_path / "journal.sqlite3")
    await put(journal, drop=world()[-5:])
    store = GraphStore(tmp_path, journal, buffer_pool_mb=POOL)
    await store.start()
    assert await check(store, journal) == []
    assert touched == [file]
    await store.close()
    await journal.close()


async def test_a_journal_that_took_another_course_makes_a_new_graph(
    tmp_path: Path, touched: list[Path]
) -> None:
    """After a restore from a backup the same numbers may name other changes."""
    await sealed(tmp_path)
    (tmp_path / "journal.sqlite3").unlink()
    async with opened(tmp_path, *world()[:6]) as (journal, store):
        assert touched == []
        assert await check(store, journal) == []
