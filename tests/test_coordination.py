"""Several bots on one memory, as whole memories: a real PostgreSQL, real files."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest

from graph_memory.commands.offline_commands import BackupCommands
from graph_memory.deletion.forget_me import bars, erase
from graph_memory.errors import JournalError
from graph_memory.inspect.health import describe
from graph_memory.model import Message, Turn
from graph_memory.settings import Settings
from graph_memory.store import journal as store_journal
from graph_memory.store.outbox import Heard
from tests.makers import CHINA, holding
from tests.postgres import Postgres, set_back
from tests.waiting import until
from tests.world import CLUB, HOME, LI, ZHANG, World, li_in_club, living, zhang, zhang_in_club

pytestmark = pytest.mark.server


class Bots:
    def __init__(self, folder: Path, dsn: str) -> None:
        self.folder, self.settings = folder, Settings(shared_journal=dsn)
        self.stack = AsyncExitStack()

    async def start(self, name: str) -> World:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        world = await self.stack.enter_async_context(living(folder, self.settings))
        world.memory.coordination._reported = -1e9
        return world


@pytest.fixture
async def bots(tmp_path: Path, dsn: str) -> AsyncIterator[Bots]:
    made = Bots(tmp_path, dsn)
    yield made
    await made.stack.aclose()


async def followed(*worlds: World) -> None:
    """Wait until all have followed the others."""
    for world in worlds:
        await world.memory.journal._follow()
    for world in worlds:
        await world.memory.coordination._job.idle()
        await world.memory.settle()


async def forgotten_by_the_first(bots: Bots, one: World, two: World) -> None:
    """Have one forget somebody of whom the other has a backup."""
    await followed(one, two)
    await two.memory.backups.make("manual")
    assert holding(bots.folder / "two", "山竹虫", "**/*.sqlite3")
    await one.memory.forget_me.forget(ZHANG)
    await followed(two, one)


async def test_what_is_told_to_one_bot_the_other_recalls_in_the_same_words(bots: Bots) -> None:
    one, two = await bots.start("one"), await bots.start("two")
    await one.say(zhang, "我最爱吃的是椒麻鸡")
    await followed(one, two)
    blocks = [
        (await world.memory.recall.remind(zhang.asker, "我爱吃什么？")).block
        for world in (one, two)
    ]
    assert "椒麻鸡" in blocks[0]
    assert blocks[0] == blocks[1]


async def test_a_batch_is_learned_by_one_of_two(bots: Bots) -> None:
    one, two = await bots.start("one"), await bots.start("two")
    for number in range(4):
        await (one, two)[number % 2].say(zhang, f"我去过第{number}座山")
    await followed(one, two)
    await one.memory.learning.flush()
    await followed(one, two)
    await two.memory.learning.flush()
    assert len(one.model.calls) + len(two.model.calls) == 1
    assert not await two.memory.journal.queue()


async def test_a_batch_that_another_bot_learns_is_left_to_it(bots: Bots) -> None:
    one, two = await bots.start("one"), await bots.start("two")
    await one.say(zhang, "我去过泰山")
    assert await one.memory.journal.lease("batch 1", 240)
    await followed(one, two)
    assert await two.memory.learning.flush() == 0
    assert not two.model.calls
    await one.memory.journal.give("batch 1")
    await followed(one, two)
    await two.memory.learning.flush()
    async with asyncio.timeout(30):
        while await one.memory.journal.queue():  # the first may be at it by itself
            await followed(one, two)
    assert len(one.model.calls) + len(two.model.calls) == 1


async def test_a_pause_holds_with_every_bot(bots: Bots) -> None:
    one, two = await bots.start("one"), await bots.start("two")
    await one.memory.learning.pauses.pause("user", ZHANG)
    await followed(two)
    assert await two.memory.learning.hear(replace(zhang, text="别记这句")) is None
    assert await two.memory.learning.hear(replace(li_in_club, text="这句可以"))


async def test_who_is_forgotten_by_one_is_gone_from_all_files_of_all(bots: Bots) -> None:
    one, two = await bots.start("one"), await bots.start("two")
    await one.say(zhang, "我最怕山竹虫")
    await one.say(li_in_club, "今天聚餐")
    await forgotten_by_the_first(bots, one, two)
    for name in ("one", "two"):
        assert not holding(bots.folder / name, "山竹虫")
    assert [m.text for m in await two.memory.journal.newest_messages(9)] == ["今天聚餐"]
    assert (await two.memory.journal.report())[0].silent < 60


async def test_who_was_forgotten_stays_so_if_the_server_is_set_back(bots: Bots) -> None:
    one, two = await bots.start("one"), await bots.start("two")
    await one.say(zhang, "我最怕山竹虫")
    await one.memory.learning.hear(replace(li_in_club, text="这句我要撤回", ref="5@5"))
    await followed(one, two)
    with set_back(bots.settings.shared_journal):
        await one.memory.forget_me.forget(ZHANG)
        assert await one.memory.library.retract(CLUB.circle, "5")
        await followed(two, one)
    for _ in range(2):
        await followed(one, two)
    for name, world in (("one", one), ("two", two)):
        assert [m.text for m in await world.memory.journal.newest_messages(9)] == [], name


@pytest.mark.parametrize("after", ["a restart", "a set-back"])
async def test_who_is_to_be_forgotten_is_erased_from_what_another_bot_just_delivered(bots, after):
    """This bot has not even followed it."""
    one, two = await bots.start("one"), await bots.start("two")
    await followed(one, two)
    memory = one.memory
    stone = memory.backups._tombstones.add(ZHANG, memory.journal.clock() + 1)
    await memory.journal._following.close()
    await two.say(zhang, "我最怕山竹虫")
    if after == "a restart":
        await memory.coordination._finish({stone.id: stone.at})
    else:
        await memory.coordination._do_again({f"erased:{stone.id}"})
    await followed(two, one)
    for world in (one, two):
        assert await world.memory.journal.newest_messages(9) == []


async def test_what_waited_is_barred_while_its_author_is_being_erased(bots: Bots) -> None:
    one = await bots.start("one")
    await one.say(zhang, "我最怕山竹虫")
    journal, stones = one.memory.journal, one.memory.backups._tombstones
    stone = stones.add(ZHANG, journal.clock())
    said = replace((await journal.newest_messages(1))[0], id=0)

    def begin(db: sqlite3.Connection, _tell: object) -> list[bool]:
        next(erase(db, ZHANG, stone.at, key=stone.id))
        return [
            bars(stones, db)(Heard(replace(said, at=stone.at + late), HOME), stone.at + late)
            for late in (-1, 1)
        ]

    assert await journal.alter(begin) == [True, False]


async def test_who_forgot_people_before_it_joined_follows_what_others_forget(bots: Bots) -> None:
    one = await bots.start("one")
    (bots.folder / "two").mkdir()
    async with living(bots.folder / "two") as alone:  # it is empty, but for whom it forgot
        await alone.memory.forget_me.forget(LI)
    two = await bots.start("two")
    await one.say(zhang, "我最怕山竹虫")
    await forgotten_by_the_first(bots, one, two)
    assert not holding(bots.folder / "two", "山竹虫")
    stones = two.memory.backups._tombstones
    assert stones.find(LI)
    assert stones.find(ZHANG)


async def test_a_wrong_clock_does_not_let_in_what_was_said_before(bots: Bots) -> None:
    """What a bot heard is delivered after a restart, by when its clock was set right."""
    one, two = await bots.start("one"), await bots.start("two")
    journal, stones = one.memory.journal, one.memory.backups._tombstones
    stone = stones.add(ZHANG, two.memory.journal.clock())
    await two.memory.coordination._finish({stone.id: stone.at})
    await followed(one)
    said = Message(0, HOME.id, ZHANG, "张三", "我最怕山竹虫", stone.at - 60 + 3600)
    heard = Heard(said, HOME, ahead=-3600.0)
    journal.replica.ahead = -0.1
    later = replace(heard, message=replace(said, text="我回来了", at=stone.at + 3700))
    assert await journal.deliver([(1, heard)], 0) == [None]
    (stored,) = await journal.deliver([(2, later)], 1) or [None]
    assert stored
    assert [m.text for m in await journal.newest_messages(9)] == ["我回来了"]


async def test_a_backup_is_not_restored_by_one_bot_alone(bots: Bots) -> None:
    one = await bots.start("one")
    await one.say(zhang, "我在")
    backup = await one.memory.backups.make("manual")
    with pytest.raises(JournalError) as caught:
        await one.memory.backups.restore(backup.name)
    assert caught.value.code == "shared_restore"
    restores = BackupCommands(bots.folder / "one", "zh", UTC, one.memory.backups)
    for text in (backup.name, f"{backup.name} 确认"):
        told, is_prepared = await restores.answer(text)
        assert "先清空设置 shared_journal" in told
        assert not is_prepared


async def test_a_memory_leaves_with_all_it_holds(bots: Bots) -> None:
    one, two = await bots.start("one"), await bots.start("two")
    await one.say(zhang, "我住在通州")
    await followed(two)
    await two.memory.close()
    async with living(bots.folder / "two") as alone:
        assert [m.text for m in await alone.memory.journal.newest_messages(9)] == ["我住在通州"]
        await alone.say(zhang, "我自己过")
    with pytest.raises(JournalError) as caught:  # which the others would never know of
        await bots.start("two")
    assert caught.value.code == "shared_apart"


async def test_the_status_tells_of_the_others(bots: Bots, postgres: Postgres) -> None:
    one, two = await bots.start("one"), await bots.start("two")
    await one.say(zhang_in_club, "明天去爬山")
    await followed(one, two)
    one.memory.coordination._reported = -1e9
    await followed(one)
    told = describe(await one.memory.health(), "zh", CHINA)
    assert "共享：另有 1 个机器人（0 个没有音讯），本机 0 条消息待补交" in told
    postgres.stop()
    try:
        assert (await one.say(zhang, "断线了")).id < 0
        told = describe(await one.memory.health(), "zh", CHINA)
        assert "本机 1 条消息待补交" in told
        assert "连不上共享日志的服务器（日志里写着原因，也可能是密码" in told
        found = await one.memory.recall.remind(zhang_in_club.asker, "谁说明天去爬山？")
        assert "明天去爬山" in found.block
    finally:
        postgres.start()
    await until(lambda: one.memory.journal.waiting_messages == 0)


async def test_a_follow_up_is_sent_by_the_bot_that_is_in_the_chat(bots: Bots) -> None:
    one, two = await bots.start("one"), await bots.start("two")
    await one.say(zhang, "我在")
    await followed(two)
    assert await one.memory.journal.serves(HOME.circle)
    assert not await two.memory.journal.serves(HOME.circle)
    await two.say(zhang, "换到这边")
    await followed(one)
    assert not await one.memory.journal.serves(HOME.circle)
    assert not await two.memory.journal.serves(CLUB.circle)


async def test_who_is_cut_off_for_long_recalls_only_what_belongs_to_the_chat(bots, monkeypatch):
    """What somebody told elsewhere another bot may long have forgotten."""
    one = await bots.start("one")
    await one.say(zhang, "我最爱吃的是椒麻鸡")
    await one.say(zhang_in_club, "下周聚餐吃火锅")

    async def recalled(turn: Turn) -> str:
        return (await one.memory.recall.remind(turn.asker, "聚餐吃什么？")).block

    assert "火锅" in await recalled(zhang)
    monkeypatch.setattr(store_journal, "STALE", -1.0)
    assert "火锅" not in await recalled(zhang)
    assert "火锅" in await recalled(zhang_in_club)


async def test_what_is_asked_for_while_the_server_is_away_is_done_after_it(bots, postgres):
    """A retraction and a pause, over a restart; what was said meanwhile is retracted as well."""
    one = await bots.start("one")
    await one.memory.learning.hear(replace(li_in_club, text="这句我要撤回", ref="5@5"))
    await one.memory.learning.hear(replace(li_in_club, text="这句留着", ref="6@6"))
    postgres.stop()
    try:
        waiting = await one.memory.learning.hear(
            replace(li_in_club, text="断线时说错了", ref="7@7")
        )
        assert waiting.id < 0
        for ref in ("5", "7"):
            await one.memory.library.retract(CLUB.circle, ref)
        await one.memory.learning.pauses.pause("user", ZHANG)
        await one.memory.close()
        one = await bots.start("one")
        found = await one.memory.recall.remind(li_in_club.asker, "说错了什么？")
        assert "断线时说错了" in found.block, "what waits is recalled after a restart"
        assert await one.memory.learning.hear(replace(zhang, text="别记这句")) is None
    finally:
        postgres.start()
    two = await bots.start("two")

    async def is_done() -> bool:
        with suppress(JournalError):  # it is tried again after two seconds
            await followed(one, two)
        texts = [m.text for m in await two.memory.journal.newest_messages(9)]
        return texts == ["这句留着"] and two.memory.learning.pauses.holds("user", ZHANG)

    for _ in range(100):
        if await is_done():
            return
        await asyncio.sleep(0.1)
    raise AssertionError("it was forgotten")
