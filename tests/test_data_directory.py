"""What the memory keeps is for the bot's account only, whatever the umask."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph_memory.data_directory import restrict, writing
from graph_memory.model import Turn

from .makers import private, user
from .world import opened


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(directory: Path) -> dict[str, int]:
    """Permissions of everything in a folder, and of itself, by name."""
    found = [directory, *directory.rglob("*")]
    return {path.relative_to(directory.parent).as_posix(): _mode(path) for path in found}


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("open_umask")
async def test_a_running_memory_is_closed_to_others(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    async with opened(home) as service:
        await service.access()
        await service.learning.hear(Turn(private("zhang"), user("zhang"), "张三", "我家的猫叫豆包"))
        await service.graph.settle()
        await service.backups.make()
        await service.transfer.export()
        await service.transfer.waiting()
        running = modes(home)
    closed = modes(home)
    for found in (running, closed):
        # A folder that nobody else may enter is what counts for Kùzu's log.
        assert [name for name, mode in found.items() if mode & 0o077 and ".kuzu." not in name] == []
    assert {"memory/journal.sqlite3-wal", "memory/lock", "memory/webui.json"} <= set(running)
    assert sum(name.startswith("memory/backups/") for name in closed) == 1
    assert sum(name.startswith("memory/exports/") for name in closed) == 1
    assert any(name.endswith(".kuzu") for name in running)
    assert not any(name.startswith("memory/graph/") for name in closed)


@pytest.mark.usefixtures("open_umask")
async def test_what_an_earlier_version_left_open_is_closed_at_the_start(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "memory", tmp_path / "elsewhere"
    (home / "imports" / "deep").mkdir(parents=True)
    (home / "imports" / "deep" / "a.json").write_text("{}")
    (home / "erased.json").write_text("{}")
    elsewhere.mkdir()
    (elsewhere / "b.json").write_text("{}")
    (home / "imports" / "b.json").symlink_to(elsewhere / "b.json")
    (home / "imports" / "folder").symlink_to(elsewhere)
    restrict(home)
    assert [name for name, mode in modes(home / "imports" / "deep").items() if mode & 0o077] == []
    assert _mode(home / "erased.json") == 0o600
    assert _mode(home) == 0o700
    assert (_mode(elsewhere), _mode(elsewhere / "b.json")) == (0o777, 0o666)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with writing(path) as file:
        file.write("好")
    with pytest.raises(UnicodeEncodeError), writing(path) as file:
        file.write("half\ud800")
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]
    assert path.read_text(encoding="utf-8") == "好"
