"""Whether recall keeps quiet when nothing matters, with the bundled model."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from graph_memory.inference import Embedder
from graph_memory.recall import Recaller
from graph_memory.store import Journal

from . import corpus
from .corpus import Corpus
from .trial import Trial, asker

pytestmark = pytest.mark.slow

DATA = Path(__file__).parent / "data"
OWNERS = ("zh", "en")
"""Whose questions and memories are in which language."""


@asynccontextmanager
async def remembered(
    read: Corpus, path: Path, embedder: Embedder | None
) -> AsyncIterator[tuple[Trial, Recaller]]:
    journal = await Journal.open(path / "journal.sqlite3")
    trial = Trial(read, journal, embedder)
    try:
        async with trial.recaller() as recaller:
            await trial.fill(recaller)
            yield trial, recaller
    finally:
        await journal.close()


def small_talk() -> dict[str, list[str]]:
    """What needs no memory, by language."""
    lines = (DATA / "smalltalk.txt").read_text(encoding="utf-8").splitlines()
    said = [line for line in lines if line and not line.startswith("#")]
    return {
        "zh": [line for line in said if not line.isascii()],
        "en": [line for line in said if line.isascii()],
    }


async def answered(recaller: Recaller, owner: str, texts: list[str]) -> float:
    """Share of some texts that recall answers with something."""
    found = [await recaller.remind(asker(owner), text) for text in texts]
    return sum(bool(each.items) for each in found) / len(found)


@pytest.mark.parametrize(("by_meaning", "talk", "real"), [(True, 0.14, 0.97), (False, 0.3, 0.94)])
async def test_small_talk_is_told_from_questions(tmp_path, bundled, by_meaning, talk, real):
    read = corpus.read(DATA / "own.jsonl")
    async with remembered(read, tmp_path, bundled if by_meaning else None) as (_, recaller):
        for owner in OWNERS:
            asked = [query.text for query in read.queries if query.owner == owner]
            assert await answered(recaller, owner, asked) >= real
            assert await answered(recaller, owner, small_talk()[owner]) <= talk
