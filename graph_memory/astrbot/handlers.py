"""Tools and filters for AstrBot's registries."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from typing import Any, ClassVar, TypeVar

from astrbot.api import FunctionTool
from astrbot.api.event.filter import CustomFilter, PermissionType, permission_type
from astrbot.core.star.filter.command import CommandFilter
from astrbot.core.star.filter.command_group import CommandGroupFilter
from astrbot.core.star.filter.permission import PermissionTypeFilter
from astrbot.core.star.register.star_handler import get_handler_or_create
from astrbot.core.star.star_handler import EventType, star_handlers_registry

from ..commands.tools import Tool, offered
from ..commands.usage import number_of, numbered
from ..settings import Settings
from ..text import simplified
from .adapter import another

PLUGIN = __name__.removesuffix("graph_memory.astrbot.handlers")
"""What AstrBot puts before the names of this plugin's modules, with its last dot."""

_SIGNS = "：:，,。、！!～~ "
"""What people put behind a command that is no part of what it is given."""
_COPIED = re.compile(r"(?<!\S)[<＜]([^<>＜＞]+)[>＞](?!\S)")
"""What stands in the brackets of the usage, copied with it: <编号> <正确的说法>."""

Use = Callable[[Any, str, Mapping[str, Any]], Awaitable[str]]
"""Given the event, the name of a tool and what the model gives it: what it is told."""


class MemoryTool(FunctionTool):  # type: ignore[misc]
    """A tool for the chat model.

    Args:
        language: Of what the model reads about it.
        use: Runs it.
    """

    def __init__(self, tool: Tool, language: str, use: Use) -> None:
        about, schema = tool.description(language), tool.schema(language)
        super().__init__(name=tool.name, description=about, parameters=schema)
        self._use = use

    async def call(self, context: Any, **arguments: Any) -> str:
        """Run the tool; called by AstrBot's tool loop."""
        known = self.parameters["properties"]
        given = {key: value for key, value in arguments.items() if key in known}
        return await self._use(context.context.event, self.name, given)


class PersonaNamed(CustomFilter):  # type: ignore[misc]
    """Passes a command about personas that cannot be talk.

    That is one written with a prefix, without words, or with a persona's name.

    Attributes:
        known: Names of the personas.
    """

    known: ClassVar[Callable[[], Collection[str]]] = tuple

    def filter(self, event: Any, cfg: Any) -> bool:
        _, _, named = " ".join(event.message_str.split()).partition(" ")
        return not named or named in PersonaNamed.known() or bool(_prefix(event, cfg))


class Terse(CustomFilter):  # type: ignore[misc]
    """Passes a command with a prefix, or with nothing or a number behind: no talk."""

    def filter(self, event: Any, cfg: Any) -> bool:
        behind = [numbered(each)[0] for each in event.message_str.split(maxsplit=2)[2:]]
        is_talk = any(not word.isdecimal() and number_of(word) is None for word in behind)
        return bool(_prefix(event, cfg)) or not is_talk


class Unclaimed(CustomFilter):  # type: ignore[misc]
    """Passes a command that no other plugin provides as well."""

    def filter(self, event: Any, cfg: Any) -> bool:
        return not is_command(event, event.message_str, but=PLUGIN)


def is_off(event: Any) -> bool:
    """Whether the owner switched this plugin off for a chat.

    AstrBot then leaves out what hears the chat's messages, but none of the other hooks.
    """
    some = event.get_extra("activated_handlers")
    return some is not None and not any(h.handler_module_path.startswith(PLUGIN) for h in some)


def is_command(event: Any, text: str, *, but: str | None = None) -> bool:
    """Whether a text begins like a command, whoever it is for.

    Args:
        but: Beginning of the modules whose commands do not count.
    """
    text = " ".join(text.split())
    names = (name for module, name in _commands(event) if not (but and module.startswith(but)))
    return any(text == name or text.startswith(f"{name} ") for name in names)


def _commands(
    event: Any, kind: Any = CommandFilter | CommandGroupFilter, *, ours: bool = False
) -> Iterator[tuple[str, str]]:
    """Module and name of all plugins' commands, or groups of them, or of this one's.

    Args:
        kind: Of filter.
    """
    handlers = star_handlers_registry.get_handlers_by_event_type(
        EventType.AdapterMessageEvent, plugins_name=event.plugins_name
    )
    for handler in handlers:
        module = handler.handler_module_path
        for rule in handler.event_filters if not ours or module.startswith(PLUGIN) else ():
            if isinstance(rule, kind):
                yield from ((module, name) for name in rule.get_complete_command_names())


