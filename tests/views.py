"""Agreement of the views with the journal."""

from graph_memory.service import MemoryService

from .graph.support import differences


async def assert_views_follow(memory: MemoryService) -> None:
    """Index and graph hold what they hold when they are built anew; the journal is well."""
    await memory.settle()
    assert await memory.recall.rebuild() == 0
    assert await differences(memory.graph) == []
    assert (await memory.doctor()).findings == ()
