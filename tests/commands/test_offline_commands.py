"""``/memory restore``, and ``/persona`` with AstrBot's part played by a few lines."""

from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from graph_memory.commands.offline_commands import BackupCommands, PersonaCommands
from graph_memory.model import NO_PERSONA, Turn
from graph_memory.service import MemoryService

from ..makers import HOME, user
from ..world import opened


async def hear(memory: MemoryService, text: str) -> None:
    await memory.learning.hear(Turn(HOME, user("zhang"), "张三", text))


async def test_a_backup_is_listed_previewed_and_put_in_place(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        restores = BackupCommands(tmp_path, "zh", UTC, memory.backups)
        assert await restores.answer("") == ("🧠 还没有备份。用 /记忆 备份 立即备份一份。", False)
        await hear(memory, "我养了一只猫")
        name = (await memory.backups.make()).name
        await hear(memory, "我还想养一条狗")
        listed, _ = await restores.answer("")
        assert name in listed
        previewed, is_prepared = await restores.answer(name)
        assert "消息 -1" in previewed
        for effect in ("先存成一份备份", "这几秒里说的话不会记下来", "单独忘记、改正、归档过的"):
            assert effect in previewed
        assert not is_prepared
        assert await restores.answer(f"<{name}>") == (previewed, False)
        done, is_prepared = await restores.answer(f"{name} 确认")
        assert name in done
        assert is_prepared
    async with opened(tmp_path) as again:
        assert [m.text for m in await again.journal.newest_messages(9)] == ["我养了一只猫"]
        assert any(backup.kind == "restore" for backup in await again.backups.list())


async def test_what_is_no_backup_is_refused_whatever_it_is_called(tmp_path: Path) -> None:
    restores = BackupCommands(tmp_path, "en", UTC)
    for name in ("nothing", "../journal.sqlite3", "/etc/passwd confirm"):
        answer, is_prepared = await restores.answer(name)
        assert "There is no backup" in answer
        assert not is_prepared


class Chats:
    """One conversation, and a session rule that may fix its persona."""

    def __init__(self, rule: str | None = None) -> None:
        self.rule = rule
        self.chosen = "default"
        self.conversations = 1

    def personas(self) -> list[str]:
        return ["default", "tech_assistant", "life_advisor"]

    async def persona(self, event: Any) -> str:
        return self.rule or self.chosen

    async def set_persona(self, event: Any, persona: str) -> str | None:
        self.chosen = persona
        return self.rule if self.rule not in {None, persona} else None

    async def new_conversation(self, event: Any, persona: str) -> str | None:
        self.conversations += 1
        return await self.set_persona(event, persona)


async def test_list_switch_and_unset() -> None:
    chats = Chats()
    personas = PersonaCommands(chats, "zh")
    listed = await personas.choose(None, "")
    assert "default, tech_assistant, life_advisor" in listed
    assert "当前：default" in listed
    assert "“life_advisor”" in await personas.choose(None, "life_advisor")
    assert chats.chosen == "life_advisor"
    for typed in ("<life_advisor>", "“tech_assistant”"):
        assert "已切换" in await personas.choose(None, typed)
        assert chats.chosen == typed.strip("<>“”")
    await personas.choose(None, "<unset>")
    assert chats.chosen == NO_PERSONA
    assert "当前：（无）" in await personas.choose(None, "")
    assert chats.conversations == 1


@pytest.mark.parametrize("name", ["nobody", "Tech_Assistant", "{0}", "[%None]"])
async def test_unknown_ones_change_nothing(name: str) -> None:
    chats = Chats()
    personas = PersonaCommands(chats, "en")
    for text in (await personas.choose(None, name), await personas.begin(None, name)):
        assert name in text
        assert "There are: default" in text
    assert (chats.chosen, chats.conversations) == ("default", 1)


async def test_new_conversation() -> None:
    chats = Chats()
    assert "“tech_assistant”" in await PersonaCommands(chats, "zh").begin(None, "tech_assistant")
    assert (chats.chosen, chats.conversations) == ("tech_assistant", 2)


async def test_a_session_rule_is_told() -> None:
    personas = PersonaCommands(Chats(rule="life_advisor"), "zh")
    for text in (
        await personas.choose(None, "tech_assistant"),
        await personas.begin(None, "tech_assistant"),
        await personas.choose(None, "unset"),
    ):
        assert "会话的规则" in text
        assert "life_advisor" in text
    assert "会话的规则" not in await personas.choose(None, "life_advisor")
