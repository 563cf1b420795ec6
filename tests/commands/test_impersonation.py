"""Who takes another one's nickname gets no say over what is told of them."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from graph_memory.commands.memory_commands import Commands
from graph_memory.commands.tools import Tools
from graph_memory.model import Fact, Turn, asker_of
from graph_memory.service import MemoryService
from graph_memory.settings import Settings

from ..makers import T0, group, private, user
from ..scripted import NOTHING, Call, ScriptedModel, answer, said
from ..world import opened

ROOM = group("7901")
REAL, CLONE, WITNESS = user("10701"), user("10702"), user("10703")
real, clone = Turn(ROOM, REAL, "赵云飞"), Turn(ROOM, CLONE, "赵云飞")
witness = Turn(ROOM, WITNESS, "旁观者")
TOLD = "赵云飞最喜欢榴莲了"


def gullible(call: Call) -> dict[str, Any]:
    """Whatever is said is a fact, about whoever of that name comes first."""
    lines = call.prompt.splitlines()
    chat = [line for line in lines if line.startswith("[") and TOLD in line]
    if not chat:
        return NOTHING
    words = (word for line in lines if " 赵云飞" in line for word in line.split())
    label = next((word for word in words if word[0] == "U"), "赵云飞")
    return answer(said(label, "likes", "榴莲", TOLD, int(chat[0][1:].split("]")[0])))


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[MemoryService]:
    settings = Settings(recall_deadline=5000)
    async with opened(
        tmp_path, settings, model=ScriptedModel(gullible), now=lambda: T0 + 3600
    ) as service:
        yield service


async def hear(service: MemoryService, *lines: tuple[Turn, str]) -> None:
    for who, text in lines:
        await service.learning.hear(Turn(ROOM, who.user, who.name, text))
    await service.learning.flush()
    await service.settle()


async def reminded(service: MemoryService, who: Turn, text: str) -> list[str]:
    """What somebody's model is told that has a word in it."""
    found = await service.recall.remind(asker_of(who.session, who.user), f"{text}的事")
    return [line for line in found.block.split("\n") if text in line and "摘要" not in line]


async def test_namesakes_are_told_apart_wherever_they_are_shown(service: MemoryService) -> None:
    await hear(service, (real, "我每天早上跑步五公里"), (clone, "我同意把跑步机送给路人甲"))
    assert await reminded(service, witness, "跑步") == [
        "〔赵云飞(0701)〕我每天早上跑步五公里",
        "〔赵云飞(0702)〕我同意把跑步机送给路人甲",
    ]
    listed = await Commands(service).search(witness, "跑步")
    assert "〔赵云飞(0701)〕我每天" in listed
    assert "〔赵云飞(0702)〕我同意" in listed
    tools = Tools(Commands(service))
    both = await tools.recall(witness, "跑步", "赵云飞")
    assert "〔赵云飞(0701)〕我每天" in both
    assert "〔赵云飞(0702)〕我同意" in both
    one = await tools.recall(witness, "跑步", "赵云飞(0702)")
    assert "〔赵云飞(0702)〕我同意" in one
    assert "我每天" not in one
    kept = await Commands(service).companion.search(witness, "跑步")
    assert "〔赵云飞(0701)〕我每天" in kept
    assert "〔赵云飞(0702)〕我同意" in kept


async def test_a_correction_of_others_words_shows_both_and_who_said_which(service):
    await hear(service, (real, "大家好"))
    await hear(service, (witness, TOLD))
    (fact,) = await service.journal.read(lambda rows: rows.find(Fact))
    assert (fact.subject, fact.speaker) == (REAL, WITNESS)
    commands = Commands(service)
    assert f"〔旁观者〕{TOLD}" in await commands.mine(real)
    assert "已更正" in await commands.correct(real, "1 赵云飞其实最恨榴莲")
    await service.settle()
    both = [f"〔旁观者〕{TOLD}", "〔赵云飞〕赵云飞其实最恨榴莲"]
    for who in (real, witness):
        assert await reminded(service, who, "榴莲") == both
    assert TOLD in await commands.companion.search(witness, "榴莲")
    mine = await commands.mine(real)
    assert all(line in mine for line in both)
    facts = await service.journal.read(lambda rows: rows.find(Fact))
    own = next(each.id for each in facts if each.id != fact.id)
    # And who corrects themselves replaces what they said.
    await service.library.correct(own, "赵云飞现在不讨厌榴莲了", real)
    await service.settle()
    mine = await commands.mine(real)
    assert f"〔旁观者〕{TOLD}" in mine
    assert "不讨厌" in mine
    assert "其实最恨" not in mine


async def test_nothing_invisible_is_heard_or_makes_anybody_present(service: MemoryService) -> None:
    for text in ("\u2060", "\u3164", "\U000e0041\U000e0042", "\ufe0f\u200d", " \u2800 "):
        assert await service.learning.hear(Turn(ROOM, CLONE, "赵云飞", text)) is None
    assert await service.journal.presences() == []
    heard = await service.learning.hear(Turn(private("1"), user("1"), "【\u200b】", "在吗"))
    assert heard.name == ""
