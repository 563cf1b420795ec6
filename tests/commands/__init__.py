"""Commands as people write them."""

from __future__ import annotations

from graph_memory.commands.memory_commands import COMMANDS, Commands
from graph_memory.turn import Turn


async def call(commands: Commands, turn: Turn, name: str, words: str) -> str:
    """What a command of the group answers."""
    command = next(each for each in COMMANDS if each.name == name)
    return await command.answer(commands, turn, words)
