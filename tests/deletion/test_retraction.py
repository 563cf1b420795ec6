"""A message that is taken back (撤回) leaves no words behind: in rows, log, file and backups."""

import asyncio
import random
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from unittest.mock import Mock

import numpy as np
import pytest

from graph_memory.deletion import forget_me, retraction
from graph_memory.embedding import text_hash
from graph_memory.errors import ConflictError, NotFoundError
from graph_memory.maintenance import stage
from graph_memory.maintenance.backup import saved
from graph_memory.model import (
    Change,
    Entity,
    Episode,
    Fact,
    Mention,
    Message,
    Name,
    Turn,
    User,
    is_entity,
)
from graph_memory.recall.documents import Document
from graph_memory.references import Reference
from graph_memory.retention import DAY
from graph_memory.service import MemoryService
from graph_memory.store import Draft, Journal, copies
from graph_memory.store.connection import reading
from graph_memory.store.schema import MIGRATIONS, migrations_of
from tests.views import assert_views_follow

from ..cases import cases
from ..learning.chat import Chat
from ..learning.story import Story
from ..makers import (
    CLUB,
    T0,
    Clock,
    all_changes,
    broken_off,
    entity,
    fact,
    holding,
    last_change,
    mention,
    put,
    user,
    zhang_in_club,
)
from ..scripted import answer, said, thing
from ..world import opened

T = TypeVar("T")
CASES = cases(Path(__file__).with_name("retractions.txt"))
PLANTED = "蓝鲸纸条"
"""In everything that rests on what was taken back, and nowhere else."""


@pytest.fixture
def clock() -> Clock:
    return Clock(T0 + 10_000)


@pytest.fixture
def chat(memory: MemoryService) -> Chat:
    return Chat(memory.journal, CLUB)


def left(memory: MemoryService) -> list[str]:
    """The files in which the planted words are."""
    return holding(memory.directory, PLANTED, "journal*")


async def learned(chat: Chat, before: int = 0) -> Message:
    """Zhang gives something away; a fact, an entity, an alias and a summary follow."""
    secret = await chat.say("zhang", f"我的{PLANTED}是七号仓库", "张三", ref="1@5")
    await chat.say("li", "我喜欢爬山", "李四", ref="2@6")
    await chat.learn(
        answer(
            said(
                "我", "owns", "E1", f"张三的{PLANTED}是七号仓库", before + 1, keywords="库房 保管"
            ),
            said("我", "likes", "爬山", "李四喜欢爬山", before + 2),
            entities=[thing("E1", PLANTED, "thing", f"我的{PLANTED}")],
            summary=f"张三说了{PLANTED}，李四爱爬山。",
        )
    )
    return secret


@pytest.mark.parametrize("name", CASES)
async def test_no_word_is_left_of_it(journal: Journal, name: str):
    await Story(journal).play(CASES[name])


async def test_no_vector_is_left_of_it(memory: MemoryService, chat: Chat):
    """A vector tells what a text is about, though not its words."""
    secret = await learned(chat)
    (fact,) = [each for each in await chat.rows(Fact) if PLANTED in each.statement]
    assert fact.searched == f"{fact.statement} 库房 保管"
    texts = (secret.text, fact.statement, fact.searched, "我喜欢爬山")
    hashes = [text_hash(text) for text in texts]
    await memory.journal.put_vectors("模型", dict.fromkeys(hashes, np.ones(4, np.float32)))
    assert await memory.library.retract(CLUB.circle, "1")
    assert [*await memory.journal.vectors("模型", hashes)] == hashes[3:]


async def test_no_vector_is_left_of_what_held_a_secret(memory: MemoryService, chat: Chat):
    """It is embedded without the secret."""
    said = await chat.say("zhang", "我家门锁的密码是 Tulip2024x", "张三", ref="1@5")
    shown = Document.of(said).searched
    assert "Tulip" not in shown
    await memory.journal.put_vectors("模型", {text_hash(shown): np.ones(4, np.float32)})
    assert await memory.library.retract(CLUB.circle, "1")
    assert not await memory.journal.vectors("模型", [text_hash(shown)])


async def test_no_name_is_left_of_what_was_to_be_remembered_and_was_forgotten(memory):
    asked = Turn(CLUB, user("zhang"), "张三", PLANTED, ref="1@5")
    (kept,) = await memory.learning.remember(asked)
    await memory.library.forget([kept.id], None, "owner")
    assert await memory.library.retract(CLUB.circle, "1")
    assert left(memory) == []


