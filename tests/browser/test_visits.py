"""What people do and see in a real browser, in visits that ``visits.txt`` holds."""

from pathlib import Path

import pytest

from ..cases import cases
from .visit import BrowserVisit

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="package")]
CASES = cases(Path(__file__).with_name("visits.txt"))


@pytest.mark.parametrize("name", CASES)
async def test_what_becomes_of_a_visit(visit, service, name):
    await BrowserVisit(visit, service).play(CASES[name])
