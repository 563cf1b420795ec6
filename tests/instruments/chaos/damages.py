"""The campaign of damages: a killed process's graph file is spoiled, the memory is opened.

The graph must say what the journal says, whatever was done to its files.
"""

import asyncio
import random
import shutil
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from graph_memory.model import Turn

from ...graph.support import differences
from ...world import opened
from .chatter import Line, Model, word
from .kills import SILENCE
from .ledger import Tally
from .victim import SETTINGS

LINES = 400
"""Lines of chat that the graph to be damaged is made of."""
PAGE = 4096


@dataclass
class Toll(Tally):
    damages: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0


def _flip(rng: random.Random, file: Path) -> None:
    content = bytearray(file.read_bytes())
    for _ in range(rng.choice((1, 1, 8, 64))):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    file.write_bytes(content)


def _truncate(rng: random.Random, file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: rng.randrange(len(content))])


def _foreign(rng: random.Random, file: Path) -> None:
    foreign = (rng.randbytes(64 * PAGE), b"SQLite format 3\0" + bytes(8000), "别的文件".encode())
    file.write_bytes(rng.choice(foreign))


def _become_folder(_rng: random.Random, file: Path) -> None:
    file.unlink()
    file.mkdir()
    (file / "data.kz").write_bytes(b"x")


def _add_log(rng: random.Random, file: Path) -> None:
    """A write-ahead log that belongs to another file."""
    file.with_name(f"{file.name}.wal").write_bytes(rng.randbytes(8 * PAGE))


WAYS: tuple[Callable[[random.Random, Path], None], ...] = (
    _flip, _truncate, _foreign, _become_folder, _add_log,
)  # fmt: skip


def damage(rng: random.Random, directory: Path) -> str:
    """Spoil one of the graph's files; what was done, in words."""
    file = rng.choice(sorted((directory / "graph").iterdir()))
    way = rng.choice(WAYS)
    way(rng, file)
    return f"{way.__name__.strip('_').replace('_', ' ')} {file.suffix.strip('.')}"


class Campaign:
    """Damages to the files that a killed process left."""

    def __init__(self, seed: int, report: Callable[[Toll], None] = lambda _toll: None) -> None:
        self.toll = Toll()
        self._rng = random.Random(seed)
        self._report = report

    def run(self, damages: int) -> Toll:
        """Do so many damages, each to a fresh copy."""
        with tempfile.TemporaryDirectory(prefix="damage-") as temporary:
            model = Path(temporary) / "whole"
            self._visit(model, LINES, "building")
            for number in range(damages):
                if self.toll.problems:
                    break
                copy = Path(temporary) / str(number)
                shutil.copytree(model, copy)
                done = damage(self._rng, copy)
                self.toll.damages[done] += 1
                began = time.monotonic()
                self._visit(copy, 3, done)
                self.toll.slowest = max(self.toll.slowest, time.monotonic() - began)
                shutil.rmtree(copy)
                self._report(self.toll)
        return self.toll

    def _visit(self, directory: Path, lines: int, done: str) -> None:
        try:
            problems = asyncio.run(asyncio.wait_for(_inspect(directory, lines), SILENCE))
        except TimeoutError:
            problems = [f"hang: {SILENCE:g} s"]
        except Exception:
            problems = [f"failed: {traceback.format_exc()}"]
        self.toll.problems += [f"{problem} after {done}" for problem in problems]


async def _inspect(directory: Path, lines: int) -> list[str]:
    """Open, chat, compare, close; what is wrong."""
    model = Model(random.Random(lines), failing=0.0, slowness=0.0)
    graph, left = directory / "graph", directory / "left"
    async with opened(directory, SETTINGS, model=model) as service:
        for number in range(lines):
            line = Line(word(len(str(directory)), lines, number))
            await service.learning.hear(Turn(line.session, line.sender, line.account, line.text))
        await service.learning.flush()
        await service.graph.settle(SILENCE / 2)
        problems = [f"graph: {difference}" for difference in await differences(service.graph)]
        if lines == LINES:
            shutil.copytree(graph, left)
    if left.exists():  # as if the process had been killed
        shutil.rmtree(graph)
        left.rename(graph)
    return problems
