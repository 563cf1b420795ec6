"""What the learner makes of answers: cases that ``cases/`` holds and ``story.py`` plays."""

from pathlib import Path

import pytest

from graph_memory.store import Journal

from ..cases import cases
from .story import Story

FOLDER = Path(__file__).with_name("cases")
FILES = (
    "resolving", "attribution", "addressing", "namesakes", "merging", "deduplicating", "prompting",
)  # fmt: skip
CASES = {
    f"{file}: {name}": lines
    for file in FILES
    for name, lines in cases(FOLDER / f"{file}.txt").items()
}


@pytest.mark.parametrize("name", CASES)
async def test_what_comes_of_a_conversation(journal: Journal, name: str) -> None:
    assert any(line.startswith("= ") for line in CASES[name])
    await Story(journal).play(CASES[name])
