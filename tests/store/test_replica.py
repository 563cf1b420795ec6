"""Several journals that are one through a server: a real PostgreSQL."""

import asyncio
import random
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, closing
from pathlib import Path

import numpy as np
import psycopg
import pytest

from graph_memory.deletion.message_retention import delete_messages
from graph_memory.errors import JournalError
from graph_memory.model import Change, Elsewhere, Erased, Fact, Message, Session
from graph_memory.store import Draft, Journal, Rows
from graph_memory.store import journal as store_journal
from graph_memory.store import postgres as postgres_tables
from graph_memory.store.postgres import Item
from graph_memory.store.replica import Replica, _Table
from graph_memory.text import text_hash
from tests.makers import CLUB, HOME, T0, ZHANG, claim_all, fact, holding
from tests.postgres import Postgres, content, set_back
from tests.waiting import until

pytestmark = pytest.mark.server


class Bots:
    """Bots on one memory, each with a folder of its own."""

    def __init__(self, folder: Path, dsn: str) -> None:
        self.folder, self.dsn = folder, dsn
        self.stack = AsyncExitStack()
        self.said = 0

    async def start(self, name: str) -> Journal:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        journal = await Journal.open(folder / "journal.sqlite3", lambda: T0, self.dsn)
        self.stack.push_async_callback(journal.close)
        await journal.begin()
        return journal

    async def say(self, journal: Journal, text: str, session: Session = HOME) -> Message:
        """Have a bot hear something, on a platform that gives its messages no ids."""
        self.said += 1
        message = Message(0, session.id, ZHANG, "张三", text, T0 + self.said)
        return await journal.append(message, session)


@pytest.fixture
async def bots(tmp_path: Path, dsn: str) -> AsyncIterator[Bots]:
    """Bots that may be started on one memory."""
    made = Bots(tmp_path, dsn)
    yield made
    await made.stack.aclose()


def published(dsn: str) -> dict[str, int]:
    """How many rows of each table the server holds."""
    with psycopg.connect(dsn) as db:
        query = "SELECT place, count(*) FROM item WHERE body IS NOT NULL GROUP BY place"
        return dict(db.execute(query).fetchall())


async def test_what_one_bot_hears_the_other_knows(bots: Bots) -> None:
    one, two = await bots.start("one"), await bots.start("two")
    heard: list[object] = []
    two.listen(heard.append)
    stored = await bots.say(one, "我住在通州")
    assert stored.id == 1
    await until(lambda: stored in heard)
    assert await two.messages([stored.id]) == [stored]
    assert (await bots.say(two, "我养猫")).id == 2
    await one._follow()
    assert content(one.path) == content(two.path)


async def test_who_has_a_memory_gives_it_and_who_is_new_gets_it(bots: Bots, tmp_path: Path) -> None:
    alone = await Journal.open(tmp_path / "journal.sqlite3", lambda: T0)
    await bots.say(alone, "我以前一个人")
    before = content(alone.path)
    await alone.close()
    (tmp_path / "one").mkdir()
    (tmp_path / "journal.sqlite3").rename(tmp_path / "one" / "journal.sqlite3")
    one = await bots.start("one")
    two = await bots.start("two")
    assert {**content(two.path), "meta": before["meta"]} == before
    assert content(one.path) == content(two.path)


async def test_two_memories_are_not_mixed(bots: Bots, tmp_path: Path) -> None:
    await bots.say(await bots.start("one"), "这是第一个")
    (tmp_path / "other").mkdir()
    other = await Journal.open(tmp_path / "other" / "journal.sqlite3", lambda: T0)
    await bots.say(other, "这是第二个")
    await other.close()
    with pytest.raises(JournalError) as caught:
        await bots.start("other")
    assert caught.value.code == "shared_apart"


async def test_what_is_erased_by_one_is_gone_from_all(bots: Bots, dsn: str) -> None:
    one, two = await bots.start("one"), await bots.start("two")
    secret = await bots.say(one, "我最怕山竹虫")
    await two._follow()
    told: list[object] = []
    two.listen(told.append)

    def erase(db: sqlite3.Connection, tell: Callable[..., None]) -> None:
        db.execute("DELETE FROM message WHERE id = ?", (secret.id,))
        tell(Erased((secret.id,)))

    await one.alter(erase)
    await two._follow()
    await until(lambda: Erased((secret.id,)) in told)
    assert await two.messages([secret.id]) == []
    with psycopg.connect(dsn, autocommit=True) as db:
        found = db.execute("SELECT body::text FROM item").fetchall()
        assert not any("山竹" in (body or "") for (body,) in found)
    for name in ("one", "two"):
        for path in (bots.folder / name).glob("*.sqlite3"):
            with closing(sqlite3.connect(path)) as file:
                assert "山竹" not in "\n".join(file.iterdump())


