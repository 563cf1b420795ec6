"""Forget me: no byte of what was planted is left, others lose nothing, no kill and no
restore brings it back."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from contextlib import closing, nullcontext
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from graph_memory.deletion import Outcome, Tombstones, forget_me
from graph_memory.errors import BondError, JournalError
from graph_memory.graph import graph_store
from graph_memory.maintenance import stage
from graph_memory.maintenance.backup import JOURNAL, saved
from graph_memory.model import Entity, Episode, Fact, Name, Session, Turn, User, asker_of
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from graph_memory.store import copies
from graph_memory.store.schema import FOLDED

from ..disks import small_disk
from ..makers import T0, entity, fact, group, holding, name, private, put, scan, user
from ..scripted import Call, HashEmbedder, ScriptedModel, answer, said, thing
from ..waiting import until

pytestmark = pytest.mark.slow

WANG, LI = user("80001"), user("80002")
HOME, LIS, CLUB = private("80001"), private("80002"), group("读书会")
PLANTED = "PLANTED秘"
"""In everything that is to go."""
KEPT = "KEPT留"
"""In everything that is to stay."""
NICK = f"老王{PLANTED}"


def learned(call: Call) -> dict[str, Any]:
    """What a model would find in a batch: a fact of each user, entities, a summary."""
    lines = [line for line in call.prompt.splitlines() if line.startswith("[")]
    words = [word for word in (PLANTED, KEPT) if word in "".join(lines)]
    facts = [
        said("我", "likes", f"东西{word}{number}", f"有人喜欢东西{word}{number}", number)
        for number, line in enumerate(lines, 1)
        for word in [each for each in words if each in line][:1]
    ]
    places = [thing(f"N{number}", f"店{word}", "place") for number, word in enumerate(words)]
    return answer(*facts, entities=places, summary="大家聊了" + "和".join(words))


async def opened(directory: Path, **more: Any) -> MemoryService:
    service = await MemoryService.open(
        directory, Settings(), zone=UTC, now=lambda: T0 + 500, **more
    )
    service.use_embedder(HashEmbedder.load)
    return service


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails is tried again at once."""
    monkeypatch.setattr(forget_me, "RETRY", 0.01)


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[MemoryService]:
    """A memory with everything in it."""
    service = await opened(tmp_path)
    await live(service)
    yield service
    await service.close()


async def live(service: MemoryService) -> None:
    """Say and learn things, in private and in a group; forget one, undo, back up."""
    hear = service.learning.hear
    for number in range(6):
        at = T0 + number
        await hear(Turn(HOME, WANG, NICK, f"私下说{PLANTED}{number}", ref=f"{number}@1"), at=at)
        await hear(Turn(CLUB, WANG, NICK, f"我在群里说{PLANTED}{number}"), at=at)
        await hear(Turn(CLUB, LI, "小李", f"我也说{KEPT}{number}"), at=at)
        await hear(Turn(LIS, LI, "小李", f"悄悄话{KEPT}{number}"), at=at)
        await service.learning.reply(HOME, f"回答{PLANTED}", at=at)
        await service.learning.reply(CLUB, f"{NICK}说得对{PLANTED}", at=at)
    await service.learning.flush()
    await put(service.journal, *story())
    await service.library.forget([GOSSIP_FORGOTTEN.id], None, "owner")
    await service.learning.remember(Turn(CLUB, WANG, NICK, f"记住{PLANTED}生日"))
    await hear(Turn(CLUB, WANG, NICK, f"还没学的{PLANTED}"), at=T0 + 450)
    await hear(Turn(CLUB, LI, "小李", f"还没学的{KEPT}"), at=T0 + 450)
    await service.settle()


THING, SHOP = entity(f"猫{PLANTED}"), entity(f"小店{KEPT}")
GOSSIP = fact(LIS, WANG, SHOP, f"老王欠钱{PLANTED}", speaker=LI)
GOSSIP_FORGOTTEN = fact(LIS, WANG, SHOP, f"老王旧事{PLANTED}", speaker=LI)
ABOUT = fact(CLUB, LI, WANG, f"小李认识{PLANTED}", predicate="friend_of", speaker=LI)
TOLD = fact(CLUB, THING, SHOP, f"猫住店里{PLANTED}", speaker=WANG)
OWN = fact(CLUB, LI, SHOP, f"小李常去小店{KEPT}", speaker=LI)


