"""Agreement of the views with the journal."""

from graph_memory.recall import Recaller
from graph_memory.recall.documents import message_key
from graph_memory.service import MemoryService

from .graph.support import differences

Contents = set[tuple[str, str, str, bool]]


async def stale(recaller: Recaller) -> int:
    """How many documents of an index a new one has otherwise; the new one stays.

    Old messages, of which one that was not built anew keeps more, do not count.
    """
    old, before = recaller._sync.index, await _contents(recaller)
    await recaller.rebuild()
    oldest = min(recaller._sync.index.messages, default=0)
    aged = {message_key(id) for id in old.messages if id < oldest}
    return len({key for key, *_ in before ^ await _contents(recaller)} - aged)


async def _contents(recaller: Recaller) -> Contents:
    index = recaller._sync.index

    def work() -> Contents:
        muted = index.documents.muted
        found = ((number, index.documents[number]) for number in index.documents.numbers())
        return {(each.key, each.text, each.source.session, bool(muted[n])) for n, each in found}

    return await recaller._sync.run(work)


async def assert_views_follow(memory: MemoryService) -> None:
    """Index and graph hold what they hold when they are built anew; the journal is well."""
    await memory.settle()
    assert await stale(memory.recall) == 0
    assert await differences(memory.graph) == []
    assert (await memory.doctor()).findings == ()
