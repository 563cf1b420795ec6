"""Killed in the middle: done again it is complete, and nothing is there twice."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_memory.deletion import forget_me, retraction
from graph_memory.errors import ClosedError, FormatError, JournalError
from graph_memory.locales import explain
from graph_memory.store import Journal
from graph_memory.supervisor import LongWork, Progress
from graph_memory.transfer.import_runs import saved
from tests.makers import T0, broken_off, group, message, user
from tests.recall.histories import History, histories

from .support import brought, everything, exported, hear, importer, opened, put
from .test_own import moverof, play
from .test_sources import lines

pytestmark = pytest.mark.slow

T = TypeVar("T")
COUNT = 1_500
KILLED = textwrap.dedent("""
    import asyncio, os, signal, sys
    from pathlib import Path
    from graph_memory.store import journal as store
    from graph_memory.supervisor import Progress
    from tests.transfer.support import importer, opened

    root, source, steps = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])

    async def main():
        async with opened(root) as journal:
            transact, left = journal._transact, steps
            async def fatal(work, *rest):
                nonlocal left
                result = await transact(work, *rest)
                left -= 1
                if left == 0:  # what was just done is on disk, and nobody was told
                    os.kill(os.getpid(), signal.SIGKILL)
                return result
            journal._transact, store.SLICE = fatal, 0.0
            await importer(journal, source, learns=True).run(Progress())

    asyncio.run(main())