async def test_what_is_taken_back_before_it_is_stored_goes_too(memory, chat):
    """While the disk takes its time, or long work is done."""
    moves = threading.Event()
    waits = asyncio.create_task(memory.journal.alter(lambda _db, _tell: moves.wait(10)))
    said = asyncio.create_task(chat.say("zhang", f"我的{PLANTED}", "张三", ref="1@5"))
    await asyncio.sleep(0.05)
    gone = asyncio.create_task(memory.library.retract(CLUB.circle, "1"))
    await asyncio.sleep(0.2)
    moves.set()
    assert await gone
    await asyncio.gather(waits, said)
    assert left(memory) == []


async def test_what_somebody_was_reading_goes_from_the_log_with_the_purge(memory, chat):
    await learned(chat)
    with reading(memory.journal.path):
        assert await memory.library.retract(CLUB.circle, "1")
    assert left(memory) == ["journal.sqlite3-wal"]
    await memory.backups.purge()
    assert left(memory) == []


async def test_what_a_full_disk_left_undone_is_done_with_the_purge(memory, chat):
    await learned(chat)
    with broken_off(memory.journal, 2):
        await memory.library.retract(CLUB.circle, "1")
    assert await memory.journal.look(retraction.unfinished)
    await memory.backups.purge()
    assert await memory.journal.look(retraction.unfinished) == []
    assert left(memory) == []


async def test_several_at_once_are_looked_up_once_and_leave_nothing(memory, chat, monkeypatch):
    await learned(chat)
    ids = [message.id for message in await memory.journal.newest_messages(9)]
    looks: list[int] = []
    plan = retraction.plan_for_messages
    monkeypatch.setattr(
        retraction,
        "plan_for_messages",
        lambda db, messages: looks.append(len(messages)) or plan(db, messages),
    )
    await memory.journal.alter(lambda db, tell: retraction.retract_all(db, tell, ids, T0))
    await forget_me.drain(memory.journal)
    assert looks == [2]
    assert left(memory) == []
    assert holding(memory.directory, "爬山", "journal*") == []
    for cls in (Fact, Mention, Episode):
        assert await chat.rows(cls) == []
    assert await memory.journal.newest_messages(9) == []


@pytest.mark.parametrize("steps", range(1, 4))
async def test_a_kill_on_the_way_is_made_good_at_the_next_start(memory, chat, clock, steps):
    await learned(chat)
    fact = (await chat.facts())[f"张三的{PLANTED}是七号仓库"]
    archived = replace(fact, status="archived", archived_at=T0)
    await memory.journal.commit(lambda _: Draft("upkeep", "archive", [archived]))
    with broken_off(memory.journal, 1 + steps):  # the first waits for what is being stored
        await memory.library.retract(CLUB.circle, "1")
    assert list(await chat.facts()) == ["李四喜欢爬山"], "all that can be seen goes at once"
    await memory.close()
    assert left(memory)
    async with opened(memory.directory, now=clock) as again:
        assert left(again) == []
        assert await again.journal.look(retraction.unfinished) == []


async def test_what_is_learned_while_it_is_looked_up_goes_too(memory, chat, monkeypatch):
    await learned(chat)
    survey = memory.journal.survey

    async def slow(work: Callable[[sqlite3.Connection], T]) -> T:
        found = await survey(work)
        fact = (await chat.facts())[f"张三的{PLANTED}是七号仓库"]
        await memory.journal.commit(
            lambda _: Draft("learn", "learned", [replace(fact, id="f:again")])
        )
        return found

    monkeypatch.setattr(memory.journal, "survey", slow)
    assert await memory.library.retract(CLUB.circle, "1")
    assert list(await chat.facts()) == ["李四喜欢爬山"]
    assert left(memory) == []


async def test_what_others_said_as_well_stays(memory: MemoryService, chat: Chat):
    await learned(chat)
    fact = (await chat.facts())[f"张三的{PLANTED}是七号仓库"]
    second = await chat.say("li", f"对，张三的{PLANTED}", "李四", ref="3@7")
    await chat.show()
    await chat.learn(answer(restated=[chat.number(fact.statement)]))
    before = await all_changes(memory.journal)
    assert await memory.library.retract(CLUB.circle, "1")
    assert (await chat.facts())[fact.statement].evidence == (second.id,)
    assert PLANTED in {name.text for name in await chat.rows(Name)}
    for was, now in zip(before, await all_changes(memory.journal), strict=False):
        for old, new in zip(was.ops, now.ops, strict=True):
            if old.kind == Fact.kind:
                assert new == old  # what stands can still be undone


