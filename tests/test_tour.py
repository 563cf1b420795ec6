"""The tour in ``docs/tour.md``: what it names is called, in its order."""

import ast
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType

from .scripted import said
from .sources import ROOT, tree
from .world import living, zhang

NAMED = re.compile(r"`((?:\w+/)*\w+\.py):([\w.]+)`")
OUTSIDE = ("main.py", "astrbot/")
"""Needs AstrBot's process, so that it is only looked for here; ``tests/e2e`` runs it."""
STATEMENT, QUESTION = "我养了一只橘猫，叫年糕", "年糕是什么颜色的？"
LINE = "·张三养了一只橘猫，叫年糕"
WEEK = 7 * 86_400


def stops() -> list[tuple[str, str]]:
    """Module and function of everything that the tour names, in its order."""
    return NAMED.findall((ROOT / "docs" / "tour.md").read_text(encoding="utf-8"))


def file_of(module: str) -> Path:
    return ROOT / module if module == "main.py" else ROOT / "graph_memory" / module


def functions(module: str) -> Iterator[str]:
    """Functions and methods of a module, as people write them."""
    for node in tree(file_of(module)).body:
        for each in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                yield each.name if each is node else f"{node.name}.{each.name}"  # type: ignore[attr-defined]


@contextmanager
def watched() -> Iterator[list[tuple[str, str]]]:
    """What of the memory is called meanwhile, in any thread: each once, in order."""
    called: dict[tuple[str, str], None] = {}
    package, monitor = ROOT / "graph_memory", sys.monitoring

    def note(code: CodeType, _offset: int) -> object:
        path = Path(code.co_filename)
        if path.is_relative_to(package):
            called[path.relative_to(package).as_posix(), code.co_qualname] = None
        return monitor.DISABLE

    seen: list[tuple[str, str]] = []
    monitor.use_tool_id(monitor.PROFILER_ID, "tour")
    monitor.register_callback(monitor.PROFILER_ID, monitor.events.PY_START, note)
    monitor.set_events(monitor.PROFILER_ID, monitor.events.PY_START)
    monitor.restart_events()
    try:
        yield seen
    finally:
        monitor.set_events(monitor.PROFILER_ID, 0)
        monitor.free_tool_id(monitor.PROFILER_ID)
        seen += called


def test_what_the_tour_names_is_there() -> None:
    named = stops()
    assert len(named) > 20
    assert {module for module, _ in named} >= {"main.py", "astrbot/hooks.py"}
    for module, function in named:
        assert function in set(functions(module)), f"{module}:{function}"


async def test_the_tour_is_what_happens(tmp_path: Path) -> None:
    async with living(tmp_path) as world:
        await world.memory.graph.settle()  # and whatever else begins with a memory
        with watched() as called:
            await world.say(zhang, STATEMENT)
            claim = said("U1", "has", "年糕", f"张三{STATEMENT[1:]}", 1)
            await world.learn({"worth": True, "facts": [claim]})
            world.later(WEEK)
            found = await world.memory.recall.remind(zhang.asker, QUESTION)
    assert LINE in found.block
    text = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    assert [line for line in (STATEMENT, QUESTION, LINE) if line not in text] == []
    told = [stop for stop in stops() if not stop[0].startswith(OUTSIDE)]
    assert [stop for stop in told if stop not in called] == []
    assert sorted(told, key=called.index) == told
