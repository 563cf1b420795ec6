"""Traces outlast a restart, within a bound, and nothing that is erased outlasts anything."""

from collections.abc import Callable
from datetime import UTC
from pathlib import Path

from graph_memory.model import Message, asker_of
from graph_memory.recall import recaller
from graph_memory.recall.traces import DAYS, LASTING
from graph_memory.retention import DAY
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from tests.makers import T0, message, private

HOME = private("zhang")
ASKER = asker_of(HOME, HOME.owner)


async def opened(directory: Path, now: Callable[[], float] = lambda: T0) -> MemoryService:
    memory = await MemoryService.open(
        directory,
        Settings(local_embedding_model="none", recall_deadline=10_000),
        zone=UTC,
        now=now,
    )
    await memory.settle()
    return memory


async def remembering(directory: Path) -> tuple[MemoryService, Message]:
    """A memory that was reminded of a message."""
    memory = await opened(directory)
    said = await memory.journal.append(message(HOME, HOME.owner, "我对花生过敏"), HOME)
    await memory.settle()
    await memory.recall.remind(ASKER, "我对花生过敏吗？")
    return memory, said


async def test_a_trace_is_there_after_a_restart_as_it_was(tmp_path: Path) -> None:
    memory, _ = await remembering(tmp_path)
    (before,) = memory.recall.traces.recent()
    assert before.candidates
    await memory.close()
    written = tmp_path / recaller.TRACES
    assert written.stat().st_mode & 0o077 == 0
    memory = await opened(tmp_path)
    (after,) = memory.recall.traces.recent()
    assert not written.exists(), "what is erased from now on must not be in a file"
    assert after.candidates == before.candidates
    assert (after.asker, after.query, after.block, after.at, after.timing) == (
        before.asker, before.query, before.block, before.at, before.timing
    )  # fmt: skip
    explained = await memory.recall.explain(ASKER)
    assert explained is not None
    assert [each.text for each in explained.shown] == ["我对花生过敏"]
    await memory.close()


async def test_only_the_newest_of_the_last_days_are_kept(tmp_path: Path) -> None:
    memory, _ = await remembering(tmp_path)
    for number in range(LASTING):
        asker = asker_of(private(str(number)), f"qq:{number}")
        await memory.recall.remind(asker, "我对什么过敏？")
    await memory.close()
    memory = await opened(tmp_path)
    kept = memory.recall.traces.recent()
    assert len(kept) == LASTING
    await memory.close()
    memory = await opened(tmp_path, lambda: T0 + DAYS * DAY + 60)
    assert memory.recall.traces.recent() == []
    await memory.close()


async def test_a_memory_that_changed_meanwhile_has_none(tmp_path: Path) -> None:
    memory, _ = await remembering(tmp_path)
    await memory.close()
    kept = (tmp_path / recaller.TRACES).read_bytes()
    memory = await opened(tmp_path)
    other = private("li")
    await memory.journal.append(message(other, other.owner, "你好"), other)
    await memory.close()
    (tmp_path / recaller.TRACES).write_bytes(kept)
    memory = await opened(tmp_path)
    assert memory.recall.traces.recent() == []
    await memory.close()


async def test_what_is_retracted_is_written_nowhere(tmp_path: Path) -> None:
    memory, said = await remembering(tmp_path)
    await memory.library.unsay(said.id, None, "owner")
    await memory.recall.remind(ASKER, "我对花生过敏吗？")
    await memory.close()
    memory = await opened(tmp_path)
    await memory.forget_me.forget(HOME.owner)
    await memory.close()
    assert not (tmp_path / recaller.TRACES).exists()


async def test_a_damaged_file_is_none(tmp_path: Path) -> None:
    (tmp_path / recaller.TRACES).write_text('{"traces": [{"asker": 1}]}', "utf-8")
    memory = await opened(tmp_path)
    assert memory.recall.traces.recent() == []
    assert not (tmp_path / recaller.TRACES).exists()
    await memory.close()
