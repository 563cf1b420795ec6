"""@ and quotes through a real QQ adapter: who is meant is known by account, not by name."""

import json

import pytest

from .extractor import is_extraction
from .harness import segment, wait_until
from .test_remembering import texts
from .world import World, injected

pytestmark = [pytest.mark.e2e, pytest.mark.host, pytest.mark.asyncio(loop_scope="session")]

GROUP = 5070


def addressees(world: World, sender: int) -> list[list[object]]:
    """Whom the newest message of somebody turns to."""
    query = "SELECT addressees FROM message WHERE sender = ? ORDER BY id DESC LIMIT 1"
    ((text,),) = world.journal(query, f"aiocqhttp:{sender}")
    found: list[list[object]] = json.loads(text)
    return found


async def test_somebody_mentioned_and_quoted_is_who_is_meant(world: World) -> None:
    world.qq.nicknames |= {1701: "小红", 1703: "小红"}

    async def kept(account: int, count: int) -> None:
        """AstrBot handles messages side by side: the next is sent when this one is stored."""
        sender = f"aiocqhttp:{account}"
        await wait_until(lambda: len(texts(world, sender)) == count, 10, "a message")

    said = await world.qq.send_group(GROUP, 1702, "周末去哪里玩", "小明")
    await kept(1702, 1)
    await world.qq.send_group(GROUP, 1703, "我先不去了", "小红")
    await kept(1703, 1)
    mention = [segment("at", qq="1701"), segment("text", text=" 喜欢攀岩")]
    await world.qq.send_group(GROUP, 1702, mention, "小明")
    await kept(1702, 2)
    assert texts(world, "aiocqhttp:1702")[-1] == "@小红 喜欢攀岩"
    assert addressees(world, 1702) == [["aiocqhttp:1701", "小红", None]]

    answer = [segment("reply", id=str(said)), segment("at", qq=str(world.qq.self_id))]
    await world.qq.ask_group(GROUP, 1704, [*answer, segment("text", text="我打算去爬山")], "小刚")
    (quoted, bot) = addressees(world, 1704)
    assert (quoted[:2], bot[0]) == (["aiocqhttp:1702", "小明"], "bot")
    query = "SELECT text FROM message WHERE id = ?"
    assert world.journal(query, quoted[2]) == [("周末去哪里玩",)]
    assert texts(world, "aiocqhttp:1704") == ["我打算去爬山"]  # nobody else's words

    await world.learn()
    asked = [call.last_user for call in world.llm.calls if is_extraction(call)]
    (prompt,) = [text for text in asked if "喜欢攀岩" in text]
    assert "↪[1] @BOT 我打算去爬山" in prompt
    # The one who was mentioned, who has not said a word, and not the other of that name.
    query = "SELECT a FROM row WHERE kind = 'fact' AND data LIKE '%小红喜欢攀岩%'"
    assert world.journal(query) == [("aiocqhttp:1701",)]
    call = await world.say_in(GROUP, 1704, "小红喜欢什么来着？")
    assert "攀岩" in injected(call)
