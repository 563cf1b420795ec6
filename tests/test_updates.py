"""A memory that an earlier version wrote is there after the update, as it was.

What a version was is taken from git, where its history is whole.
"""

import io
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from graph_memory.commands.memory_commands import Commands

from .sources import ROOT
from .world import opened, zhang

SINCE = "01451c5"
"""Began the first version, whose last commit is what people have of it."""
WRITES = """
import asyncio, sys
from datetime import UTC
from pathlib import Path
from graph_memory.model import session_of
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
try:
    from graph_memory.turn import Turn
except ImportError:
    from graph_memory.model import Turn

async def write():
    memory = await MemoryService.open(Path(sys.argv[1]), Settings(), zone=UTC)
    home = session_of("aiocqhttp", "", "zhang", "mei", umo="qq:FriendMessage:zhang")
    for text in ("我对花生过敏", "我养的猫叫年糕"):
        await memory.learning.hear(Turn(home, "aiocqhttp:zhang", "张三", text))
    await memory.learning.remember(Turn(home, "aiocqhttp:zhang", "张三", "我在杭州上班"))
    await memory.close()

asyncio.run(write())
"""


def git(*arguments: str) -> bytes:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else b""


def released() -> list[str]:
    """The last commit of each version before this one; none without history."""
    raised = git("log", "--format=%H", f"{SINCE}..HEAD", "--", "metadata.yaml").decode().split()
    versions = {git("show", f"{each}~1:metadata.yaml").decode(): f"{each}~1" for each in raised}
    versions.pop((ROOT / "metadata.yaml").read_text(encoding="utf-8"), None)
    return list(versions.values())


@pytest.mark.slow
@pytest.mark.skipif(not released(), reason="the history is not here")
@pytest.mark.parametrize("commit", released())
async def test_what_an_earlier_version_wrote_is_there(commit: str, tmp_path: Path) -> None:
    old, data = tmp_path / "old", tmp_path / "data"
    with tarfile.open(fileobj=io.BytesIO(git("archive", commit, "graph_memory"))) as archive:
        archive.extractall(old, filter="data")
    written = subprocess.run(
        [sys.executable, "-c", WRITES, str(data)], cwd=old, capture_output=True, text=True
    )
    assert written.returncode == 0, written.stderr
    async with opened(data) as memory:
        await memory.settle()
        commands = Commands(memory)
        assert "我在杭州上班" in await commands.mine(zhang)
        said = await memory.journal.newest_messages(10)
        assert {each.text for each in said} >= {"我对花生过敏", "我养的猫叫年糕"}
        assert "我对花生过敏" in (await memory.recall.remind(zhang.asker, "我对花生过敏吗？")).block
        # The last thing done under the old version can be taken back under the new one.
        await commands.undo(zhang)
        assert "我在杭州上班" not in await commands.mine(zhang)
