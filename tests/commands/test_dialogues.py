"""What commands and tools answer and change, in dialogues that ``dialogues.txt`` holds."""

from pathlib import Path

import pytest

from ..cases import cases
from ..dialogue import played

CASES = cases(Path(__file__).with_name("dialogues.txt"))


@pytest.mark.parametrize("name", CASES)
async def test_what_becomes_of_a_dialogue(tmp_path: Path, name: str) -> None:
    await played(tmp_path, CASES[name])