def story() -> list[Any]:
    nodes = [User(WANG), User(LI), Entity(THING), Entity(SHOP)]
    names = [name(CLUB, THING, f"猫{PLANTED}"), name(CLUB, SHOP, f"小店{KEPT}")]
    return [*nodes, *names, LIS, CLUB, GOSSIP, GOSSIP_FORGOTTEN, ABOUT, TOLD, OWN]


async def recalled(service: MemoryService, session: Session, who: str, text: str) -> str:
    await service.settle()
    return (await service.recall.remind(asker_of(session, who), text)).block


async def assert_gone(path: Path) -> None:
    """A memory that is opened again knows the others, and no file knows who was forgotten."""
    again = await opened(path)
    assert KEPT in await recalled(again, LIS, LI, f"悄悄话{KEPT}")
    assert PLANTED not in await recalled(again, CLUB, LI, "PLANTED秘")
    await again.backups.purge()
    assert holding(path, PLANTED) == []
    await again.close()
    assert holding(path, PLANTED) == []
    assert holding(path, "80001") == []
    assert not Tombstones.read(path).unfinished


async def test_no_byte_is_left_and_others_lose_nothing(tmp_path: Path):
    service = await opened(tmp_path, model=ScriptedModel(learned))
    await live(service)
    assert await service.library.retract(HOME.circle, "5"), "with the answer, in a private chat"
    old = await service.backups.make("manual")
    assert PLANTED in await recalled(service, CLUB, LI, "东西PLANTED秘")
    facts = await scan(service.journal, Fact)
    mine = {f.id for f in facts if KEPT in f.statement}
    assert any(f.subject == WANG and f.session == CLUB.id for f in facts), "learned in the group"
    assert any(PLANTED in n.text for n in await scan(service.journal, Name)), "entities, too"
    assert holding(tmp_path, PLANTED)

    assert await service.forget_me.forget(WANG) is Outcome.DONE
    assert all("backups" in path or "graph" in path for path in holding(tmp_path, PLANTED))
    await service.backups.purge()

    assert holding(tmp_path, PLANTED) == []
    assert holding(tmp_path, "80001") == [], "not even the account"
    await service.settle()
    left = await scan(service.journal, Fact)
    assert {f.id for f in left} == mine
    words = [m.text for m in await service.journal.newest_messages(1000)]
    assert sum(KEPT in text for text in words) == 13
    assert len(words) == 13, "and the bot's lines are gone with what they answered"
    assert KEPT in await recalled(service, CLUB, LI, f"小店{KEPT}")
    assert PLANTED not in await recalled(service, CLUB, LI, "东西PLANTED秘 老王")
    assert service.recall.traces.of(CLUB.circle), "since then"
    names = [node.name for node in await service.graph.ask(lambda graph: graph.nodes())]
    assert any(KEPT in each for each in names)
    assert not [each for each in names if PLANTED in each or "80001" in each]
    episodes = await scan(service.journal, Episode)
    assert {e.session for e in episodes} == {CLUB.id, LIS.id}
    (anew,) = [e.summary for e in episodes if e.session == CLUB.id]
    assert KEPT in anew, "written anew of what is left"
    assert PLANTED not in anew
    assert all(WANG not in e.participants for e in episodes)
    assert saved(tmp_path)[0].name == old.name, "the backup is there, without the user"

    # Life goes on, for everybody.
    assert await service.learning.hear(Turn(HOME, WANG, "新人", "我回来了，喜欢茶"))
    await service.learning.flush()
    assert await service.journal.pending() == await service.journal.queue() == []
    await service.close()
    assert holding(tmp_path, PLANTED) == []
    again = await opened(tmp_path)
    assert "我回来了" in await recalled(again, HOME, WANG, "回来了 喜欢茶")
    assert KEPT in await recalled(again, LIS, LI, f"悄悄话{KEPT}")
    await again.close()
    assert holding(tmp_path, PLANTED) == []