async def test_what_it_undid_cannot_be_brought_back(memory: MemoryService, chat: Chat):
    await learned(chat)
    changes = await all_changes(memory.journal)
    (batch,) = [change.id for change in changes if change.batch is not None]
    assert await memory.library.retract(CLUB.circle, "1")
    last = await last_change(memory.journal)
    with pytest.raises(NotFoundError):
        await memory.library.undo(last, "owner")
    with pytest.raises(ConflictError) as refused:
        await memory.library.undo(batch, "owner")
    assert refused.value.later == last
    assert left(memory) == []


@pytest.mark.parametrize("about_what", [user("li"), entity("债")])
async def test_forgetting_brings_back_nothing_that_was_taken_back_since(memory, chat, about_what):
    told = await chat.say("li", "张三欠我三千", "李四", ref="1@5")
    await chat.say("zhang", "哦", "张三")
    about = {"speaker": user("li"), "evidence": (told.id,)}
    owes = fact(CLUB, user("zhang"), about_what, "张三欠李四三千", **about)
    things = [mention(CLUB, about_what), Entity(about_what)] if is_entity(about_what) else []
    await put(memory.journal, User(user("zhang")), owes, *things)
    change = await memory.library.forget([owes.id], zhang_in_club.asker, user("zhang"))
    assert await memory.library.retract(CLUB.circle, "1")
    with pytest.raises(ConflictError):
        await memory.library.undo(change.id, user("zhang"))
    assert await chat.rows(Fact) == []


async def test_the_views_follow(memory: MemoryService, chat: Chat):
    await learned(chat)
    await memory.settle()
    told: list[Change] = []
    memory.journal.listen(lambda event: told.append(event) if isinstance(event, Change) else None)
    assert await memory.library.retract(CLUB.circle, "1")
    await memory.settle()
    assert PLANTED in str(told[-1].ops), "views are told what was there"
    await assert_views_follow(memory)


async def test_a_message_that_was_not_learned_goes_without_a_change(memory, chat):
    await chat.say("zhang", f"我的{PLANTED}", "张三", ref="1@5")
    before = await last_change(memory.journal)
    assert not await memory.library.retract(CLUB.circle, "")
    assert await memory.library.retract(CLUB.circle, "1")
    assert await last_change(memory.journal) == before
    assert left(memory) == []


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))]
)
async def test_nothing_is_left_in_a_file_that_has_seen_much(memory, chat, seed):
    """Pages have been split and filled many times by then; the file is not rewritten."""
    dice = random.Random(seed)
    journal = memory.journal
    for round in range(15):
        for number in range(20):
            await chat.say("li", f"闲聊{round}-{number}" + "嗯" * dice.randrange(1, 150), "李四")
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


@pytest.mark.alone
async def test_a_restored_backup_does_not_bring_it_back(memory: MemoryService, chat: Chat):
    """Nor one that was made before another restore; what was not taken back is there."""
    await learned(chat)
    backup = await memory.backups.make("manual")
    await chat.say("li", "晚些再说", "李四", ref="9@9")
    assert await memory.library.retract(CLUB.circle, "1")
    await memory.backups.restore(backup.name)
    await memory.close()
    for _ in range(2):
        assert PLANTED.encode() in backup.path.read_bytes()
        async with opened(memory.directory) as again:
            assert left(again) == []
            assert list(await Chat(again.journal, CLUB).facts()) == ["李四喜欢爬山"]
            said = [message.text for message in await again.journal.newest_messages(10)]
            assert said == ["我喜欢爬山"]
            assert not await again.library.retract(CLUB.circle, "1")
            await again.backups.restore(backup.name)


async def taken_back(memory: MemoryService, wait: Callable[[], None] = lambda: None) -> None:
    """Learned, in three backups and a prepared restore, and, after a wait, taken back."""
    await learned(Chat(memory.journal, CLUB))
    await memory.settle()
    await memory.backups.tend()
    await memory.backups.restore((await memory.backups.make()).name)
    await memory.backups.make("migration-0009_more")
    wait()
    assert await memory.library.retract(CLUB.circle, "1")
    assert await forget_me.drain(memory.journal)
    await memory.settle()


