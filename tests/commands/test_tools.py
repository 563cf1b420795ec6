"""What the chat model's tools answer and change, on a real memory."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from graph_memory.commands.memory_commands import Commands
from graph_memory.commands.tools import RECALL, RECORD_TOOLS, SEARCH, TOOLS, Tools
from graph_memory.errors import NotFoundError
from graph_memory.model import Entity, Fact, Message, Turn, User
from graph_memory.retention import DAY
from graph_memory.service import MemoryService
from graph_memory.settings import Settings

from ..cases import cases
from ..dialogue import played
from ..makers import T0, entity, fact, name, private, put, user
from ..sources import ROOT
from ..world import opened
from . import CLUB, HOME, LI, ZHANG, admin, li_in_club, zhang, zhang_in_club

CASES = cases(Path(__file__).with_name("tools.txt"))
WANG = user("wang")
CLIMBING, PEANUTS, TEA, CAT = entity("爬山"), entity("花生"), entity("龙井"), entity("豆豆")

admin_in_club = replace(admin, session=CLUB)
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


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[MemoryService]:
    async with opened(tmp_path, Settings(recall_deadline=5000), now=lambda: T0 + 60) as memory:
        await known(memory)
        yield memory


@pytest.mark.parametrize("name", CASES)
async def test_what_a_tool_answers(tmp_path: Path, name: str) -> None:
    await played(tmp_path, CASES[name], lambda world: known(world.memory))


@pytest.fixture
def tools(commands: Commands) -> Tools:
    return Tools(commands)


async def said(memory: MemoryService, caller: Turn, text: str) -> int:
    """A message of a caller's, as the hook stores it."""
    message = await memory.learning.hear(Turn(caller.session, caller.user, caller.name, text))
    return message.id


def id_of(told: str, text: str) -> str:
    """The short id beside some words."""
    found = re.search(rf"\[(m:[0-9a-f]{{4,}})\] [^\[]*{re.escape(text)}", told)
    assert found, told
    return found[1]


# ------------------------------------------------------------------- correct


def answering(turn: Turn, message: int) -> Turn:
    """The turn whose stored message is the one with this id."""
    return replace(turn, message=Message(message, turn.session.id, turn.user, turn.name, "", 0.0))


async def facts(memory: MemoryService) -> list[Fact]:
    return await memory.journal.read(lambda rows: rows.find(Fact))


async def test_a_correction_rests_on_what_the_person_said(tools, memory):
    id = id_of(await tools.recall(zhang, "花生过敏"), "花生")
    assert "没有用户的消息" in await tools.correct(zhang, id, "张三不过敏")
    others = await said(memory, li_in_club, "大家好呀")
    assert "没有编号" in await tools.correct(answering(zhang, others), id, "张三不过敏")
    await memory.learning.pauses.pause("user", ZHANG)
    assert "没有编号" not in await tools.correct(answering(zhang, others), id, "张三不过敏")
    assert [f.statement for f in await facts(memory) if "不过敏" in f.statement] == []


# -------------------------------------------------------------------- forget


async def test_only_what_was_shown_is_changed(tools, commands, memory):
    """An id of something hidden, of somebody else's, and of nothing: all are alike."""
    shown = id_of(await tools.recall(zhang, "花生过敏"), "花生")
    message = await said(memory, zhang_in_club, "不对")
    before = await facts(memory)
    for caller, id in (
        (zhang_in_club, shown), (li_in_club, shown), (zhang, SECRET.id), (admin_in_club, SECRET.id),
        (zhang, "m:0000"), (zhang, ""),
    ):  # fmt: skip
        unknown = f"没有编号为 {id} 的记忆可以改动。请先用 memory_recall 查找。"
        assert await tools.forget(caller, id) == unknown
        assert await tools.correct(answering(caller, message), id, "换个说法") == unknown
    theirs = id_of(await tools.recall(admin_in_club, "张三 爬山"), "张三喜欢爬山")
    unknown = f"没有编号为 {theirs} 的记忆可以改动。请先用 memory_recall 查找。"
    assert await tools.forget(admin_in_club, theirs) == unknown, "a model has no admin's rights"
    theirs = id_of(await tools.recall(zhang_in_club, "李四 龙井"), "李四爱喝龙井")
    assert "没有编号" in await tools.correct(
        answering(zhang_in_club, message), theirs, "李四爱喝咖啡"
    )
    assert await facts(memory) == before
    assert "已忘掉" in await commands.forget(zhang, shown), "a command takes the id as well"


async def test_what_is_hidden_meanwhile_is_as_good_as_gone(tools, memory):
    in_private = Turn(private("li"), LI, "李四")
    id = id_of(await tools.recall(in_private, "李四 龙井"), "李四爱喝龙井")
    memory.attendance.forget(LI)
    assert "没有编号" in await tools.forget(in_private, id)


# ---------------------------------------------------------------------- all


async def test_what_the_model_gives_may_be_anything(tools: Tools, commands: Commands) -> None:
    assert "花生" in await tools.use(zhang, "memory_recall", {"query": "花生过敏", "person": None})
    for odd in ({}, {"id": 7}, {"id": ["m"], "text": {}}, {"id": "{x}%s'\"", "text": "{y}"}):
        assert "没有编号" in await tools.use(zhang, "memory_correct", odd)
        assert "没有编号" in await tools.use(zhang, "memory_forget", odd)
    assert "要记住什么" in await tools.use(zhang, "memory_remember", {})
    assert "记住了" in await tools.use(zhang, "memory_remember", {"text": "我养了一只叫豆豆的猫"})
    assert "豆豆" in await commands.mine(zhang)
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