""")


def source(path: Path) -> Path:
    spoken = (
        {"time": T0 + 40 * n, "sender": str(n % 7), "text": f"哈哈{n % 3}", "group": "9"}
        for n in range(COUNT)
    )
    return put(path, lines(*spoken))


@pytest.mark.parametrize("steps", [1, 2, 4, 7, 8])
async def test_a_kill_costs_nothing(tmp_path: Path, steps: int) -> None:
    path = source(tmp_path / "x.jsonl")
    root = tmp_path / "a"
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(root), str(path), str(steps)],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"PYTHONHASHSEED": "0"},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    async with opened(root) as journal, opened(tmp_path / "b") as other:
        (run,) = await journal.look(saved)
        assert run.state == "running"
        service = moverof(journal)
        await service.start()
        while not (left := journal.works.of("import")):
            await asyncio.sleep(0)
        assert "interrupted" in str(left.failure)
        assert left.of == "x.jsonl"
        await service.close()
        await brought(journal, path, learns=True)
        (run,) = await journal.look(saved)
        assert len(await everything(journal)) == COUNT
        # As if nobody had been killed.
        await brought(other, path, learns=True)
        assert await exported(journal) == await exported(other)
        (whole,) = await other.look(saved)
        assert (run.state, run.count, run.rows) == ("done", whole.count, whole.rows)


async def test_an_import_that_was_stopped_while_it_read_its_file_is_told_of_once(tmp_path: Path):
    async def missed(journal: Journal) -> str:
        """What the next start says did not end."""
        journal.works = LongWork()
        service = moverof(journal)
        await service._sweep()
        last = journal.works.of("import")
        return last.of if last else ""

    path, wrong = source(tmp_path / "x.jsonl"), put(tmp_path / "y.jsonl", '{"kind": 1}\n')
    async with opened(tmp_path / "a") as journal:
        bringing = importer(journal, path)
        bringing.stop.set()  # as a reload of the plugin does
        with pytest.raises(ClosedError):
            await moverof(journal).bring(bringing)
        assert await missed(journal) == "x.jsonl"
        assert await missed(journal) == ""
        await moverof(journal).bring(importer(journal, path))
        with pytest.raises(FormatError):  # which was told already
            await moverof(journal).bring(importer(journal, wrong, format="chat"))
        assert await missed(journal) == ""


async def test_an_import_stops_while_somebody_is_being_forgotten(tmp_path, monkeypatch):
    """Not only once that is done: what came in meanwhile would stay."""
    path = source(tmp_path / "x.jsonl")
    async with opened(tmp_path / "a") as journal:
        transact = journal._transact

        async def forgetting(work: Callable[..., T], *rest: Any) -> T:
            result = await transact(work, *rest)
            monkeypatch.setattr(journal, "_transact", transact)
            with broken_off(journal, 1):
                await journal.in_slices(lambda db, tell: forget_me.erase(db, user("3"), T0, tell))
            return result

        monkeypatch.setattr("graph_memory.store.journal.SLICE", 0.0)
        monkeypatch.setattr(journal, "_transact", forgetting)
        with pytest.raises(JournalError, match="forgotten meanwhile") as caught:
            await importer(journal, path).run(Progress())
        assert "期间有人被彻底忘记" in explain("zh", caught.value)
        assert len(await everything(journal)) == 0


async def test_only_what_is_in_the_file_must_not_be_taken_back_meanwhile(tmp_path, monkeypatch):
    """In some group somebody takes something back every other minute."""
    async with opened(tmp_path / "a") as one, opened(tmp_path / "b") as two:
        await brought(one, source(tmp_path / "x.jsonl"))
        own = put(tmp_path / "own.jsonl", await exported(one))
        (told,) = await one.messages([COUNT])
        (heard,) = await hear(two, group("8"), message(group("8"), user("3"), "说错了"))
        transact, marks = two._transact, [retraction.mark_of(told.sender, told.ref, told.at)]

        async def retracting(work: Callable[..., T], *rest: Any) -> T:
            result = await transact(work, *rest)
            await transact(lambda db: retraction.put_marks(db, marks, repr(T0)))
            return result

        monkeypatch.setattr("graph_memory.store.journal.SLICE", 0.0)
        monkeypatch.setattr(two, "_transact", retracting)
        with pytest.raises(JournalError, match="forgotten meanwhile"):
            await importer(two, own).run(Progress())
        marks.append(retraction.mark_of(heard.sender, heard.ref, heard.at))
        assert (await importer(two, own).run(Progress())).run.state == "done"
        assert len(await everything(two)) == COUNT - 1 + 1


@given(histories(), histories(), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
@settings(max_examples=25, deadline=None)
def test_an_import_that_is_undone_has_never_been(here, there, first, second, third):
    """Whatever was there before, and however often the import, or its undo, broke off."""
    asyncio.run(_undone(here, there, (first, second), third))


async def _undone(here: History, there: History, breaks: tuple[int, int], steps: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        async with opened(root / "a") as one, opened(root / "b") as two:
            await play(one, here)
            await play(two, there)
            before = await state(two)
            path = put(root / "x.jsonl", await exported(one))
            for number in breaks:
                with broken_off(two, number), pytest.MonkeyPatch.context() as patch:
                    patch.setattr("graph_memory.transfer.importer.STEP", 2)
                    await importer(two, path).run(Progress())
            await brought(two, path)
            whole = await state(two)
            await brought(two, path)
            assert await state(two) == whole, "a second import adds nothing"
            service = moverof(two)
            if any(run.is_there for run in await service.runs()):
                with broken_off(two, steps), pytest.MonkeyPatch.context() as patch:
                    patch.setattr("graph_memory.transfer.import_runs.STEP", 2)
                    await service.undo()
                if all(run.state == "undoing" for run in await service.runs()):
                    await service.start()  # goes on by itself
                    while any(run.is_there for run in await service.runs()):
                        await asyncio.sleep(0.001)
                    await service.close()
                elif any(run.is_there for run in await service.runs()):
                    assert (await service.undo()).kept == 0
            assert await state(two) == before


async def state(journal: Journal) -> list[Any]:
    """All that a memory holds, but for what cannot be the same again."""

    def work(db: sqlite3.Connection) -> list[Any]:
        queries = (
            "SELECT kind, id, session, a, b, data FROM row ORDER BY kind, id",
            "SELECT * FROM message ORDER BY id",
            "SELECT id, session, state FROM batch ORDER BY id",
            "SELECT * FROM presence ORDER BY circle, user, since",
            "SELECT key FROM meta WHERE key LIKE 'going:%'",
        )
        return [db.execute(query).fetchall() for query in queries]

    return await journal.look(work)
