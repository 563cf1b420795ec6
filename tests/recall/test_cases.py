"""What is recalled: cases that ``cases/`` holds and ``story.py`` plays."""

from pathlib import Path

import pytest

from ..cases import cases
from .conftest import Memory
from .story import Story

CASES = cases(Path(__file__).with_name("cases") / "recalling.txt")


@pytest.mark.parametrize("name", CASES)
async def test_what_somebody_is_reminded_of(memory: Memory, name: str) -> None:
    await Story(memory).play(CASES[name])
