"""A message that is taken back (撤回) leaves no words behind: in rows, log and file."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest
import pytest_asyncio

from graph_memory.errors import ConflictError, NotFoundError
from graph_memory.model import Change, Episode, Fact, Mention, Message, Name
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from graph_memory.store import Draft
from tests.views import assert_views_follow

from ..learning.chat import Chat
from ..learning.scripted import answer, said, thing
from ..makers import T0, all_changes, group, holding, user

CLUB = group("读书会")
ZHANG, LI = user("zhang"), user("li")
PLANTED = "蓝鲸暗号"
"""In everything that rests on what was taken back, and nowhere else."""


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[MemoryService]:
    memory = await MemoryService.open(tmp_path, Settings(), zone=UTC, now=lambda: T0 + 10_000)
    yield memory
    await memory.close()


@pytest.fixture
def chat(memory: MemoryService) -> Chat:
    return Chat(memory.journal, CLUB)


def left(memory: MemoryService) -> list[str]:
    """The files in which the planted words are."""
    return holding(memory.directory, PLANTED, "journal*")


async def learned(chat: Chat, before: int = 0) -> Message:
    """Zhang gives something away; a fact, an entity, an alias and a summary follow.

    Args:
        before: How many messages of the batch there are already.
    """
    secret = await chat.say("zhang", f"我的{PLANTED}是七号仓库，别外传", "张三", ref="1@5")
    await chat.say("li", "我喜欢爬山", "李四", ref="2@6")
    await chat.learn(
        answer(
            said("我", "owns", "E1", f"张三的{PLANTED}是七号仓库", before + 1),
            said("我", "likes", "爬山", "李四喜欢爬山", before + 2),
            entities=[thing("E1", PLANTED, "thing", f"我的{PLANTED}")],
            summary=f"张三说了{PLANTED}，李四爱爬山。",
        )
    )
    return secret


async def test_nothing_is_left_of_it(memory: MemoryService, chat: Chat):
    await learned(chat)
    assert left(memory)
    assert await memory.library.retract(CLUB.circle, "1")
    assert left(memory) == []
    assert list(await chat.facts()) == ["李四喜欢爬山"]
    names = {row.text for row in await chat.rows(Name)}
    assert names == {"张三", "李四", "爬山"}
    assert len(await chat.rows(Mention)) == 1
    (episode,) = await chat.rows(Episode)
    assert (episode.summary, episode.messages) == ("", 1)


async def test_states_of_the_past_go_too(memory: MemoryService, chat: Chat):
    """Strengthened, archived, ended by another message, and dropped: all is in the log."""
    await learned(chat)
    fact = (await chat.facts())[f"张三的{PLANTED}是七号仓库"]
    archived = replace(fact, status="archived", archived_at=T0)
    await memory.journal.commit(lambda _: Draft("upkeep", "archive", [archived]))
    await memory.journal.commit(lambda _: Draft("owner", "restore", [fact]))
    await chat.say("zhang", "那个换掉了", "张三", ref="3@7")
    await chat.show()
    number = chat.number(fact.statement)
    await chat.learn(answer(ended=[number]))
    assert len([f for f in await chat.rows(Fact) if PLANTED in f.statement]) == 2
    assert await memory.library.retract(CLUB.circle, "1")
    assert left(memory) == []


async def test_what_was_dropped_before_is_blanked_in_the_log(memory: MemoryService, chat: Chat):
    await learned(chat)
    fact = (await chat.facts())[f"张三的{PLANTED}是七号仓库"]
    await memory.journal.commit(lambda _: Draft("upkeep", "delete", drop=[("fact", fact.id)]))
    assert await memory.library.retract(CLUB.circle, "1")
    assert left(memory) == []


async def test_what_others_said_as_well_stays(memory: MemoryService, chat: Chat):
    await learned(chat)
    fact = (await chat.facts())[f"张三的{PLANTED}是七号仓库"]
    second = await chat.say("li", f"对，张三的{PLANTED}", "李四", ref="3@7")
    await chat.show()
    await chat.learn(answer(restated=[chat.number(fact.statement)]))
    before = await all_changes(memory.journal)
    assert await memory.library.retract(CLUB.circle, "1")
    kept = (await chat.facts())[fact.statement]
    assert kept.evidence == (second.id,)
    assert PLANTED in {name.text for name in await chat.rows(Name)}
    after = await all_changes(memory.journal)
    for was, now in zip(before, after, strict=False):
        for old, new in zip(was.ops, now.ops, strict=True):
            if old.kind == Fact.kind:
                assert new == old  # what stands can still be undone


async def test_what_it_undid_cannot_be_brought_back(memory: MemoryService, chat: Chat):
    await learned(chat)
    changes = await all_changes(memory.journal)
    (batch,) = [change.id for change in changes if change.batch is not None]
    assert await memory.library.retract(CLUB.circle, "1")
    last = await memory.journal.last_change()
    with pytest.raises(NotFoundError):
        await memory.library.undo(last, "owner")
    with pytest.raises(ConflictError) as refused:
        await memory.library.undo(batch, "owner")
    assert refused.value.later == last
    assert left(memory) == []


async def test_the_views_follow(memory: MemoryService, chat: Chat):
    await learned(chat)
    await memory.settle()
    told: list[Change] = []
    memory.journal.listen(lambda event: told.append(event) if isinstance(event, Change) else None)
    assert await memory.library.retract(CLUB.circle, "1")
    await memory.settle()
    assert PLANTED in str(told[-1].ops), "views are told what was there"
    await assert_views_follow(memory)


async def test_a_graph_that_was_away_follows_the_blank_log(tmp_path: Path):
    memory = await MemoryService.open(tmp_path, Settings(), zone=UTC, now=lambda: T0)
    chat = Chat(memory.journal, CLUB)
    await learned(chat)
    await memory.settle()
    await memory.graph.close()
    assert await memory.library.retract(CLUB.circle, "1")
    await memory.close()
    memory = await MemoryService.open(tmp_path, Settings(), zone=UTC, now=lambda: T0)
    await memory.settle()
    await assert_views_follow(memory)
    await memory.close()


async def test_a_message_that_was_not_learned_goes_without_a_change(
    memory: MemoryService, chat: Chat
):
    await chat.say("zhang", f"我的{PLANTED}", "张三", ref="1@5")
    before = await memory.journal.last_change()
    assert await memory.library.retract(CLUB.circle, "1")
    assert await memory.journal.last_change() == before
    assert left(memory) == []


@pytest.mark.parametrize("seed", range(4))
async def test_nothing_is_left_in_a_file_that_has_seen_much(
    memory: MemoryService, chat: Chat, seed: int
):
    """Pages have been split and filled many times by then; the file is not rewritten."""
    dice = random.Random(seed)
    journal = memory.journal
    for round in range(15):
        for number in range(20):
            text = f"闲聊{round}-{number}" + "嗯" * dice.randrange(1, 150)
            await chat.say("li", text, "李四")
        if round == 4:
            await learned(chat, before=20)
        else:
            facts = [
                said("我", "likes", f"物{n}", f"李四喜欢第{round}轮的物{n}", 1) for n in range(9)
            ]
            await chat.learn(answer(*facts, summary=f"第{round}轮" + "聊" * 200))
    assert left(memory)
    assert await memory.library.retract(CLUB.circle, "1")
    assert left(memory) == []
    assert journal.path.stat().st_size > 200_000


async def test_a_restored_backup_does_not_bring_it_back(tmp_path: Path):
    """Nor one that was made before another restore; what was not taken back is there."""

    async def opened() -> MemoryService:
        return await MemoryService.open(tmp_path, Settings(), zone=UTC, now=lambda: T0 + 10_000)

    memory = await opened()
    chat = Chat(memory.journal, CLUB)
    await learned(chat)
    backup = await memory.backups.make("manual")
    await chat.say("li", "晚些再说", "李四", ref="9@9")
    assert await memory.library.retract(CLUB.circle, "1")
    for _ in range(2):
        await memory.backups.restore(backup.name)
        await memory.close()
        assert PLANTED.encode() in backup.path.read_bytes()
        memory = await opened()
        chat = Chat(memory.journal, CLUB)
        assert left(memory) == []
        assert list(await chat.facts()) == ["李四喜欢爬山"]
        said = [message.text for message in await memory.journal.newest_messages(10)]
        assert said == ["我喜欢爬山"]
        assert not await memory.library.retract(CLUB.circle, "1")
    await memory.close()
