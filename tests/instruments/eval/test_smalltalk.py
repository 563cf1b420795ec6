"""Whether recall keeps quiet when nothing matters, with the bundled model."""

from pathlib import Path

import pytest

from graph_memory.embedding import load
from graph_memory.model import asker_of
from graph_memory.recall import Recaller
from graph_memory.store import Journal

from . import corpus
from .trial import Trial, private_chat

pytestmark = pytest.mark.slow

DATA = Path(__file__).parent / "data"
OWNERS = ("zh", "en")
"""Whose questions and memories are in which language."""


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
    session = private_chat(owner)
    asker = asker_of(session, session.owner)
    found = [await recaller.remind(asker, text) for text in texts]
    return sum(bool(each.items) for each in found) / len(found)


@pytest.mark.parametrize(("model", "talk", "real"), [("bundled", 0.14, 0.97), ("none", 0.3, 0.94)])
async def test_small_talk_is_told_from_questions(tmp_path, model, talk, real):
    read = corpus.read(DATA / "own.jsonl")
    embedder = await load(model)
    journal = await Journal.open(tmp_path / "journal.sqlite3")
    trial = Trial(read, journal, embedder)
    try:
        async with trial.recaller() as recaller:
            await trial.ingest()
            if embedder:
                recaller.use(embedder)
            await recaller.settle()
            for owner in OWNERS:
                asked = [query.text for query in read.queries if query.owner == owner]
                assert await answered(recaller, owner, asked) >= real
                assert await answered(recaller, owner, small_talk()[owner]) <= talk
    finally:
        await journal.close()
        if embedder:
            await embedder.close()
