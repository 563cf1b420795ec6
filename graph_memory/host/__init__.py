"""AstrBot, and nothing but AstrBot: the only room that knows its types.

``astrbot.py`` says who speaks where, ``providers.py`` adapts its models, ``handlers.py``
what goes into its registries, ``log.py`` where the log goes; ``runtime.py`` is the
plugin's life.
"""

from .astrbot import Host
from .handlers import Unclaimed, WithWords, own_chat, own_name
from .runtime import Runtime, Web

__all__ = ["Host", "Runtime", "Unclaimed", "Web", "WithWords", "own_chat", "own_name"]
