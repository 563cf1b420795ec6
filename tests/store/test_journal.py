"""The journal keeps what it acknowledged, once, and can take changes back."""

import asyncio
import errno
import os
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from graph_memory.errors import ClosedError, ConflictError, JournalError, NotFoundError
from graph_memory.model import BOT, Change, Entity, Fact, Name, Presence, Session, User
from graph_memory.store import Draft, Journal, Rows, copies
from graph_memory.store.connection import CHECKPOINT
from graph_memory.store.messages import SENT_AGAIN, Backlog

from ..makers import (
    T0,
    claim_all,
    entity,
    fact,
    group,
    last_change,
    message,
    name,
    private,
    undo,
    user,
)

ZHANG = user("zhang")
HERE = private("zhang")


def put(*rows, actor: str = "owner", **more):
    return lambda _rows: Draft(actor, "test", list(rows), **more)


async def say(journal: Journal, *texts: str, session: Session = HERE, at: float = T0) -> None:
    for number, text in enumerate(texts):
        await journal.append(message(session, session.owner or ZHANG, text, at + number), session)


async def test_what_was_acknowledged_is_there_after_reopening(tmp_path: Path):
    path = tmp_path / "journal.sqlite3"
    journal = await Journal.open(path)
    await say(journal, "我叫张三", "喜欢爬山😀")
    # No close: a second connection must find everything, as after a kill.
    with sqlite3.connect(path) as db:
        assert [t for (t,) in db.execute("SELECT text FROM message ORDER BY id")] == [
            "我叫张三", "喜欢爬山😀",
        ]  # fmt: skip
    db.close()
    await journal.close()
    reopened = await Journal.open(path)
    assert [m.text for m in await reopened.pending(HERE.id)] == ["我叫张三", "喜欢爬山😀"]
    await reopened.close()


@pytest.mark.alone  # of several bots one waits in its outbox for what it wrote there just before
async def test_nobody_waits_for_a_disk_that_takes_its_time(tmp_path: Path, monkeypatch):
    synced, moves = [], threading.Event()
    journal = await Journal.open(tmp_path / "journal.sqlite3")

    def sync(file: int) -> None:
        moves.wait(10)
        synced.append(os.readlink(f"/proc/self/fd/{file}").rpartition("/")[2])

    monkeypatch.setattr(os, "fsync", sync)
    await asyncio.wait_for(say(journal, "我叫张三"), 5)
    assert [m.text for m in await journal.pending(HERE.id)] == ["我叫张三"]
    assert not synced
    moves.set()
    await say(journal, "喜欢爬山")  # after what was said before is on disk
    assert synced[0] == "journal.sqlite3-wal"
    await journal.close()


