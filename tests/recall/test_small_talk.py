import pytest

from graph_memory.model import asker_of
from graph_memory.recall.query import is_small_talk, is_task
from graph_memory.recall.weights import BRIEF
from tests.cases import rows

from ..makers import T0, entity, fact, private, user
from .conftest import Memory

HOME, ZHANG = private("zhang"), user("zhang")


@pytest.mark.parametrize("text", rows(__file__, "test_what_says_nothing"))
def test_what_says_nothing(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "安娜", "早饭吃什么", "我的生日", "我住在好安村", "了解一下项目", "好人", "行李呢",
        "thanks to Ann", "okra", "I'm bored of Leith", "哈" * (BRIEF + 1),
    ],
)  # fmt: skip
def test_what_says_something(text: str) -> None:
    assert not is_small_talk(text)


@pytest.mark.parametrize(("text", "expected"), rows(__file__, "test_what_is_a_task"))
def test_what_is_a_task(text: str, expected: bool) -> None:
    assert is_task(text) is expected


async def test_earlier_questions_are_no_memories(memory: Memory) -> None:
    await memory.open()
    await memory.say(HOME, ZHANG, "我对什么药过敏？")
    await memory.say(HOME, ZHANG, "推荐点零食吧")
    assert (await memory.ask(HOME, "我对什么药过敏来着？")).block == ""
    assert (await memory.ask(HOME, "有什么零食推荐？")).block == ""
    await memory.say(HOME, ZHANG, "我对青霉素过敏")
    assert "青霉素" in (await memory.ask(HOME, "我对什么药过敏？")).block
    assert memory.recaller
    found = await memory.recaller.find(asker_of(HOME, ZHANG), "药过敏")
    assert [item.text.endswith("我对什么药过敏？") for item in found.items] == [True]


async def test_what_names_another_time_is_of_that_time(memory: Memory) -> None:
    await memory.open()
    await memory.say(HOME, ZHANG, "我们这周六在骰子屋聚", T0 - 9 * 86_400)
    await memory.say(HOME, ZHANG, "我们下周日在椒麻记聚", T0 - 8 * 86_400)
    await memory.know(fact(HOME, ZHANG, entity("湖边"), "张三2026-08-30在湖边聚", predicate="did"))
    memory.now = T0 - 7 * 86_400
    block = (await memory.ask(HOME, "周日在哪儿聚？")).block
    assert "椒麻记" in block
    assert "骰子屋" not in block
    assert "湖边" not in block
