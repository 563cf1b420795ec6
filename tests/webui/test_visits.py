"""What the owner sees and does on the pages, in visits that two files hold.

Those of ``own_visits.txt`` are to a memory of their own, which they need not put back.
"""

from pathlib import Path

import pytest

from ..cases import cases
from .visit import Visit

pytestmark = pytest.mark.asyncio(loop_scope="package")
CASES = cases(Path(__file__).with_name("visits.txt"))
OWN = cases(Path(__file__).with_name("own_visits.txt"))


@pytest.mark.parametrize("name", CASES)
async def test_what_becomes_of_a_visit(owner, service, name, monkeypatch):
    await Visit(owner, service, monkeypatch).play(CASES[name])


@pytest.mark.parametrize("name", OWN)
async def test_what_becomes_of_a_visit_to_a_memory_of_its_own(mine, own, name, monkeypatch):
    await Visit(mine, own, monkeypatch).play(OWN[name])
