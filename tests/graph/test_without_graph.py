"""Without Kùzu and without its fork: the memory works, and says why there is no graph."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from graph_memory.commands.memory_commands import Commands
from graph_memory.commands.tools import Tools
from graph_memory.errors import GraphError
from graph_memory.graph import GraphState, graph_store
from graph_memory.model import Turn
from graph_memory.service import MemoryService
from tests.makers import ZHANG, private
from tests.sources import ROOT
from tests.webui.conftest import application, entered

from ..world import opened

ADMIN = Turn(private("zhang"), ZHANG, "张三", is_admin=True)
HIDDEN = {"PYTHONPATH": str(ROOT / "tests" / "hiding"), "GRAPH_MEMORY_HIDDEN": "kuzu,ladybug"}


@pytest.fixture
async def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MemoryService]:
    monkeypatch.setattr(graph_store, "is_available", lambda: False)
    async with opened(tmp_path) as memory:
        await memory.learning.hear(replace(ADMIN, text="我家的猫叫豆包", ref="1@1"))
        await memory.settle()
        yield memory


async def test_everything_else_works(memory: MemoryService) -> None:
    assert "豆包" in (await memory.recall.remind(ADMIN.asker, "我家的猫叫什么？")).block
    assert memory.graph.state is GraphState.ABSENT
    assert (await memory.health()).problems == []
    with pytest.raises(GraphError, match="neither kuzu nor ladybug"):
        await memory.graph.ask(lambda graph: graph.nodes(""))
    await memory.forget_me.forget(ZHANG)
    await memory.backups.purge()
    assert memory.backups.problem == "", "no file of a graph holds what is forgotten"


@pytest.mark.parametrize(("language", "said"), [("zh", "没有图谱"), ("en", "There is no graph")])
async def test_whoever_asks_the_graph_is_told_why(memory, language, said):
    memory.context.settings = replace(memory.settings, language=language)
    commands = Commands(memory)
    tools = Tools(commands)
    for told in (await tools.recall(ADMIN, ""), await tools.recall(ADMIN, "我家的豆包")):
        assert {"zh": "这里没有图谱", "en": "There is no graph here"}[language] in told
    assert "豆包" in told
    for told in (await commands.status(ADMIN), await commands.doctor(ADMIN)):
        assert "kuzu" in told
        assert "ladybug" in told
    async with entered(application(memory, language=language)) as browser:
        for path in ("/graph", "/graph/ask/bridges"):
            page = await browser.get(path)
            assert page.status_code == 503
            assert said in page.text
            assert "ladybug" in page.text
        page = await browser.get("/")
        assert said in page.text


def test_nothing_needs_them_to_be_imported(tmp_path: Path) -> None:
    code = f"""
import asyncio, importlib.util, pathlib
from datetime import UTC
from graph_memory.service import MemoryService, Settings
from graph_memory.graph import GraphState

async def main():
    assert not importlib.util.find_spec("kuzu") and not importlib.util.find_spec("ladybug")
    home = pathlib.Path({str(tmp_path)!r})
    memory = await MemoryService.open(home, Settings(), zone=UTC)
    await memory.settle()
    assert memory.graph.state is GraphState.ABSENT
    await memory.close()

asyncio.run(main())
"""
    env = os.environ | HIDDEN
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
