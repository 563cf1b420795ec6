"""Long work says how far it is and how it ended, and goes on without whoever asked for it."""

import asyncio
import itertools
import json
import threading
import time
from collections.abc import AsyncIterator
from datetime import UTC
from pathlib import Path

import pytest
import pytest_asyncio

from graph_memory.deletion.forget_me import Outcome
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from graph_memory.supervisor import RECENT, LongWork, Progress
from graph_memory.transfer import Options
from tests.waiting import until
from tests.world import opened

from .makers import T0

SAID = 450
WU = "qq:5"


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[MemoryService]:
    settings = Settings(local_embedding_model="none")
    async with opened(tmp_path, settings, now=lambda: T0 + 10**6) as memory:
        yield memory


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[tuple[int, int]]]:
    """What is told of how far work of each kind is."""
    told: dict[str, list[tuple[int, int]]] = {}
    take = Progress.take

    def heard(self: Progress, count: int, left: int | None = None) -> None:
        take(self, count, left)
        told.setdefault(self.kind, []).append((self.done, self.total))

    monkeypatch.setattr(Progress, "take", heard)
    return told


async def bring_in(memory: MemoryService) -> None:
    lines = (
        {"time": T0 + n, "sender": "5", "name": "小吴", "group": "7", "text": f"第{n}句话"}
        for n in range(SAID)
    )

    async def pieces() -> AsyncIterator[bytes]:
        for line in lines:
            yield f"{json.dumps(line)}\n".encode()

    path = await memory.transfer.receive("chat.jsonl", pieces())
    options = Options(zone=UTC, platform="qq", now=T0 + 10**6)
    await memory.transfer.bring(await memory.transfer.importer(path.name, options, format="chat"))


def rising(told: list[tuple[int, int]]) -> bool:
    return all(a <= b for (a, _), (b, _) in itertools.pairwise(told))


async def test_an_import_and_its_undo_say_how_far_they_are(memory, figures):
    await bring_in(memory)
    assert rising(figures["import"])
    done, total = figures["import"][-1]
    assert SAID <= done <= total
    undone = await memory.transfer.undo()
    told = figures["undo"]
    assert rising(told)
    assert told[0][1] >= SAID
    assert told[-1][0] == told[-1][1], "it ends with all of it"
    assert len({done for done, _ in told}) > 3
    last = memory.journal.works.of("undo")
    assert last.is_over
    assert last.result == undone
    assert undone.messages == SAID


async def test_who_is_forgotten_goes_piece_by_piece(memory, figures):
    await bring_in(memory)
    assert await memory.forget_me.forget(WU) is Outcome.DONE
    told = figures["forget"]
    assert rising(told)
    assert told[-1][0] == told[-1][1] >= SAID
    assert len({done for done, _ in told}) > 5
    last = memory.journal.works.of("forget")
    assert last.result is Outcome.DONE
    assert WU not in repr(last), "who it was is said nowhere"


async def test_an_examination_says_how_many_steps_are_done(memory, figures):
    checkup = await memory.doctor()
    assert figures["checkup"] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    last = memory.journal.works.of("checkup")
    assert last.result is checkup


async def test_work_goes_on_without_whoever_asked_for_it() -> None:
    works, go_on = LongWork(), asyncio.Event()

    async def work(progress: Progress) -> str:
        progress.take(3, 5)
        await go_on.wait()
        return "all"

    assert await works.soon(works.run("undo", work), 0.01) is None
    (now,) = works.under_way
    assert (now.done, now.total, now.is_over) == (3, 8, False)
    assert works.snapshot("undo", "import") == [now]
    assert works.snapshot("undo")[0] is not now, "what a page shows stands still"
    go_on.set()
    await until(lambda: not works.under_way)
    assert works.of("undo") is now
    assert (now.is_over, now.result) == (True, "all")
    assert await works.soon(works.run("undo", work), 5) == "all"
    assert works.of("undo") is not now


async def test_what_failed_is_told_until_it_is_done_and_what_ended_for_a_while(clock, caplog):
    works = LongWork(clock)

    async def broken(_progress: Progress) -> None:
        raise ValueError("no")

    async def well(_progress: Progress) -> str:
        return "done"

    with pytest.raises(ValueError, match="no"):
        await works.soon(works.run("import", broken), 5)
    assert "it did not end well: ValueError" in caplog.text
    await works.run("undo", well)
    assert [each.kind for each in works.snapshot("import", "undo")] == ["import", "undo"]
    clock.now += RECENT + 1
    (left,) = works.snapshot("import", "undo")
    assert isinstance(left.failure, ValueError)
    await works.run("import", well)
    assert [each.failure for each in works.snapshot("import")] == [None]
    works.fail("import", "聊天.json", ValueError("killed"))
    (left,) = works.snapshot("import")
    assert (left.of, str(left.failure)) == ("聊天.json", "killed")


async def test_closing_waits_until_a_thread_has_let_go(caplog: pytest.LogCaptureFixture) -> None:
    works, let_go = LongWork(), threading.Event()

    def read(progress: Progress) -> None:
        try:
            while True:
                progress.take(1)
                time.sleep(0.01)
        finally:
            time.sleep(0.05)
            let_go.set()

    works.begin(works.run("import", lambda progress: asyncio.to_thread(read, progress)))
    await asyncio.sleep(0.05)
    await works.close()
    assert let_go.is_set()
    assert "it did not end well" not in caplog.text


async def test_what_is_under_way_comes_before_what_has_ended() -> None:
    works, go_on = LongWork(), asyncio.Event()

    async def slow(_progress: Progress) -> int:
        await go_on.wait()
        return 1

    async def quick(_progress: Progress) -> int:
        return 2

    task = works.begin(works.run("forget", slow))
    await asyncio.sleep(0)
    assert await works.run("forget", quick) == 2
    first = works.of("forget")
    assert not first.is_over
    await works.close()
    assert task.cancelled()
    assert works.under_way == []