class Never(CustomFilter):  # type: ignore[misc]
    """Passes nothing.

    AstrBot lists a group of commands by itself in one language only; our own help is for
    :class:`Mistyped`.
    """

    def filter(self, event: Any, cfg: Any) -> bool:
        return False


class Mistyped(CustomFilter):  # type: ignore[misc]
    """Passes what is written as a command of this plugin and is none.

    It is noted as ``graph_memory_mistyped``.

    Where no prefix is needed, words that begin like one may as well be meant for the model;
    they pass only with a prefix, or if the group is named and nothing else is said.
    """

    def filter(self, event: Any, cfg: Any) -> bool:
        said = str(event.message_str)
        written = f"{said}\n{_plain(said)}".casefold()
        commands = {name for _, name in _commands(event, CommandFilter, ours=True)}
        if not any(name.partition(" ")[0].casefold() in written for name in commands):
            return False  # as of nearly every message, which waits for this
        groups = {name.partition(" ")[0] for name in commands if " " in name}
        event.message_str = _straightened(event, cfg, groups, commands)
        group, _, given = " ".join(event.message_str.split()).partition(" ")
        names = {name.partition(" ")[2] for name in commands if name.partition(" ")[0] == group}
        is_known = any(given == name or given.startswith(f"{name} ") for name in names)
        if not event.is_at_or_wake_command or group not in groups or is_known:
            return False
        if given and not _prefix(event, cfg):
            return False
        event.set_extra("graph_memory_mistyped", (group, given, names))
        return True


def _prefix(event: Any, cfg: Any) -> str:
    """The prefix that a message was written with, in full width as well."""
    raw = unicodedata.normalize("NFKC", event.message_obj.message_str.strip())
    return next((str(each) for each in cfg["wake_prefix"] if each and raw.startswith(each)), "")


def _plain(text: str) -> str:
    """A text in half width, in simplified characters."""
    return simplified(unicodedata.normalize("NFKC", text))


def _straightened(event: Any, cfg: Any, groups: set[str], commands: set[str]) -> str:
    """A command in capitals, full width, traditional or glued, as AstrBot reads it.

    What is glued or of one word may be talk (记忆我的…), so that it takes a prefix.
    """
    said, prefix = str(event.message_str), _prefix(event, cfg)
    whole = " ".join(_plain(said).split())
    text = whole.removeprefix(prefix).strip() if prefix else whole
    for name in sorted(commands, key=len, reverse=True):
        group, _, command = name.partition(" ")
        if not (prefix or command):
            continue
        is_glued = prefix and not command.isascii()
        gap = r"[\s:,]*" if is_glued else r"\s+" if command else ""
        end = "" if is_glued else r"(?![^\s:,#\d])" if prefix and command else r"(?!\S)"
        written = re.match(rf"{group}{gap}{command}{end}", text, re.IGNORECASE)
        if written:  # what stands behind stays as it is, in full width as well
            head = whole.removesuffix(text) + written[0]
            behind = re.sub(rf"(?:\s*\S){{{len(''.join(head.split()))}}}", "", said, count=1)
            given = _COPIED.sub(r"\1", behind.strip().lstrip(_SIGNS))
            return f"{name} {given}".strip()
    group, _, given = text.partition(" ")
    is_named = group.casefold() in groups and (prefix or not given)
    return f"{group.casefold()} {given}".strip() if is_named else said


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
    """Permission of AstrBot's ``/new``: everybody in private, admins in a group."""
    shared = getattr(PermissionType, "SHARED_GROUP_ADMIN", None)
    if shared is not None:
        permission_type(shared)(handler)
    else:
        command = get_handler_or_create(handler, EventType.AdapterMessageEvent)
        command.event_filters.append(GroupAdmins(PermissionType.MEMBER))
    return handler


def memory_tools(settings: Settings, use: Use) -> list[MemoryTool]:
    """What the chat model may do by itself, on behalf of whoever speaks."""
    tongue, (first, *more) = settings.language, offered(settings)
    made = MemoryTool(first, tongue, use)
    shapes = ((each.name, each.description(tongue), each.schema(tongue)) for each in more)
    return [made, *(another(made, *shape) for shape in shapes)]
