"""AstrBot, and nothing but AstrBot: the only room that knows its types."""

from ..commands.memory_commands import ADMINS, COMMANDS, TERSE, Command
from .adapter import Host
from .handlers import Mistyped, Never, PersonaNamed, Terse, Unclaimed, WithWords, own_chat
from .hooks import decorate, go_on, hear, remind, reply, settle
from .page import NAME
from .runtime import Hook, Runtime, Tune, Web
from .speech import speech

__all__ = [
    "ADMINS",
    "COMMANDS",
    "NAME",
    "TERSE",
    "Command",
    "Hook",
    "Host",
    "Mistyped",
    "Never",
    "PersonaNamed",
    "Runtime",
    "Terse",
    "Tune",
    "Unclaimed",
    "Web",
    "WithWords",
    "decorate",
    "go_on",
    "hear",
    "own_chat",
    "remind",
    "reply",
    "settle",
    "speech",
]
