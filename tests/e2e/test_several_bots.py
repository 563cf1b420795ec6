"""Two QQ accounts of ours in one group, in one AstrBot, with one memory."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from .extractor import is_extraction
from .harness import BOT_ID, BotMessage, OneBotClient, free_port, segment, wait_until
from .world import World, injected, living

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

GROUP, OTHER_ID = 7001, 20000
HONG, MING = 701, 702


@dataclass
class Group:
    """A group in which both accounts hear all that somebody else says."""

    world: World
    accounts: dict[int, OneBotClient]

    async def say(self, account: int, text: str, name: str = "", *, to: int = 0) -> None:
        """Somebody says something, to one of the bots if to any."""
        said = [segment("at", qq=str(to)), segment("text", text=f" {text}")] if to else text
        for own, client in self.accounts.items():
            if own != account:
                await client.send_group(GROUP, account, said, name or None)

    async def ask(self, account: int, text: str, name: str = "", *, to: int) -> BotMessage:
        """Ask one of the bots; its answer is heard by the other one."""
        self.accounts[to].drain(group_id=GROUP)
        await self.say(account, text, name, to=to)
        answer = await self.accounts[to].next_message(group_id=GROUP)
        await self.say(to, answer.text)
        return answer

    def said(self) -> list[tuple[str, str]]:
        """What is stored of the group, in order."""
        return self.world.journal(
            f"SELECT sender, text FROM message WHERE session LIKE '%:{GROUP}#%' ORDER BY id"
        )


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def club(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Group]:
    port = free_port()
    async with living(tmp_path_factory.mktemp("several"), other_port=port) as world:
        await world.ready()
        other = OneBotClient(world.bot, OTHER_ID, port=port, first_id=5001)
        async with other:
            yield Group(world, {BOT_ID: world.qq, OTHER_ID: other})


@pytest.mark.host
async def test_two_accounts_in_one_group(club: Group) -> None:
    lines = [
        (HONG, "我最喜欢茉莉花茶", "小红"), (MING, "我养了一只叫豆豆的猫", "小明"),
        (HONG, "哈哈", "小红"), (HONG, "哈哈", "小红"), (MING, "我打算周末去爬山", "小明"),
    ]  # fmt: skip
    for line in lines:
        await club.say(*line)
    await wait_until(lambda: len(club.said()) >= len(lines), 10, "the lines")
    answers = [
        await club.ask(HONG, "你擅长什么？", to=BOT_ID),
        await club.ask(MING, "我们聊点别的吧", to=OTHER_ID),
    ]
    # The bots talk to each other for a while: one is asked by the other.
    club.world.llm.when("接着聊", "我最喜欢围棋，我住在云端。")
    for asker, asked in ((BOT_ID, OTHER_ID), (OTHER_ID, BOT_ID)):
        await club.ask(asker, "我最喜欢围棋，接着聊", to=asked)
    await club.say(MING, "再见", "小明")
    await wait_until(lambda: club.said()[-1][1] == "再见", 10, "the last line")
    human = [(f"aiocqhttp:{who}", text) for who, text, _ in lines]
    assert sorted(club.said()) == sorted([
        *human, (f"aiocqhttp:{HONG}", "你擅长什么？"), (f"aiocqhttp:{MING}", "我们聊点别的吧"),
        *(("bot", answer.text.strip()) for answer in answers), (f"aiocqhttp:{MING}", "再见"),
    ])  # fmt: skip
    await club.world.learn()
    calls = [call for call in club.world.llm.calls if is_extraction(call)]
    batches = club.world.journal(f"SELECT id FROM batch WHERE session LIKE '%:{GROUP}#%'")
    assert (len(calls), len(batches)) == (1, 1)
    learned = club.world.journal(
        "SELECT json_extract(data, '$.statement') FROM row WHERE kind = 'fact'"
    )
    assert sorted(statement for (statement,) in learned) == [
        "小明养了一只叫豆豆的猫",
        "小明打算周末去爬山",
        "小红喜欢茉莉花茶",
    ]
    people = {id for (id,) in club.world.journal("SELECT id FROM row WHERE kind = 'user'")}
    assert {f"aiocqhttp:{own}" for own in club.accounts}.isdisjoint(people)


async def test_two_astrbots_share_one_memory(tmp_path_factory, dsn):
    """What one hears the other recalls and does not learn again; one goes on alone."""
    settings = {"shared_journal": dsn}
    folders = [tmp_path_factory.mktemp(name) for name in ("here", "there")]
    async with (
        living(folders[0], settings=settings) as here,
        living(folders[1], settings=settings) as there,
    ):
        for world in (here, there):
            await world.ready()
        await here.say(HONG, "我最喜欢茉莉花茶", "小红")
        await here.learn()
        assert sum(map(is_extraction, here.llm.calls)) == 1
        query = "SELECT id, text, batch FROM message ORDER BY id"

        def is_same() -> bool:
            return here.journal(query) == there.journal(query)

        await wait_until(is_same, 20, "the same messages")
        call = await there.say(HONG, "我喜欢喝什么来着？", "小红")
        assert "茉莉花茶" in injected(call)
        await there.learn()  # by whichever of the two took it first
        learned = "SELECT id FROM change WHERE batch IS NOT NULL"
        await wait_until(lambda: len(here.journal(learned)) == 2, 30, "both to be learned")
        await wait_until(is_same, 20, "the same messages")
        assert sum(is_extraction(call) for world in (here, there) for call in world.llm.calls) == 2
