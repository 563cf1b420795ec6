"""Commands as people write them."""

from graph_memory.commands.memory_commands import COMMANDS, Commands
from graph_memory.model import Turn

from ..makers import group, private, user

ZHANG, LI = user("zhang"), user("li")
HOME, CLUB = private("zhang"), group("读书会")
zhang = Turn(HOME, ZHANG, "张三")
zhang_in_club = Turn(CLUB, ZHANG, "张三")
li_in_club = Turn(CLUB, LI, "李四")
admin = Turn(private("boss"), user("boss"), "老板", is_admin=True)


async def call(commands: Commands, turn: Turn, name: str, words: str) -> str:
    """What a command of the group answers."""
    return await next(each for each in COMMANDS if each.name == name).answer(commands, turn, words)
