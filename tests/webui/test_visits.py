"""What the owner sees and does on the pages, in visits that ``visits.txt`` holds."""

from pathlib import Path

import pytest

from ..cases import cases
from .visit import Visit

pytestmark = pytest.mark.asyncio(loop_scope="package")
CASES = cases(Path(__file__).with_name("visits.txt"))


@pytest.mark.parametrize("name", CASES)
async def test_what_becomes_of_a_visit(owner, service, name):
    await Visit(owner, service).play(CASES[name])
