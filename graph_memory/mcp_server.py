"""MCP server: the memory for other programs, on behalf of one person.

The setting ``mcp_asker`` says of whom; what they may not see, change or forget in their
private chat, no program may. ``mcp`` is AstrBot's own requirement, loaded when first asked.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from .commands.memory_commands import Commands
from .commands.tools import CORRECT, TOOLS, Tools
from .errors import GraphMemoryError, NotFoundError
from .locales import explain
from .model import NO_PERSONA, Turn, session_of, user_id
from .service import MemoryService
from .store import queries

NAME = "graph-memory"


async def turn_of(memory: MemoryService, asker: str) -> Turn:
    """The turn of the person for whom programs ask; it is no admin's.

    Args:
        asker: ``platform:account``, maybe with ``#persona``; else the persona they spoke with
            last in private.
    """
    who, _, persona = asker.partition("#")
    platform, _, account = who.partition(":")
    user = user_id(platform, account)
    session = session_of(platform, "", account, persona or NO_PERSONA)
    if not persona:
        found = await memory.journal.look(lambda db: queries.last_session(db, session.circle))
        session = found or session
    return Turn(session, user, "", accounts=memory.identities.accounts(user))


class AgentTools:
    """What a program may do with a memory, for one person.

    The chat model's own tools, but for correcting: here the words come from the program, as
    behind ``/memory correct``, and not from a message that was heard.
    """

    def __init__(self, memory: MemoryService, turn: Turn) -> None:
        self.language = memory.settings.language
        self._commands = Commands(memory)
        self._tools, self._turn = Tools(self._commands), turn

    async def use(self, name: str, given: Mapping[str, object]) -> str:
        """Do what a program asks for, which is hostile text.

        Raises:
            GraphMemoryError: It cannot be done, or there is no such tool.
        """
        names = [tool.name for tool in TOOLS]
        if name not in names:
            raise NotFoundError("there is no such tool").told("no_tool", names=", ".join(names))
        if name == CORRECT.name:
            words = " ".join(str(given.get(each) or "") for each in CORRECT.arguments)
            return await self._commands.correct(self._turn, words)
        return await self._tools.use(self._turn, name, given)


def protocol(tools: AgentTools) -> Any:
    """The tools as a server of the ``mcp`` SDK.

    Raises:
        ImportError: ``mcp`` is not installed.
    """
    from mcp import types
    from mcp.server.lowlevel import Server

    server: Any = Server(NAME)

    @server.list_tools()  # type: ignore[untyped-decorator]
    async def offered() -> list[Any]:
        return [
            types.Tool(
                name=tool.name,
                description=tool.description(tools.language),
                inputSchema=tool.schema(tools.language),
            )
            for tool in TOOLS
        ]

    @server.call_tool()  # type: ignore[untyped-decorator]
    async def use(name: str, given: dict[str, Any] | None) -> list[Any]:
        try:
            told = await tools.use(name, given or {})
        except GraphMemoryError as error:  # told by its kind, nothing of it is repeated
            raise RuntimeError(explain(tools.language, error)) from None
        return [types.TextContent(type="text", text=told)]

    return server


async def answer(memory: MemoryService, scope: Any, receive: Any, send: Any) -> None:
    """Answer one HTTP request (ASGI) of a program that showed the key.

    Each is answered by itself, so that nothing has to be kept or closed.

    Raises:
        ImportError: ``mcp`` is not installed.
    """
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    # Which would log each request, as of a program that begins and ends.
    logging.getLogger("mcp.server").setLevel(logging.WARNING)
    tools = AgentTools(memory, await turn_of(memory, memory.settings.mcp_asker))
    manager = StreamableHTTPSessionManager(protocol(tools), json_response=True, stateless=True)
    async with manager.run():
        await manager.handle_request(scope, receive, send)