async def test_rows_follow_with_their_history(bots: Bots) -> None:
    one, two = await bots.start("one"), await bots.start("two")
    said = await bots.say(one, "我住通州")
    seen: list[Change] = []
    two.listen(lambda event: seen.append(event) if isinstance(event, Change) else None)
    first = fact(HOME, ZHANG, ZHANG, "住通州", evidence=(said.id,))
    change = await one.commit(lambda _rows: Draft("learn", "learned", [first]))
    await two._follow()
    await until(lambda: seen)
    assert await two.read(lambda rows: rows.get(Fact, first.id)) == first
    assert [(op.before, op.row) for op in seen[-1].ops if op.kind == "fact"] == [(None, first)]
    assert await two.change(change.id) == change


async def test_a_message_that_was_heard_while_the_server_is_away_is_delivered_once(bots, postgres):
    one = await bots.start("one")
    await bots.say(one, "先说一句")
    told: list[object] = []
    one.listen(told.append)
    postgres.stop()
    try:
        waiting = [await bots.say(one, f"断线时第{n}句") for n in range(3)]
        assert not await one.retag(-2, CLUB), "it stays where it was heard"
    finally:
        postgres.start()
    assert [message.id for message in waiting] == [-2, -3, -4]
    await until(lambda: all(message in told for message in waiting))  # and can be recalled
    await until(lambda: one.waiting_messages == 0)
    assert [m.text for m in await one.newest_messages(9)] == [
        "先说一句",
        *(f"断线时第{n}句" for n in range(3)),
    ]
    await until(lambda: any(isinstance(e, Erased) and -4 in e.messages for e in told))


async def test_what_waits_survives_a_restart(bots: Bots, postgres: Postgres) -> None:
    one = await bots.start("one")
    await bots.say(one, "在线")
    postgres.stop()
    try:
        await bots.say(one, "断线")
        await one.close()
        again = await bots.start("one")
        assert again.waiting_messages == 1
        assert again.storage.kind == "away"
        with pytest.raises(JournalError) as caught:
            await again.set_note("some", "thing")
        assert caught.value.kind == "away"
    finally:
        postgres.start()
    await until(lambda: again.waiting_messages == 0)
    assert [m.text for m in await again.newest_messages(9)] == ["在线", "断线"]


