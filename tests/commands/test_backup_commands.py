"""``/memory restore``: list, preview, confirm, and what is there afterwards."""

from datetime import UTC
from pathlib import Path

from graph_memory.commands.backup_commands import BackupCommands
from graph_memory.model import Turn
from graph_memory.service import MemoryService
from graph_memory.settings import Settings

from ..makers import HOME, user


async def hear(memory: MemoryService, text: str) -> None:
    await memory.learning.hear(Turn(HOME, user("zhang"), "张三", text))


async def test_a_backup_is_listed_previewed_and_put_in_place(tmp_path: Path) -> None:
    restores = BackupCommands(tmp_path, "zh", UTC)
    memory = await MemoryService.open(tmp_path, Settings(), zone=UTC)
    assert await restores.answer("") == ("🧠 还没有备份。用 /记忆 备份 立即备份一份。", False)
    await hear(memory, "我养了一只猫")
    name = (await memory.backups.make()).name
    await hear(memory, "我还想养一条狗")
    listed, _ = await restores.answer("")
    assert name in listed
    previewed, is_prepared = await restores.answer(name)
    assert "消息 -1" in previewed
    assert not is_prepared
    done, is_prepared = await restores.answer(f"{name} 确认")
    assert name in done
    assert is_prepared
    await memory.close()
    again = await MemoryService.open(tmp_path, Settings(), zone=UTC)
    assert [m.text for m in await again.journal.newest_messages(9)] == ["我养了一只猫"]
    assert any(backup.kind == "restore" for backup in await again.backups.list())
    await again.close()


async def test_what_is_no_backup_is_refused_whatever_it_is_called(tmp_path: Path) -> None:
    restores = BackupCommands(tmp_path, "en", UTC)
    for name in ("nothing", "../journal.sqlite3", "/etc/passwd confirm"):
        answer, is_prepared = await restores.answer(name)
        assert "There is no backup" in answer
        assert not is_prepared
