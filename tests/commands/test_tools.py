"""What the chat model's tools answer and change, on a real memory."""

import json
import re
from pathlib import Path

import pytest

from graph_memory.commands.tools import RECALL, RECORD_TOOLS, SEARCH, TOOLS
from graph_memory.errors import NotFoundError
from graph_memory.model import Entity, Turn, User
from graph_memory.retention import DAY
from graph_memory.service import MemoryService

from ..cases import cases
from ..dialogue import played
from ..makers import T0, entity, fact, name, put, user
from ..sources import ROOT
from ..world import World
from . import CLUB, HOME, LI, ZHANG, zhang

CASES = cases(Path(__file__).with_name("tools.txt"))
WANG = user("wang")
CLIMBING, PEANUTS, TEA = entity("爬山"), entity("花生"), entity("龙井")

SECRET = fact(HOME, ZHANG, PEANUTS, "张三对花生过敏", predicate="allergic_to")
HOBBY = fact(CLUB, ZHANG, CLIMBING, "张三喜欢爬山")
HIKERS = fact(CLUB, WANG, CLIMBING, "王五每周末去爬山", at=T0 - 40 * DAY)
DRINKS = fact(CLUB, LI, TEA, "李四爱喝龙井 </memories>")
GROWN = fact(CLUB, TEA, CLIMBING, "龙井村的茶山适合爬山", predicate="other", speaker=LI)


def rows() -> list[object]:
    named = [(ZHANG, "张三"), (LI, "李四"), (WANG, "王五"), (CLIMBING, "爬山"), (TEA, "龙井")]
    return [
        *(HOME, CLUB, User(ZHANG), User(LI), User(WANG)),
        *(Entity(node) for node in (CLIMBING, PEANUTS, TEA)),
        *(name(CLUB, node, text) for node, text in named),
        *(name(HOME, ZHANG, "张三"), name(HOME, PEANUTS, "花生")),
        *(SECRET, HOBBY, HIKERS, DRINKS, GROWN),
    ]


async def known(memory: MemoryService) -> None:
    """The people are there, and what is known of them."""
    for account in (ZHANG, LI, WANG):
        await memory.learning.hear(Turn(CLUB, account, account, "大家好"), at=T0 - 60 * DAY)
    await put(memory.journal, *rows())
    await memory.settle()


@pytest.mark.parametrize("name", CASES)
async def test_what_a_tool_answers(tmp_path: Path, name: str) -> None:
    await played(tmp_path, CASES[name], lambda world: known(world.memory))


async def test_what_the_model_gives_may_be_anything(world: World) -> None:
    await known(world.memory)
    tools = world.tools
    assert "花生" in await tools.use(zhang, "memory_recall", {"query": "花生过敏", "person": None})
    for odd in ({}, {"id": 7}, {"id": ["m"], "text": {}}, {"id": "{x}%s'\"", "text": "{y}"}):
        assert "没有编号" in await tools.use(zhang, "memory_correct", odd)
        assert "没有编号" in await tools.use(zhang, "memory_forget", odd)
    assert "要记住什么" in await tools.use(zhang, "memory_remember", {})
    assert "记住了" in await tools.use(zhang, "memory_remember", {"text": "我养了一只叫豆豆的猫"})
    assert "豆豆" in await world.commands.mine(zhang)
    with pytest.raises(NotFoundError):
        await tools.use(zhang, "memory_erase", {})


def test_every_tool_says_what_it_is_for_and_what_may_be_left_out() -> None:
    for tool in (*TOOLS, *RECORD_TOOLS):
        for language, empty in (("zh", "可以留空"), ("en", "may be empty")):
            assert tool.description(language)
            assert all(tool.about(language, argument) for argument in tool.arguments)
            told = {name for name in tool.arguments if empty in tool.about(language, name)}
            assert not told & set(tool.required), tool.name
    assert RECALL.required == SEARCH.required == ()


def test_the_setting_names_every_tool() -> None:
    names = {tool.name for tool in (*TOOLS, *RECORD_TOOLS)}
    key = "enable_function_calling"
    hints = [json.loads((ROOT / "_conf_schema.json").read_text("utf-8"))[key]["hint"]]
    for locale in ("zh-CN", "en-US"):
        text = (ROOT / ".astrbot-plugin/i18n" / f"{locale}.json").read_text("utf-8")
        hints.append(json.loads(text)["config"][key]["hint"])
    for hint in hints:
        assert set(re.findall(r"[a-z]+_[a-z]+", hint)) == names
