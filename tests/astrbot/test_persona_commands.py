"""``/persona`` and ``/new <persona>``, with AstrBot's part played by a few lines."""

from typing import Any

import pytest

from graph_memory.astrbot.persona_commands import PersonaCommands
from graph_memory.model import NO_PERSONA


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


async def test_list() -> None:
    text = await PersonaCommands(Chats(), "zh").choose(None, "")
    assert "default, tech_assistant, life_advisor" in text
    assert "当前：default" in text


async def test_switch_and_unset() -> None:
    chats = Chats()
    personas = PersonaCommands(chats, "zh")
    assert "“life_advisor”" in await personas.choose(None, "life_advisor")
    assert chats.chosen == "life_advisor"
    await personas.choose(None, "unset")
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