@pytest.mark.alone
async def test_the_next_daily_backup_clears_the_older_ones(memory, clock, tmp_path):
    """Which can still be restored."""
    await taken_back(memory)
    clock.now += DAY - 60
    assert await memory.backups.tend() is None
    files = {Path(name).name.partition("-")[0] for name in holding(tmp_path, PLANTED)}
    assert files >= {"journal", "restore"}, "not for each message that is taken back"
    clock.now += 60
    assert await memory.backups.tend()
    assert holding(tmp_path, PLANTED) == []
    assert memory.backups.problem == ""
    assert len(saved(tmp_path)) == 4
    for backup in saved(tmp_path):
        held = copies.verify(backup.path)
        assert (held.messages, held.facts) == (1, 1), backup.name
        with closing(sqlite3.connect(backup.path)) as db:
            assert db.execute("SELECT text FROM message").fetchall() == [("我喜欢爬山",)]
    await memory.close()
    stage(tmp_path, saved(tmp_path)[-1].name, clock.now)
    async with opened(tmp_path, now=clock) as again:
        assert [m.text for m in await again.journal.newest_messages(9)] == ["我喜欢爬山"]
        await again.settle()
        await assert_views_follow(again)
    assert holding(tmp_path, PLANTED) == []


async def test_backups_that_hold_nothing_of_it_are_not_touched(memory, clock, tmp_path):
    chat = Chat(memory.journal, CLUB)
    await chat.say("li", "我喜欢爬山", "李四", ref="2@6")
    await memory.backups.tend()
    await chat.say("zhang", PLANTED, "张三", ref="1@5")
    assert await memory.library.retract(CLUB.circle, "1")
    (first,) = saved(tmp_path)
    before = first.path.read_bytes(), first.path.stat().st_mtime_ns
    clock.now += DAY
    assert await memory.backups.tend()
    assert (first.path.read_bytes(), first.path.stat().st_mtime_ns) == before


@pytest.mark.alone
async def test_one_look_is_enough(memory, clock, tmp_path, monkeypatch):
    await taken_back(memory)
    clock.now += DAY
    await memory.backups.tend()
    monkeypatch.setattr(forget_me, "purge", lambda *_: pytest.fail("nothing was taken back since"))
    clock.now += DAY
    assert await memory.backups.tend()
    assert memory.backups.problem == ""


@pytest.mark.alone
@pytest.mark.parametrize("waited", [0.0, DAY - 60], ids=["a day ago", "just now"])
async def test_what_fails_is_tried_again(waited, memory, clock, tmp_path, monkeypatch):
    def wait() -> None:
        clock.now += waited

    await taken_back(memory, wait)
    held = holding(tmp_path, PLANTED)
    clock.now += DAY - waited
    full = Mock(side_effect=sqlite3.OperationalError("database or disk is full"))
    with monkeypatch.context() as patch:
        patch.setattr(forget_me, "compact", full)
        assert await memory.backups.tend(), "the backup itself is made"
        assert "forgotten" in memory.backups.problem
    assert holding(tmp_path, PLANTED) == held
    assert not list(tmp_path.rglob("*.tmp*"))
    clock.now += 3_600
    assert await memory.backups.tend() is None, "no other backup is needed"
    assert holding(tmp_path, PLANTED) == []
    assert memory.backups.problem == ""


@pytest.mark.alone
async def test_a_damaged_backup_stays_and_hinders_nothing(memory, clock, tmp_path):
    await taken_back(memory)
    broken = saved(tmp_path)[-1].path
    broken.write_bytes(broken.read_bytes()[:5_000])
    clock.now += DAY
    assert await memory.backups.tend()
    assert memory.backups.problem == ""
    assert {Path(name).name for name in holding(tmp_path, PLANTED)} <= {broken.name}
    assert broken.exists()


@pytest.mark.alone
async def test_a_backup_of_an_older_version_is_brought_up_to_date(memory, clock, tmp_path):
    await taken_back(memory)
    old = saved(tmp_path)[-1].path
    with closing(sqlite3.connect(old)) as db:
        db.execute("DELETE FROM migration WHERE name = ?", ("0012_expires",))
        db.execute("DROP INDEX row_expires")
        db.commit()
    clock.now += DAY
    await memory.backups.tend()
    assert holding(tmp_path, PLANTED) == []
    with closing(sqlite3.connect(old)) as db:
        assert migrations_of(db) >= {name for name, _ in MIGRATIONS}
    assert [path.name for path in old.parent.iterdir() if path.is_dir()] == []


async def test_what_was_taken_back_is_in_no_list(memory: MemoryService, chat: Chat):
    said = await learned(chat)
    turn = Turn(CLUB, user("li"), "李四")
    fact = (await chat.facts())[f"张三的{PLANTED}是七号仓库"]
    shown = [Reference("message", str(said.id), said.text), Reference("fact", fact.id, "七号仓库")]
    memory.references.number(turn, shown)
    assert await memory.library.retract(CLUB.circle, "1")
    assert [line.text for line in memory.references._place(turn).lines] == ["", ""]