async def test_a_disk_that_keeps_nothing_is_noticed(journal: Journal, monkeypatch, caplog):
    def fail(_file: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        await say(journal, "一")
        await journal.look(lambda _db: None)
        async with asyncio.timeout(5):
            while not journal.storage.kind:
                await asyncio.sleep(0.01)
    assert journal.storage.kind == "broken"
    assert "nothing is stored" in caplog.text
    await say(journal, "二")
    assert not journal.storage.kind


async def test_the_log_stays_short_and_what_is_in_it_is_moved_to_the_file(journal: Journal):
    log = journal.path.with_name(f"{journal.path.name}-wal")
    for n in range(5):
        await journal.commit(put(*(Entity(f"e:{n}-{k}") for k in range(CHECKPOINT))))
    assert journal.path.stat().st_size > log.stat().st_size


async def test_a_message_sent_twice_by_the_platform_is_stored_once(journal: Journal):
    first = await journal.append(message(HERE, ZHANG, "你好", ref="77"), HERE)
    again = await journal.append(message(HERE, ZHANG, "你好", ref="77"), HERE)
    assert await journal.newest_messages(9) == [first] == [again]
    other = await journal.append(message(HERE, BOT, "你好呀", ref="77"), HERE)
    assert other.id > first.id, "another sender's id is another id"


async def test_what_two_accounts_heard_while_the_server_was_away_is_stored_once(journal: Journal):
    """It comes from one after the other, and among it what only one of them hears."""
    club = group("100")

    async def hear(account: str, session: Session, text: str, at: float) -> None:
        said = message(session, ZHANG, text, at, ref=f"{account} {at}")
        await journal.append(said, session, account=account, is_shared=session.is_group)

    for account in ("one", "two"):
        for number in range(5):
            await hear(account, club, f"第{number}句", T0 + 60 * number)
            await hear(account, HERE, f"{account} {number}", T0 + 60 * number + 1)
    said = [m.text for m in await journal.newest_messages(99) if m.session == club.id]
    assert said == [f"第{number}句" for number in range(5)]


async def test_the_session_is_written_with_its_first_message_only(journal: Journal):
    await say(journal, "一", "二")
    assert await last_change(journal) == 1
    assert (await journal.change(1)).ops[0].kind == "session"
    await journal.commit(put(replace(HERE, umo="别处")))  # and anew after somebody else wrote it
    await say(journal, "三")
    assert (await journal.change(3)).ops[0].row == HERE


async def test_a_group_whose_name_is_not_told_keeps_the_one_that_is_known(journal: Journal):
    room = replace(group("1"), title="")
    await journal.commit(put(replace(room, title="读书会", umo="")))
    said = await journal.append(message(room, ZHANG, "早"), room)
    await journal.retag(said.id, room)
    (found,) = await journal.read(lambda rows: list(rows.scan(Session)))
    assert (found.title, found.umo) == ("读书会", room.umo)


async def test_presence_opens_with_the_first_message_and_ends_with_leaving(journal: Journal):
    room = group("1")
    await say(journal, "在吗")  # a private chat has none
    heard: list[object] = []
    journal.listen(heard.append)
    await journal.append(message(room, ZHANG, "早", 10.0), room)
    await journal.append(message(room, ZHANG, "早啊", 11.0), room)
    await journal.append(message(room, BOT, "早上好", 12.0), room)
    assert await journal.presences() == [Presence(room.circle, ZHANG, 10.0)]
    await journal.leave(room.circle, ZHANG, 20.0)
    await journal.append(message(room, ZHANG, "我回来了", 30.0), room)
    assert await journal.presences() == [
        Presence(room.circle, ZHANG, 10.0, 20.0), Presence(room.circle, ZHANG, 30.0),
    ]  # fmt: skip
    assert [event for event in heard if isinstance(event, Presence)] == [
        Presence(room.circle, ZHANG, 10.0),
        Presence(room.circle, ZHANG, 10.0, 20.0),
        Presence(room.circle, ZHANG, 30.0),
    ]


async def test_claiming_takes_the_oldest_and_learning_happens_once(journal: Journal):
    await say(journal, "一", "二", "三")
    batch, _ = await journal.claim(HERE.id, lambda *_: (2, Draft("chat", "episode")))
    assert [m.text for m in batch.messages] == ["一", "二"]
    assert [m.text for m in await journal.pending(HERE.id)] == ["三"]
    assert [q.id for q in await journal.queue()] == [batch.id]
    assert await journal.commit(put(Entity(entity("猫")), batch=batch.id)) is not None
    assert await journal.queue() == []
    assert await journal.commit(put(Entity(entity("狗")), batch=batch.id)) is None
    assert await journal.read(lambda rows: rows.get(Entity, entity("狗"))) is None


async def test_claiming_and_learning_nothing(journal: Journal):
    assert await journal.claim(HERE.id, claim_all) is None
    await say(journal, "哈哈")
    assert await journal.claim(HERE.id, lambda *_: (0, Draft("chat", "episode"))) is None
    batch, _ = await journal.claim(HERE.id, claim_all)
    assert (await journal.commit(put(batch=batch.id))).ops == ()
    assert await journal.queue() == [], "an empty change still ends its batch"


async def test_a_backlog_is_counted_by_place_and_by_who_said_most(journal: Journal):
    room, at = group("1"), iter(range(100))
    for where, said in (
        (HERE, {ZHANG: "我喜欢爬山"}),
        (room, {ZHANG: "好", user("li"): "国庆一起去爬山吧"}),
        (room, {ZHANG: "我下周都在出差", user("li"): "好"}),
    ):
        for sender, text in said.items():
            await journal.append(message(where, sender, text, T0 + next(at)), where)
        await journal.claim(where.id, claim_all)
    assert await journal.backlog() == Backlog(3, 0, 0, "", 0)
    assert await journal.backlog(authors={ZHANG}) == Backlog(3, 0, 0, "", 2)
    assert await journal.backlog([room.id], {ZHANG}) == Backlog(2, 0, 0, "", 1)
    assert await journal.backlog([]) == Backlog(0, 0, 0, "", 0)
    assert [each.author for each in await journal.queue({ZHANG})] == [ZHANG, "", ZHANG]
    await journal.fail(1, "timeout", T0 + 30)
    await journal.fail(2, "no_json", None)
    assert await journal.backlog() == Backlog(2, 1, 2, "no_json", 0)
    assert await journal.backlog([HERE.id], {ZHANG}) == Backlog(1, 0, 1, "timeout", 1)


async def test_failed_batches_wait_die_and_are_revived(journal: Journal):
    await say(journal, "一")
    batch, _ = await journal.claim(HERE.id, claim_all)
    await journal.fail(batch.id, "503", T0 + 30)
    (waiting,) = await journal.queue()
    assert (waiting.state, waiting.attempts, waiting.error) == ("waiting", 1, "503")
    await journal.fail(batch.id, "503", None)
    assert [q.state for q in await journal.queue()] == ["dead"]
    assert await journal.revive() == 1
    assert [(q.state, q.attempts) for q in await journal.queue()] == [("waiting", 0)]
    with pytest.raises(NotFoundError):
        await journal.batch(999)


async def test_a_buffered_message_can_move_to_the_persona_that_answered(journal: Journal):
    await say(journal, "一")
    other = private("zhang", "lin")
    assert await journal.retag(1, other)
    assert [m.id for m in await journal.pending(other.id)] == [1]
    await journal.claim(other.id, claim_all)
    assert not await journal.retag(1, HERE), "claimed already"


async def test_a_change_knows_what_stood_there_and_skips_what_does_not_change(journal: Journal):
    cat = name(HERE, ZHANG, "张三")
    await journal.commit(put(cat, User(ZHANG)))
    assert await journal.commit(put(name(HERE, ZHANG, "张三", T0))) is None
    change = await journal.commit(lambda rows: Draft("owner", "x", drop=[("name", cat.id)]))
    assert change.ops[0].before["text"] == "张三"
    assert change.ops[0].after is None


async def test_undo_restores_rows_and_can_be_undone(journal: Journal):
    known = fact(HERE, ZHANG, entity("猫"), "张三喜欢猫")
    await journal.commit(put(known))
    dropped = await journal.commit(lambda rows: Draft("owner", "forget", drop=[("fact", known.id)]))
    undone = await undo(journal, dropped.id, "owner")
    assert await journal.read(lambda rows: rows.get(Fact, known.id)) == known
    with pytest.raises(NotFoundError):
        await undo(journal, dropped.id, "owner")
    await undo(journal, undone.id, "owner")
    assert await journal.read(lambda rows: rows.get(Fact, known.id)) is None


async def test_undo_brings_back_a_thing_that_went_when_nothing_was_known_of_it(journal: Journal):
    known = fact(HERE, ZHANG, entity("猫"), "张三喜欢猫")
    await journal.commit(put(known, Entity(entity("猫"))))
    dropped = await journal.commit(lambda rows: Draft("owner", "forget", drop=[("fact", known.id)]))
    await journal.commit(lambda rows: Draft("upkeep", "prune", drop=[("entity", entity("猫"))]))
    undone = await undo(journal, dropped.id, "owner")
    assert await journal.read(lambda rows: rows.ids(Entity, "e:", 9)) == [entity("猫")]
    await undo(journal, undone.id, "owner")
    assert not await journal.read(lambda rows: rows.ids(Entity, "e:", 9))


async def test_undo_refuses_when_a_later_change_touched_the_row_and_names_it(journal: Journal):
    known = fact(HERE, ZHANG, entity("猫"), "张三喜欢猫")
    first = await journal.commit(put(known))
    later = await journal.commit(put(fact(HERE, ZHANG, entity("猫"), "张三喜欢猫", pinned=True)))
    with pytest.raises(ConflictError) as refused:
        await undo(journal, first.id, "owner")
    assert (refused.value.change, refused.value.later) == (first.id, later.id)
    gone = await journal.commit(lambda rows: Draft("owner", "forget", drop=[("fact", known.id)]))
    with pytest.raises(ConflictError) as refused:
        await undo(journal, later.id, "owner")
    assert refused.value.later == gone.id


async def test_undo_takes_neither_a_chat_nor_its_people_from_under_its_messages(journal: Journal):
    assert await journal.append(message(HERE, ZHANG, "我养了一只猫"), HERE)
    begun = (await journal.change(1)).ops
    assert [op.kind for op in begun] == ["session"]
    await journal.commit(lambda _: Draft("chat", "episode", [User(ZHANG)]))
    for number in (1, 2):
        with pytest.raises(NotFoundError, match="said"):
            await undo(journal, number, "owner")
    assert await journal.read(lambda rows: rows.get(Session, HERE.id)) == HERE


async def test_a_resolver_that_fails_leaves_nothing_behind(journal: Journal):
    def explode(rows: Rows) -> Draft:
        raise NotFoundError("no")

    with pytest.raises(NotFoundError):
        await journal.commit(explode)
    assert await last_change(journal) == 0
    await say(journal, "还能写")


async def test_listeners_hear_everything_in_order_even_when_the_caller_was_cancelled(journal):
    heard: list[object] = []
    journal.listen(heard.append)
    commits = [asyncio.create_task(journal.commit(put(Entity(f"e:{i}")))) for i in range(20)]
    await asyncio.sleep(0)
    for task in commits:
        task.cancel()
    await asyncio.gather(*commits, return_exceptions=True)
    await last_change(journal)
    await journal.commit(put(Entity("e:last")))
    await asyncio.sleep(0)
    numbers = [event.id for event in heard if isinstance(event, Change)]
    assert numbers == list(range(1, await last_change(journal) + 1))


async def test_a_scan_that_is_given_up_leaves_no_file_open(journal: Journal):
    """As when the bot stops while the index is built, to put a backup in place."""
    await journal.commit(put(*(User(user(f"{n:04}")) for n in range(1200))))
    with journal.snapshot() as snapshot:
        begun = snapshot.scan(User)
        next(begun)
    await journal.close()
    assert copies.fold(journal.path).changes == 1
    assert len(list(journal.path.parent.glob("journal*"))) == 1


async def test_a_snapshot_stands_still_while_others_write(journal: Journal):
    people = [User(user(f"{n:04}")) for n in range(1200)]  # pages of them
    await journal.commit(put(*reversed(people)))
    with journal.snapshot() as before:
        await journal.commit(put(User(user("later"))))
        assert before.last_change() == 1
        assert list(before.scan(User)) == people


async def test_notes(journal: Journal):
    assert await journal.note("k") is None
    await journal.set_note("k", "一")
    await journal.set_note("k", "二")
    assert await journal.note("k") == "二"


async def test_a_foreign_and_a_damaged_file_are_refused_with_a_reason(tmp_path: Path):
    foreign = tmp_path / "foreign.sqlite3"
    with sqlite3.connect(foreign) as db:
        db.execute("CREATE TABLE t (a)")
    db.close()
    damaged = tmp_path / "damaged.sqlite3"
    damaged.write_bytes(b"not a database at all" * 500)
    for path, reason in ((foreign, "another program"), (damaged, "cannot be used")):
        with pytest.raises(JournalError, match=reason):
            await Journal.open(path)


async def test_a_closed_journal_says_so(tmp_path: Path):
    journal = await Journal.open(tmp_path / "journal.sqlite3")
    await journal.close()
    await journal.close()
    with pytest.raises(ClosedError):
        await last_change(journal)


async def test_a_message_that_is_sent_again_is_not_looked_for_among_all(journal: Journal):
    query = f"EXPLAIN QUERY PLAN SELECT id FROM message {SENT_AGAIN}"
    plan = await journal.look(lambda db: db.execute(query, ("s", "u", "r", "a")).fetchall())
    assert "message_ref" in plan[0][-1]


def test_a_bot_alone_loads_no_driver_of_a_server():
    code = "import sys, graph_memory.service; sys.exit('psycopg' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


async def test_a_request_for_confidence_reads_only_what_it_is_about(journal: Journal):
    """A chat may know of a hundred thousand things, and everybody waits meanwhile."""
    await say(journal, "我下周要辞职")
    told = fact(HERE, ZHANG, entity("辞职"), "张三下周要辞职", evidence=(1,))
    others = [replace(told, id=f"f:{n}", evidence=(9,)) for n in range(3)]
    names = [name(HERE, entity("辞职"), "辞职"), name(HERE, entity("山"), "山", T0 + 1)]
    await journal.commit(put(told, *others, *names))
    spoilt = "UPDATE row SET data = json_remove(data, '$.speaker') WHERE id LIKE 'f:_'"
    await journal.alter(lambda db, _tell: db.execute(spoilt))
    await say(journal, "刚才说的别告诉别人", at=T0 + 20)
    (kept,) = await journal.read(lambda rows: rows.some(Fact, [told.id]))
    assert kept.confidential
    called = await journal.read(lambda rows: rows.find(Name, session=HERE.id))
    assert {each.text for each in called if each.confidential} == {"辞职"}
