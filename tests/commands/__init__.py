"""Commands as people write them."""

from dataclasses import replace

from graph_memory.commands.memory_commands import COMMANDS, Commands
from graph_memory.commands.transfers import ImportEnvironment
from graph_memory.model import Turn

from ..makers import CLUB, HOME, LI, ZHANG, admin, li_in_club, zhang, zhang_in_club  # noqa: F401


async def call(commands: Commands, turn: Turn, name: str, words: str) -> str:
    """What a command of the group answers."""
    match name:
        case "remember":
            return await commands.remember(replace(turn, text=words))
        case "export":
            return (await commands.transfers.export(turn, words)).text
        case "import":
            return await commands.transfers.import_(turn, words, ImportEnvironment())
    return await next(each for each in COMMANDS if each.name == name).answer(commands, turn, words)