async def lose_answers(bots: Bots, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is stored of three lines, if the answers to two of their commits are lost."""
    one = await bots.start("one")
    commit, publish = postgres_tables.Step.commit, postgres_tables.Step.publish
    lost, delivering = [True, False, True], set[postgres_tables.Step]()

    def publish_and_note(
        step: postgres_tables.Step, items: Iterable[Item], numbers: dict[str, int], bot: str
    ) -> tuple[int, str]:
        some = list(items)
        if any(place == "message" for place, *_ in some):
            delivering.add(step)
        return publish(step, some, numbers, bot)

    def commit_and_lose(step: postgres_tables.Step) -> None:
        commit(step)
        if step in delivering and lost and lost.pop():
            raise psycopg.OperationalError("the connection is gone")

    monkeypatch.setattr(postgres_tables.Step, "publish", publish_and_note)
    monkeypatch.setattr(postgres_tables.Step, "commit", commit_and_lose)
    monkeypatch.setattr(postgres_tables, "PAUSE", 0.0)
    for number in range(3):
        await bots.say(one, f"第{number}句")
    await until(lambda: one.waiting_messages == 0)
    lost.clear()  # of several in one delivery one answer is lost
    two = await bots.start("two")
    await one._follow()
    assert content(one.path) == content(two.path)
    return [m.text for m in await two.newest_messages(9)]


async def test_a_commit_whose_answer_was_lost_counts_once(bots, monkeypatch):
    """The server has it, the bot was told that the connection broke."""
    assert await lose_answers(bots, monkeypatch) == [f"第{n}句" for n in range(3)]


async def test_what_is_erased_before_the_answer_was_known_leaves_the_outbox(bots, monkeypatch):
    one, two = await bots.start("one"), await bots.start("two")
    await two._following.close()
    commit, is_lost = postgres_tables.Step.commit, asyncio.Event()

    def commit_and_lose(step: postgres_tables.Step) -> None:
        commit(step)
        if not is_lost.is_set():
            is_lost.set()
            raise psycopg.OperationalError("the connection is gone")

    monkeypatch.setattr(postgres_tables.Step, "commit", commit_and_lose)
    monkeypatch.setattr(postgres_tables, "PAUSE", 0.0)
    hearing = asyncio.create_task(bots.say(one, "山竹虫"))
    await is_lost.wait()
    await two._follow()
    await two.alter(lambda db, _tell: delete_messages(db, [1]))
    await hearing
    await until(lambda: one.waiting_messages == 0)
    assert await two.newest_messages(9) == []
    assert not holding(one.path.parent, "山竹虫", "outbox*")


async def test_it_would_count_twice_without_the_mark(bots, monkeypatch):
    monkeypatch.setattr(store_journal, "was_delivered", lambda _number, _done: False)
    assert len(await lose_answers(bots, monkeypatch)) > 3


async def test_a_bot_whose_folder_was_copied_loses_nothing_to_the_copy(bots: Bots) -> None:
    """Both count what they hear from the same number, under the same id."""
    one = await bots.start("one")
    await bots.say(one, "拷贝之前")
    await one.close()
    shutil.copytree(bots.folder / "one", bots.folder / "two")
    one, two = await bots.start("one"), await bots.start("two")
    for number in range(3):
        for name, journal in (("甲", one), ("乙", two)):
            assert (await bots.say(journal, f"{name}{number}")).id > 0
    assert one.replica.instance != two.replica.instance
    await two.close()
    two = await bots.start("two")
    await bots.say(two, "重启之后")
    await one._follow()
    said = [f"{name}{number}" for number in range(3) for name in "甲乙"]
    assert [m.text for m in await one.newest_messages(9)] == ["拷贝之前", *said, "重启之后"]
    assert content(one.path) == content(two.path)


async def test_a_server_that_lost_what_it_had_gets_it_back(bots: Bots, dsn: str) -> None:
    """An older backup was restored there; a bot that slept meanwhile comes back as well."""
    one, two = await bots.start("one"), await bots.start("two")
    await bots.say(one, "备份之前")
    await two._follow()
    with set_back(dsn):
        await bots.say(one, "备份之后，一")
        await bots.say(two, "备份之后，二")
        await one.alter(lambda db, _tell: db.execute("INSERT INTO pause VALUES ('user', 'x', 1)"))
        await two._follow()
    for _ in range(4):
        await one._follow()
        await two._follow()
        await asyncio.sleep(0.3)
    assert sorted(m.text for m in await one.newest_messages(9)) == [
        "备份之前",
        "备份之后，一",
        "备份之后，二",
    ]
    assert content(one.path) == content(two.path)
    assert content(one.path)["pause"] == [("user", "x", 1.0)]


async def test_who_joins_with_much_sends_it_row_by_row(bots: Bots, dsn, tmp_path, monkeypatch):
    """All of it at once takes three times the memory of the file."""
    async with AsyncExitStack() as stack:
        (tmp_path / "one").mkdir()
        alone = await Journal.open(tmp_path / "one" / "journal.sqlite3", lambda: T0)
        stack.push_async_callback(alone.close)
        for _ in range(30):
            await bots.say(alone, "我在")
    publish, read, rows = postgres_tables.Step.publish, _Table.read, [0]

    def reading(table, db, key):
        rows[0] += 1
        return read(table, db, key)

    def publishing(step, items, *more):
        assert rows[0] <= 1, "the others are read as they are sent"
        return publish(step, items, *more)

    monkeypatch.setattr(_Table, "read", reading)
    monkeypatch.setattr(postgres_tables.Step, "publish", publishing)
    await bots.start("one")
    assert published(dsn)["message"] == 30


async def test_an_empty_server_is_filled_by_who_comes_first(bots: Bots, dsn: str) -> None:
    one = await bots.start("one")
    await bots.say(one, "我在")
    before = content(one.path)
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("TRUNCATE step; TRUNCATE item; UPDATE head SET step = 0, numbers = '{}'")
    await one._follow()
    two = await bots.start("two")
    assert content(one.path) == content(two.path) == before


async def test_who_was_away_for_long_keeps_the_lists_that_older_bots_do_not_know(bots, dsn):
    """What triggers make of the rows is each file's own."""
    one, two = await bots.start("one"), await bots.start("two")
    known = fact(HOME, ZHANG, ZHANG, "住通州")
    await one.commit(lambda _rows: Draft("learn", "learned", [known]))
    await two._follow()
    await two.close()
    await bots.say(one, "我在")
    with psycopg.connect(dsn, autocommit=True) as db:
        assert not db.execute("DELETE FROM item WHERE place = 'fact_field'").rowcount
        db.execute("DELETE FROM step WHERE number < (SELECT step FROM head)")
    two = await bots.start("two")
    assert content(one.path) == content(two.path)


async def test_fields_of_a_newer_version_stay(bots: Bots, dsn: str) -> None:
    said = await bots.say(await bots.start("one"), "我在")
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("UPDATE item SET body = body || '{\"mood\": 3}' WHERE place = 'message'")
        db.execute("INSERT INTO item VALUES ('reminder', '[1]', '{}', 1)")
    await (await bots.start("two")).alter(
        lambda db, _tell: db.execute("UPDATE message SET name = 'x' WHERE id = ?", (said.id,))
    )
    with psycopg.connect(dsn) as db:
        (body,) = db.execute("SELECT body FROM item WHERE place = 'message'").fetchone() or ({},)
    assert body["mood"] == 3
    assert body["name"] == "x"


async def test_a_step_that_fails_leaves_nothing(bots: Bots, dsn: str) -> None:
    one = await bots.start("one")
    await bots.say(one, "我在")
    before, there = content(one.path), published(dsn)

    def fail(db: sqlite3.Connection, _tell: object) -> None:
        db.execute("DELETE FROM message")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await one.alter(fail)
    await one._follow()
    assert (content(one.path), published(dsn)) == (before, there)


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_is_done_where_all_are_the_same(bots: Bots, seed: int, dsn: str) -> None:
    """Random steps of three bots, with one that is closed for a while."""
    chance = random.Random(seed)
    names = ["one", "two", "three"]
    open_ = {name: await bots.start(name) for name in names}
    for number in range(40):
        name = chance.choice(names)
        journal = open_.get(name)
        match chance.randrange(8):
            case 0 if journal and len(open_) > 1:
                await open_.pop(name).close()
            case 1 if not journal:
                open_[name] = await bots.start(name)
            case 2 if journal:
                await journal.alter(_drop_some(chance.randrange(3)))
            case 3 if journal:
                await journal.commit(_learn(number))
            case 4 if journal:
                await journal.claim(HOME.id, claim_all)
            case _ if journal:
                await bots.say(journal, f"{name} 说 {number}", chance.choice((HOME, CLUB)))
    for name in names:
        open_.setdefault(name, await bots.start(name)) if name not in open_ else None
        await open_[name]._follow()
    one, *others = [content(open_[name].path) for name in names]
    assert all(other == one for other in others)
    one.pop("fact_field")
    assert published(dsn) == {name: len(rows) for name, rows in one.items() if rows}
    with psycopg.connect(dsn) as db:
        steps = [n for (n,) in db.execute("SELECT number FROM step ORDER BY number")]
    assert steps == list(range(1, len(steps) + 1)), "no number is left out"


def _drop_some(rest: int) -> Callable[..., None]:
    def drop(db: sqlite3.Connection, _tell: object) -> None:
        db.execute("DELETE FROM message WHERE id % 3 = ? AND batch IS NULL", (rest,))

    return drop


def _learn(number: int) -> Callable[[Rows], Draft]:
    made = fact(HOME, ZHANG, ZHANG, f"喜欢 {number % 5}", at=T0 + number)
    return lambda _rows: Draft("learn", "learned", [made])


async def test_a_disk_that_fills_up_as_it_opens_is_worth_another_try(tmp_path, monkeypatch):
    def attach(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Replica, "attach", attach)
    with pytest.raises(JournalError, match="full"):
        await Journal.open(tmp_path / "journal.sqlite3", server="host=127.0.0.1")


async def test_a_schema_that_is_not_there_is_no_other_memory(bots: Bots) -> None:
    bots.dsn = bots.dsn.replace("search_path=m", "search_path=mistyped")
    with pytest.raises(JournalError) as caught:
        await bots.start("one")
    assert caught.value.code == "shared_schema"


async def test_vectors_of_words_that_are_gone_go_from_every_bot(bots: Bots) -> None:
    one, two = await bots.start("one"), await bots.start("two")
    said = await bots.say(one, "我最怕山竹虫")
    await two._follow()
    hashes = [text_hash("我最怕山竹虫"), text_hash("今天聚餐")]
    await two.put_vectors("model", dict.fromkeys(hashes, np.ones(3, np.float32)))
    await one.alter(lambda db, _tell: db.execute("DELETE FROM message WHERE id = ?", (said.id,)))
    await two._follow()
    assert list(await two.vectors("model", hashes)) == hashes[1:]


async def test_the_mark_of_an_outbox_is_no_news_to_others(bots: Bots) -> None:
    one, two = await bots.start("one"), await bots.start("two")
    news: list[Elsewhere] = []
    await bots.say(one, "第一句")
    await two._follow()
    await asyncio.sleep(0)
    two.listen(lambda event: news.append(event) if isinstance(event, Elsewhere) else None)
    await bots.say(one, "第二句")
    await two._follow()
    await until(lambda: news)
    assert "meta" not in news[-1].tables


def test_what_is_no_connection_string_is_named():
    with pytest.raises(JournalError) as caught:
        postgres_tables._connect("mysql://db/memory")
    assert caught.value.code == "shared_string"
