"""Modules of the memory that the web UI uses, wherever both are imported.

AstrBot imports the plugin as a package of its own, ``data.plugins.<folder>``. Tests and tools
run in the checkout, where both are top-level packages, and from one of those Python has no
relative way to another. Only this module knows the difference.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph_memory import access as access
    from graph_memory import embedding as embedding
    from graph_memory import errors as errors
    from graph_memory import graph as graph
    from graph_memory import library as library
    from graph_memory import locales as locales
    from graph_memory import mcp_server as mcp_server
    from graph_memory import model as model
    from graph_memory import pinyin as pinyin
    from graph_memory import recall as recall
    from graph_memory import retention as retention
    from graph_memory import service as service
    from graph_memory import settings as settings
    from graph_memory import text as text
    from graph_memory import transfer as transfer
    from graph_memory.inspect import presentation as presentation
    from graph_memory.inspect import view_as as view_as
    from graph_memory.store import queries as queries
    from graph_memory.transfer import files as files

_INNER = {
    "files": "transfer.files",
    "presentation": "inspect.presentation",
    "queries": "store.queries",
    "view_as": "inspect.view_as",
}


def __getattr__(name: str) -> ModuleType:
    if name.startswith("__"):  # Python asks every module for its __path__
        raise AttributeError(name)
    root = __name__.removesuffix("webui.core")
    return import_module(f"{root}graph_memory.{_INNER.get(name, name)}")
