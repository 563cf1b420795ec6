"""What the tests of the commands share."""

import pytest

from graph_memory.commands.memory_commands import Commands
from graph_memory.service import MemoryService

from ..makers import T0, Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(T0 + 60)


@pytest.fixture
def commands(memory: MemoryService) -> Commands:
    return Commands(memory)
