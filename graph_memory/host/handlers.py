"""Tools and filters for AstrBot's registries, and this package's name inside of it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

from astrbot.api import FunctionTool
from astrbot.api.event.filter import CustomFilter, PermissionType, permission_type
from astrbot.core.star.filter.command import CommandFilter
from astrbot.core.star.filter.command_group import CommandGroupFilter
from astrbot.core.star.filter.permission import PermissionTypeFilter
from astrbot.core.star.register.star_handler import get_handler_or_create
from astrbot.core.star.star_handler import EventType, star_handlers_registry

PLUGIN = __name__.removesuffix("graph_memory.host.handlers")
"""What AstrBot puts before the names of this plugin's modules, with its last dot."""

Run = Callable[[Any, str], Awaitable[str]]
"""Given the event and a text, what the model is told."""


class MemoryTool(FunctionTool):  # type: ignore[misc]
    """A tool of one text argument for the chat model.

    Args:
        argument: Its name and description.
        run: Given the event and the argument, what the model is told.
    """

    def __init__(
        self,
        name: str,
        description: str,
        argument: tuple[str, str],
        run: Run,
    ) -> None:
        key, about = argument
        properties = {key: {"type": "string", "description": about}}
        schema = {"type": "object", "properties": properties, "required": [key]}
        super().__init__(name=name, description=description, parameters=schema)
        self._argument = key
        self._run = run

    async def call(self, context: Any, **arguments: Any) -> str:
        """Run the tool; called by AstrBot's tool loop."""
        text = str(arguments.get(self._argument) or "").strip()
        return await self._run(context.context.event, text)


class Unclaimed(CustomFilter):  # type: ignore[misc]
    """Passes a command that no other plugin provides as well."""

    def filter(self, event: Any, cfg: Any) -> bool:
        text = " ".join(event.message_str.split())
        handlers = star_handlers_registry.get_handlers_by_event_type(
            EventType.AdapterMessageEvent, plugins_name=event.plugins_name
        )
        others = {
            name
            for handler in handlers
            if not handler.handler_module_path.startswith(PLUGIN)
            for rule in handler.event_filters
            if isinstance(rule, CommandFilter | CommandGroupFilter)
            for name in rule.get_complete_command_names()
        }
        return not any(text == name or text.startswith(f"{name} ") for name in others)


class WithWords(CustomFilter):  # type: ignore[misc]
    """Passes a command that is followed by something."""

    def filter(self, event: Any, cfg: Any) -> bool:
        return len(event.message_str.split()) > 1


class GroupAdmins(PermissionTypeFilter):  # type: ignore[misc]
    """The permission ``SHARED_GROUP_ADMIN`` of an AstrBot that does not have it yet."""

    def filter(self, event: Any, cfg: Any) -> bool:
        return bool(event.is_admin() or not event.get_group_id())


Handler = TypeVar("Handler", bound=Callable[..., Any])


def own_chat(handler: Handler) -> Handler:
    """A command for everybody in private, for admins in a group; as AstrBot's ``/new``."""
    shared = getattr(PermissionType, "SHARED_GROUP_ADMIN", None)
    if shared is not None:
        permission_type(shared)(handler)
    else:
        command = get_handler_or_create(handler, EventType.AdapterMessageEvent)
        command.event_filters.append(GroupAdmins(PermissionType.MEMBER))
    return handler


def memory_tools(recall: Run, remember: Run) -> list[MemoryTool]:
    """What the chat model may do by itself, on behalf of whoever speaks."""
    return [
        MemoryTool(
            "memory_recall",
            "Look something up in your long-term memory of this user or group: earlier"
            " conversations, people, preferences, plans, dates.",
            ("query", "What to look for, in the user's language."),
            recall,
        ),
        MemoryTool(
            "memory_remember",
            "Keep something in your long-term memory when the user asks you to remember it.",
            ("text", "What to remember, as one complete sentence in the user's language."),
            remember,
        ),
    ]


@contextlib.contextmanager
def own_name() -> Iterator[None]:
    """Let modules that are imported meanwhile find ``graph_memory`` by that name.

    AstrBot knows the package as ``data.plugins.<folder>.graph_memory`` and purges that on
    a reload; the web UI beside it calls it ``graph_memory``. Outside of this block there
    is nothing of that name that another plugin could run into.
    """

    def named(root: str) -> dict[str, Any]:
        modules = sys.modules.copy().items()  # threads import meanwhile, a local model's say
        return {n: m for n, m in modules if n == root or n.startswith(f"{root}.")}

    others = named("graph_memory")
    ours = {n.removeprefix(PLUGIN): m for n, m in named(f"{PLUGIN}graph_memory").items()}
    sys.modules.update(ours)
    try:
        yield
    finally:
        for name in named("graph_memory"):
            del sys.modules[name]
        sys.modules.update(others)