async def test_a_reader_of_the_old_state_is_waited_for(service: MemoryService, tmp_path: Path):
    with service.journal.snapshot() as before:
        await service.forget_me.forget(WANG)
        purging = asyncio.create_task(service.backups.purge())
        done, _ = await asyncio.wait([purging], timeout=1)
        assert not done
        assert before.get(Fact, GOSSIP.id) == GOSSIP
    await purging
    assert holding(tmp_path, PLANTED) == []


async def test_a_restored_backup_does_not_bring_them_back(service: MemoryService, tmp_path: Path):
    await service.backups.make("manual")
    (old,) = saved(tmp_path)
    outside = old.path.read_bytes()  # a copy that somebody keeps elsewhere
    await service.forget_me.forget(WANG)
    await service.backups.purge()
    await service.close()

    old.path.write_bytes(outside)
    stage(tmp_path, old.name, T0)
    assert holding(tmp_path, PLANTED)
    await assert_gone(tmp_path)

    (tmp_path / JOURNAL).write_bytes(outside)  # put there by hand
    await (await opened(tmp_path)).close()
    assert holding(tmp_path, PLANTED) == []


async def test_whoever_came_back_and_is_restored_is_not_erased_again(service, tmp_path):
    await service.forget_me.forget(WANG)
    await service.learning.hear(Turn(HOME, WANG, "新人", "我回来了"))
    backup = await service.backups.make("manual")
    await service.close()
    stage(tmp_path, backup.name, T0)
    again = await opened(tmp_path)
    assert "我回来了" in [m.text for m in await again.journal.newest_messages(99)]
    await again.forget_me.forget(WANG)
    await again.backups.purge()
    assert holding(tmp_path, "我回来了") == [], "and may go a second time"
    await again.close()


def damaged(copy: Path) -> None:
    content = bytearray(copy.read_bytes())
    content[4096:8192] = os.urandom(4096)
    copy.write_bytes(content)
    (copy.parents[1] / "journal-damaged-20260101T000000Z.sqlite3").write_bytes(content)


