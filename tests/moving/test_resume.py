"""Killed in the middle: it goes on where it was, and nothing is there twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from graph_memory.journal import Journal
from graph_memory.moving.runs import saved
from tests.makers import T0

from .support import brought, everything, exported, opened, put
from .test_own import moverof
from .test_sources import lines

COUNT = 1_500
KILLED = textwrap.dedent("""
    import asyncio, os, signal, sys
    from pathlib import Path
    from tests.moving.support import importer, opened

    root, source, steps = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])

    async def main():
        async with opened(root) as journal:
            alter, left = journal.alter, steps
            async def fatal(work):
                nonlocal left
                result = await alter(work)
                left -= 1
                if left == 0:  # what was just done is on disk, and nobody was told
                    os.kill(os.getpid(), signal.SIGKILL)
                return result
            journal.alter = fatal
            await importer(journal, source, learns=True).run()

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
        await _finish(journal)
        (run,) = await journal.look(saved)
        assert run.state == "done"
        assert list((root / "moving").glob("*")) == []
        assert len(await everything(journal)) == COUNT
        # As if nobody had been killed.
        await brought(other, path, learns=True)
        assert await exported(journal) == await exported(other)
        (whole,) = await other.look(saved)
        assert (run.messages, run.batches, run.unlearned) == (
            whole.messages,
            whole.batches,
            whole.unlearned,
        )


async def _finish(journal: Journal) -> None:
    """What the next start does."""
    await moverof(journal)._resume()
