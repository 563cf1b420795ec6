"""AstrBot, and nothing but AstrBot: the only room that knows its types.

``astrbot.py`` says who speaks where, ``providers.py`` adapts its models, ``handlers.py``
what goes into its registries, ``log.py`` where the log goes, ``file_transfer.py`` what an import
needs of it, ``hooks.py`` and ``control.py`` what its hooks do, ``page.py`` what its
dashboard shows; ``voice.py`` speaks first, ``runtime.py`` is the plugin's life.
"""

from . import hooks
from .adapter import Host
from .file_transfer import hand_over, surroundings
from .handlers import Mistyped, Never, Unclaimed, WithWords, own_chat
from .page import NAME
from .runtime import Runtime, Tune, Web
from .speech import speech

__all__ = [
    "NAME",
    "Host",
    "Mistyped",
    "Never",
    "Runtime",
    "Tune",
    "Unclaimed",
    "Web",
    "WithWords",
    "hand_over",
    "hooks",
    "own_chat",
    "speech",
    "surroundings",
]
