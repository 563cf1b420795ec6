"""Adapter to AstrBot; nothing else knows its types."""

from ..commands.memory_commands import ADMINS as ADMINS
from ..commands.memory_commands import COMMANDS as COMMANDS
from ..commands.memory_commands import TERSE as TERSE
from ..commands.memory_commands import Command as Command
from .adapter import Host as Host
from .handlers import Mistyped as Mistyped
from .handlers import Never as Never
from .handlers import PersonaNamed as PersonaNamed
from .handlers import Terse as Terse
from .handlers import Unclaimed as Unclaimed
from .handlers import WithWords as WithWords
from .handlers import own_chat as own_chat
from .hooks import about as about
from .hooks import decorate as decorate
from .hooks import go_on as go_on
from .hooks import hear as hear
from .hooks import remind as remind
from .hooks import reply as reply
from .hooks import settle as settle
from .page import NAME as NAME
from .runtime import APART as APART
from .runtime import Hook as Hook
from .runtime import Runtime as Runtime
from .runtime import Tune as Tune
from .speech import speech as speech