def too_old(copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as db:
        db.execute("DELETE FROM migration WHERE name >= ?", (FOLDED,))
        db.execute("ALTER TABLE message DROP COLUMN addressees")
        db.commit()


@pytest.mark.parametrize("spoil", [damaged, too_old])
async def test_copies_that_cannot_be_read_go(service, tmp_path, spoil):
    spoil((await service.backups.make("manual")).path)
    await service.forget_me.forget(WANG)
    await service.backups.purge()
    assert not Tombstones.read(tmp_path).unfinished
    assert holding(tmp_path, PLANTED) == []
    assert saved(tmp_path) == []


def fail(*_: Any, **__: Any) -> None:
    raise JournalError("no room")


@pytest.mark.parametrize("step", ["purge", "compact", "empty_log"])
async def test_a_purge_that_fails_is_done_again(service, tmp_path, step, monkeypatch):
    await service.backups.make("manual")
    with monkeypatch.context() as patch:
        patch.setattr(forget_me, step, fail)
        assert await service.forget_me.forget(WANG) is Outcome.DONE
        await service.backups.purge()
        assert "no room" in service.backups.problem
    assert Tombstones.read(tmp_path).unfinished
    await service.close()
    await assert_gone(tmp_path)


async def test_a_journal_that_cannot_be_written_is_erased_later(service, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(forget_me, "erase", fail)
        assert await service.forget_me.forget(WANG) is Outcome.RECORDED
        assert service.forget_me.waiting == 1
        assert [each.code for each in (await service.health()).problems] == ["forgetting"]
    await until(lambda: not service.forget_me.waiting)
    assert PLANTED not in await recalled(service, CLUB, LI, "PLANTED秘")


async def test_accounts_that_cannot_be_parted_yet_are_tried_again(service, monkeypatch):
    part = service.forget_me._unlink
    asked: list[str] = []

    async def once(user: str) -> None:
        asked.append(user)
        if len(asked) == 1:
            raise BondError("alone", "parted meanwhile")
        await part(user)

    monkeypatch.setattr(service.forget_me, "_unlink", once)
    assert await service.forget_me.forget(WANG) is Outcome.RECORDED
    await until(lambda: not service.forget_me.waiting)
    assert WANG not in {m.sender for m in await service.journal.newest_messages(1000)}


async def test_a_wish_that_cannot_be_recorded_does_nothing_and_is_kept(
    service, tmp_path, monkeypatch
):
    before = await service.journal.newest_messages(1000)
    with monkeypatch.context() as patch:
        patch.setattr(forget_me, "writing", full)
        assert await service.forget_me.forget(WANG) is Outcome.NOTED
        assert await service.journal.newest_messages(1000) == before
        assert not (tmp_path / forget_me.FILE).exists()
        assert not list(tmp_path.glob("*.tmp"))
    await until(lambda: not service.forget_me.waiting)
    assert Tombstones.read(tmp_path).find(WANG)
    assert WANG not in {m.sender for m in await service.journal.newest_messages(1000)}


async def test_on_a_full_disk_the_wish_is_kept_until_there_is_room(tmp_path: Path):
    with small_disk(tmp_path / "disk", "8m") as disk:
        service = await opened(disk.path)
        for who in (WANG, LI):
            await service.learning.hear(Turn(CLUB, who, "某人", f"我的钥匙在{who}"), at=T0)
        disk.fill()
        assert await service.forget_me.forget(WANG) is Outcome.NOTED
        assert len(await service.journal.newest_messages(9)) == 2
        disk.free()
        await until(lambda: not service.forget_me.waiting)
        assert [m.sender for m in await service.journal.newest_messages(9)] == [LI]
        await service.close()
        again = await opened(disk.path)
        assert WANG not in {m.sender for m in await again.journal.newest_messages(1000)}
        await again.close()


def full(*_: Any, **__: Any) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("room", [True, False])
async def test_the_purge_comes_within_a_day(tmp_path: Path, room: bool, monkeypatch):
    clock = [T0 + 500]
    service = await MemoryService.open(tmp_path, Settings(), zone=UTC, now=lambda: clock[0])
    await live(service)
    await service.backups.tend()
    await service.forget_me.forget(WANG)
    await service.backups.tend()
    assert holding(tmp_path, PLANTED), "not at each call"
    clock[0] += 86_401
    monkeypatch.setattr(graph_store, "build", fail)
    if not room:
        monkeypatch.setattr(copies, "copy", fail)
    with nullcontext() if room else pytest.raises(JournalError, match="no room"):
        await service.backups.tend()
    assert holding(tmp_path, PLANTED) == []
    assert not Tombstones.read(tmp_path).unfinished
    await service.close()


async def test_a_clock_that_was_ahead_lets_people_ask_again(service: MemoryService):
    service.forget_me._tombstones.add(WANG, T0 + 500 + 1000 * 86_400)
    assert await service.forget_me.due_in(WANG) == 0
    service.forget_me._tombstones.stones.clear()
    await service.forget_me.forget(WANG)
    assert await service.forget_me.due_in(WANG) == forget_me.PAUSE


KILLED = """
    import asyncio, sys
    from pathlib import Path
    from tests.deletion.test_forget_me import WANG, live, opened

    async def main(directory):
        service = await opened(directory)
        await live(service)
        await service.backups.make("manual")
        print("ready", flush=True)
        sys.stdin.readline()
        await service.forget_me.forget(WANG)
        print("done", flush=True)
        await asyncio.sleep(60)

    asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.06, 0.15, 0.4])
async def test_a_kill_on_the_way_is_made_good_at_the_next_start(tmp_path: Path, delay: float):
    root = Path(__file__).parents[2]
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path), cwd=root,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert child.stdin
    assert child.stdout
    assert (await child.stdout.readline()).strip() == b"ready"
    assert holding(tmp_path, PLANTED)
    child.stdin.write(b"\n")
    await child.stdin.drain()
    await until((tmp_path / forget_me.FILE).exists)
    await asyncio.sleep(delay)
    child.send_signal(signal.SIGKILL)
    await child.wait()

    await assert_gone(tmp_path)


async def test_tombstones_that_cannot_be_read_is_an_error(tmp_path: Path):
    await (await opened(tmp_path)).close()
    (tmp_path / forget_me.FILE).write_text("{")
    with pytest.raises(JournalError, match="forgotten"):
        await opened(tmp_path)
