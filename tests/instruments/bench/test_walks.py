"""One message and one question pass no more functions than they did (``walks.py``)."""

from .walks import measure_walks, size

MOST = {"overheard": (96, 27), "whole message": (385, 47), "question": (243, 34)}
"""Functions and modules; who shortens a walk lowers them. What runs beside one makes it one or two
longer in some runs."""


async def test_walks_grow_no_longer() -> None:
    walks = await measure_walks()
    longer = {
        name: size(walks[name])
        for name, (functions, modules) in MOST.items()
        if size(walks[name])[0] > functions or size(walks[name])[1] > modules
    }
    assert not longer
    assert ("graph_memory/recall/recaller.py", "Recaller.remind") in walks["question"]
    assert ("graph_memory/store/journal.py", "Journal.append") in walks["overheard"]
    assert ("graph_memory/learning/extractor.py", "Extractor.learn") in walks["learned"]
